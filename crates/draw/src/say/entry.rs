//! Items that fixes add to lists, as YAML.

use diagnostic::{Entry, Item, Place, Shape};
use source::{Sources, Span};

use crate::clean::yaml_text;

/// Columns that an item is indented by below its key.
const INDENT_COLUMNS: usize = 2;

/// The file, and the line that the text goes behind, or into.
pub(crate) fn line<'a>(entry: &Entry, sources: &'a (impl Sources + ?Sized)) -> Option<(&'a str, u32)> {
    let at = entry.place?.at();
    // Its last line: an item may have several.
    let (path, position) = sources.locate(Span::new(at.file, at.end, at.end))?;
    Some((path, position.line))
}

/// The item in one line, as it may stand in the list: `- name: a`, `- {name: a, namespace: b}`; with its key where there is no list.
pub(super) fn inline(entry: &Entry) -> String {
    match entry.place {
        Some(Place::After { shape, .. }) => format!("- {}", in_line(&entry.item, shape)),
        Some(Place::Inside { .. }) | None => in_line(&entry.item, Shape::Flow),
        Some(Place::Key { .. }) => format!("{}: [{}]", entry.list.key(), in_line(&entry.item, Shape::Flow)),
    }
}

fn in_line(item: &Item, shape: Shape) -> String {
    match item {
        Item::Text(text) => text.to_string(),
        Item::Fields(fields) if shape == Shape::Block && fields.len() == 1 => field(&fields[0]),
        Item::Fields(fields) => format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", ")),
    }
}

fn field((key, value): &(&'static str, ecow::EcoString)) -> String {
    // What is ready is a truth value and no name.
    if *key == "ready" { format!("{key}: {value}") } else { format!("{key}: {}", yaml_text(value)) }
}

/// The lines to put in, indented and written as those beside them, without the last line end.
pub(crate) fn text(entry: &Entry) -> String {
    match entry.place {
        Some(Place::After { column, shape, .. }) => item(entry, column as usize, shape),
        Some(Place::Inside { .. }) | None => in_line(&entry.item, Shape::Flow),
        Some(Place::Key { column, .. }) => {
            let column = column as usize;
            let list = format!("{:column$}{}:", "", entry.list.key());
            format!("{list}\n{}", item(entry, column + INDENT_COLUMNS, Shape::Block))
        }
    }
}

fn item(entry: &Entry, column: usize, shape: Shape) -> String {
    let fields = match (&entry.item, shape) {
        (Item::Fields(fields), Shape::Block) => fields,
        (item, _) => return format!("{:column$}- {}", "", in_line(item, shape)),
    };
    let line = |(at, one): (usize, &(&'static str, ecow::EcoString))| {
        format!("{:column$}{} {}", "", if at == 0 { "-" } else { " " }, field(one))
    };
    fields.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}
