//! One more item of a list, written as its neighbours are.

use diagnostic::Unedited;
use source::Span;
use yaml::Node;

use super::value::{Indents, Quotes, Value, text as written_text};
use super::{Edit, Text, lines};

/// A list that is there, and the key that it stands below.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Items<'n> {
    pub(crate) key: Option<Span>,
    pub(crate) list: &'n Node,
}

/// Fields of a new item: each may be a name, which is quoted as its neighbours are.
pub(crate) type Fields = Vec<(&'static str, Field)>;

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Name(String),
    Written(Value),
}

/// A new item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NewItem {
    Text(String),
    Fields(Fields),
}

impl NewItem {
    /// As a value, with names in these quotes and fields in the order of a neighbour.
    pub(crate) fn value(&self, like: &Manner) -> Value {
        match self {
            Self::Text(text) => written_text(text, like.quotes),
            Self::Fields(fields) => {
                let field = |field: &Field| match field {
                    Field::Name(name) => written_text(name, like.quotes),
                    Field::Written(value) => value.clone(),
                };
                let mut all: Vec<(String, Value)> =
                    fields.iter().map(|(key, value)| ((*key).to_owned(), field(value))).collect();
                let place = |key: &str| like.order.iter().position(|known| known == key).unwrap_or(usize::MAX);
                all.sort_by_key(|(key, _)| place(key));
                Value::Map(all)
            }
        }
    }

    /// What items are sorted by.
    fn name(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Fields(fields) => fields.iter().find_map(|(key, field)| match field {
                Field::Name(name) if *key == "name" => Some(name.as_str()),
                _ => None,
            }),
        }
    }
}

/// How an item is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manner {
    pub(crate) quotes: Quotes,
    /// The fields of a neighbour, in their order.
    pub(crate) order: Vec<String>,
    is_flow: bool,
    padded: bool,
}

impl Manner {
    /// Of a list that has no items yet.
    pub(crate) fn quoted(quotes: Quotes) -> Self {
        Self { quotes, ..Self::default() }
    }
}

impl Text {
    /// How the items of a list are written, by its last one.
    pub(crate) fn manner(&self, list: &Node) -> Manner {
        let Some(item) = list.as_seq().and_then(<[Node]>::last) else { return Manner::default() };
        let slice = |span: Span| self.text().get(span.start as usize..span.end as usize).unwrap_or_default();
        let name = item.get("name").unwrap_or(item);
        let whole = slice(item.span);
        Manner {
            quotes: Quotes::of(slice(name.span)),
            order: item.entries().iter().map(|entry| entry.key.to_string()).collect(),
            is_flow: whole.starts_with('{'),
            padded: whole.starts_with("{ "),
        }
    }

    /// The edit that gives a list one more item.
    pub(crate) fn new_item(&self, items: Items<'_>, item: &NewItem, indents: Indents) -> Result<Edit, Unedited> {
        let Items { key, list } = items;
        if key.is_some_and(|key| self.is_anchored(key, list)) {
            return Err(Unedited::Anchor);
        }
        let manner = self.manner(list);
        let (text, all) = (self.text(), list.as_seq().unwrap_or_default());
        if text.as_bytes().get(list.span.start as usize) == Some(&b'[') {
            return self.inside_brackets(list, all, &item.value(&manner), &manner);
        }
        let (first, last) = (all.first().ok_or(Unedited::Unexpected)?, all.last().ok_or(Unedited::Unexpected)?);
        let column = self.dash(first)?;
        let value = item.value(&manner);
        let rendered =
            if manner.is_flow { vec![format!("- {}", value.flow(manner.padded))] } else { value.item(indents) };
        let rendered: Vec<String> = rendered.into_iter().map(|line| format!("{:column$}{line}", "")).collect();
        let at = match sorted_place(all, item.name()) {
            Some(next) => lines::after_content_before(text, next.span.start as usize),
            None => self.end_of_value(Span::new(last.span.file, last.span.start, last.span.start), last),
        };
        Ok(self.insert_lines(at, &rendered))
    }

    /// The column of the dash before an item.
    pub(super) fn dash(&self, item: &Node) -> Result<usize, Unedited> {
        let start = item.span.start as usize;
        let line = lines::start(self.text(), start);
        let before = &self.text()[line..start];
        let column = before.len() - before.trim_start_matches(' ').len();
        let is_dash = before[column..].trim_end() == "-";
        if is_dash { Ok(column) } else { Err(Unedited::Unexpected) }
    }

    fn inside_brackets(&self, list: &Node, all: &[Node], value: &Value, manner: &Manner) -> Result<Edit, Unedited> {
        let whole = self.text().get(list.span.start as usize..list.span.end as usize).unwrap_or_default();
        if !whole.ends_with(']') {
            return Err(Unedited::Unexpected);
        }
        let written = value.flow(manner.padded);
        Ok(match all.last() {
            None => Edit::insert(list.span.start as usize + 1, written),
            Some(item) => Edit::insert(item.span.end as usize, format!(", {written}")),
        })
    }
}

/// The item before which a new one goes, where the items of a list are sorted by their names.
fn sorted_place<'n>(all: &'n [Node], new: Option<&str>) -> Option<&'n Node> {
    /// Two may be sorted by chance.
    const SORTED_MIN: usize = 3;
    let name = |item: &Node| item.get("name").unwrap_or(item).text().map(str::to_owned);
    let names: Option<Vec<String>> = all.iter().map(name).collect();
    let (names, new) = (names?, new?);
    if names.len() < SORTED_MIN || !names.is_sorted() {
        return None;
    }
    all.get(names.partition_point(|name| name.as_str() <= new))
}
