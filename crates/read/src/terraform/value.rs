//! What an expression of Terraform is worth, as far as files tell.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Number, Value as Json};
use yaml::{EcoString, Node, ScalarKind};

/// Values in values. What is nested deeper is taken for unknown.
const DEPTH_MAX: usize = 48;
/// Values in one value, at any depth: what is shared counts each time, for that is what walking over it costs.
const SIZE_MAX: usize = 64 * 1024;
/// Of one text. What is longer is taken for unknown.
const TEXT_BYTES_MAX: usize = 256 * 1024;
/// Of one list or map; Terraform's own `range` stops at 1,024.
pub(crate) const ITEMS_MAX: usize = 8192;

/// A value. Lists, sets and tuples are one kind, maps and objects another.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Value {
    /// A provider, a person or another run tells it; or it is not understood here.
    #[default]
    Unknown,
    Null,
    Bool(bool),
    Number(f64),
    Text(EcoString),
    List(Arc<List>),
    Map(Arc<Map>),
    /// A text that holds these documents, of which parts may be unknown: what `yamlencode` gives, or a machine configuration.
    Encoded(Arc<List>),
}

#[derive(Debug, PartialEq)]
pub(crate) struct List {
    pub(crate) items: Vec<Value>,
    extent: Extent,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Map {
    pub(crate) entries: BTreeMap<EcoString, Value>,
    /// It has more entries, which only a provider knows: a resource.
    pub(crate) is_open: bool,
    extent: Extent,
}

/// How much there is of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Extent {
    depth: usize,
    size: usize,
}

impl Value {
    pub(crate) fn text(text: impl AsRef<str>) -> Self {
        let text = text.as_ref();
        if text.len() > TEXT_BYTES_MAX { Self::Unknown } else { Self::Text(text.into()) }
    }

    pub(crate) fn number(number: f64) -> Self {
        if number.is_finite() { Self::Number(number) } else { Self::Unknown }
    }

    pub(crate) fn list(items: Vec<Self>) -> Self {
        match extent_of(&items) {
            Some(extent) => Self::List(Arc::new(List { items, extent })),
            None => Self::Unknown,
        }
    }

    pub(crate) fn encoded(items: Vec<Self>) -> Self {
        match extent_of(&items) {
            Some(extent) => Self::Encoded(Arc::new(List { items, extent })),
            None => Self::Unknown,
        }
    }

    pub(crate) fn map(entries: BTreeMap<EcoString, Self>) -> Self {
        Self::map_of(entries, false)
    }

    /// What is known of something that a provider makes.
    pub(crate) fn open_map(entries: BTreeMap<EcoString, Self>) -> Self {
        Self::map_of(entries, true)
    }

    fn map_of(entries: BTreeMap<EcoString, Self>, is_open: bool) -> Self {
        match extent_of(entries.values()) {
            Some(extent) => Self::Map(Arc::new(Map { entries, is_open, extent })),
            None => Self::Unknown,
        }
    }

    fn extent(&self) -> Extent {
        match self {
            Self::List(list) | Self::Encoded(list) => list.extent,
            Self::Map(map) => map.extent,
            Self::Text(text) => Extent { depth: 0, size: 1 + text.len() / 64 },
            _ => Extent { depth: 0, size: 1 },
        }
    }

    /// What it costs to walk over it.
    pub(crate) fn size(&self) -> usize {
        self.extent().size
    }

    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// Whether nothing of it is unknown.
    pub(crate) fn is_whole(&self) -> bool {
        match self {
            Self::Unknown => false,
            Self::List(list) | Self::Encoded(list) => list.items.iter().all(Self::is_whole),
            Self::Map(map) => !map.is_open && map.entries.values().all(Self::is_whole),
            _ => true,
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(list) => Some(&list.items),
            _ => None,
        }
    }

    pub(crate) fn as_map(&self) -> Option<&BTreeMap<EcoString, Self>> {
        match self {
            Self::Map(map) => Some(&map.entries),
            _ => None,
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.as_map()?.get(key)
    }

    pub(crate) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// A number, a truth value or a text, as Terraform turns it into text.
    pub(crate) fn to_text(&self) -> Option<EcoString> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Bool(value) => Some(if *value { "true".into() } else { "false".into() }),
            Self::Number(number) => Some(written(*number).into()),
            Self::Encoded(list) => match list.items.as_slice() {
                [one] if one.is_whole() => Some(one.to_json().to_string().into()),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn to_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        }
    }

    pub(crate) fn to_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn to_json(&self) -> Json {
        match self {
            Self::Unknown | Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(*value),
            Self::Number(number) => {
                whole(*number).map(Number::from).or_else(|| Number::from_f64(*number)).map_or(Json::Null, Json::Number)
            }
            Self::Text(text) => Json::String(text.to_string()),
            Self::List(list) => Json::Array(list.items.iter().map(Self::to_json).collect()),
            Self::Map(map) => {
                Json::Object(map.entries.iter().map(|(key, value)| (key.to_string(), value.to_json())).collect())
            }
            Self::Encoded(_) => self.to_text().map_or(Json::Null, |text| Json::String(text.to_string())),
        }
    }

    pub(crate) fn of_json(json: &Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => number.as_f64().map_or(Self::Unknown, Self::number),
            Json::String(text) => Self::text(text),
            Json::Array(items) => Self::list(items.iter().map(Self::of_json).collect()),
            Json::Object(entries) => {
                Self::map(entries.iter().map(|(key, value)| (key.as_str().into(), Self::of_json(value))).collect())
            }
        }
    }

    pub(crate) fn of_node(node: &Node) -> Self {
        match &node.value {
            yaml::Value::Map(map) => {
                Self::map(map.iter().map(|entry| (entry.key.clone(), Self::of_node(&entry.value))).collect())
            }
            yaml::Value::Seq(items) => Self::list(items.iter().map(Self::of_node).collect()),
            yaml::Value::Scalar(scalar) => match scalar.kind {
                ScalarKind::Null => Self::Null,
                ScalarKind::Bool => node.as_bool().map_or_else(|| Self::text(&scalar.text), Self::Bool),
                ScalarKind::Int | ScalarKind::Float => {
                    scalar.text.parse().map_or_else(|_| Self::text(&scalar.text), Self::number)
                }
                ScalarKind::Str => Self::text(&scalar.text),
            },
        }
    }
}

/// The extent of a value that holds these; nothing if it would be too much.
fn extent_of<'v>(values: impl IntoIterator<Item = &'v Value>) -> Option<Extent> {
    let (mut around, mut count) = (Extent { depth: 1, size: 1 }, 0);
    for value in values {
        let extent = value.extent();
        around.depth = around.depth.max(extent.depth + 1);
        around.size += extent.size;
        count += 1;
    }
    (around.depth <= DEPTH_MAX && around.size <= SIZE_MAX && count <= ITEMS_MAX).then_some(around)
}

/// A number without fraction that is exact as a float.
#[expect(clippy::cast_possible_truncation, reason = "within the range in which floats are exact")]
pub(crate) fn whole(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

/// As Terraform writes a number.
fn written(number: f64) -> String {
    whole(number).map_or_else(|| number.to_string(), |whole| whole.to_string())
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn numbers_are_written_without_a_fraction_they_do_not_have() {
        assert_eq!(Value::Number(3.0).to_text().as_deref(), Some("3"));
        assert_eq!(Value::Number(0.5).to_text().as_deref(), Some("0.5"));
    }

    #[test]
    fn what_is_nested_too_deep_is_unknown() {
        let nested = (0..1000).fold(Value::Null, |value, _| Value::list(vec![value]));
        assert!(nested.extent().depth <= super::DEPTH_MAX);
        let shared = (0..40).fold(Value::Null, |value, _| Value::list(vec![value.clone(), value]));
        assert!(shared.size() <= super::SIZE_MAX);
        assert_eq!(Value::list(vec![Value::Null; super::ITEMS_MAX + 1]), Value::Unknown);
    }

    #[test]
    fn an_encoded_text_is_known_only_where_all_of_it_is() {
        let whole = Value::encoded(vec![Value::list(vec![Value::Number(1.0), Value::text("a")])]);
        assert_eq!(whole.to_text().as_deref(), Some("[1,\"a\"]"));
        assert_eq!(Value::encoded(vec![Value::list(vec![Value::Unknown])]).to_text(), None);
    }
}
