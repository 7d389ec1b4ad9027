use std::collections::{BTreeMap, HashMap};

use ecow::{EcoString, EcoVec};
use source::Span;

/// A value and the place it was read from. Two nodes are equal when their values are, wherever they came from.
#[derive(Clone, Debug)]
pub struct Node {
    pub value: Value,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Scalar(Scalar),
    Map(Map),
    Seq(EcoVec<Node>),
}

/// Text, and what a YAML 1.2 reader takes it for. A quoted `"1"` is a string, a plain `1` an integer.
#[derive(Clone, Debug)]
pub struct Scalar {
    pub text: EcoString,
    pub kind: ScalarKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarKind {
    Null,
    Bool,
    Int,
    Float,
    Str,
}

/// Fewer keys than these are found faster one after the other.
const LOOKED_UP_MAX: usize = 16;

/// Entries in the order of the file. Look-up is linear: Kubernetes mappings are small.
#[derive(Clone, Debug, Default)]
pub struct Map {
    entries: EcoVec<Entry>,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub key: EcoString,
    pub key_span: Span,
    pub value: Node,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && (self.text == other.text || self.kind == ScalarKind::Null)
    }
}

/// Equal as mappings: the same keys with the same values, in any order.
impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return false;
        }
        // Mostly the two come from one text: the same key is in the same place.
        let mut others: Option<BTreeMap<&str, &Node>> = None;
        self.iter().zip(other).all(|(entry, beside)| {
            if entry.key == beside.key {
                return entry.value == beside.value;
            }
            let others = others.get_or_insert_with(|| other.iter().map(|it| (it.key.as_str(), &it.value)).collect());
            others.get(entry.key.as_str()) == Some(&&entry.value)
        })
    }
}

impl Scalar {
    pub fn string(text: impl Into<EcoString>) -> Self {
        Self { text: text.into(), kind: ScalarKind::Str }
    }

    /// What a plain (unquoted, untagged) scalar of this text is.
    pub fn plain(text: impl Into<EcoString>) -> Self {
        let text = text.into();
        let kind = ScalarKind::of_plain(&text);
        Self { text, kind }
    }
}

impl ScalarKind {
    /// The core schema of YAML 1.2, with the octal `0o17` and hexadecimal integers that Go's reader takes too.
    pub fn of_plain(text: &str) -> Self {
        // Most texts can't be anything else by their first letter.
        if !matches!(
            text.bytes().next(),
            None | Some(b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'0'..=b'9' | b'+' | b'-' | b'.')
        ) {
            return Self::Str;
        }
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Self::Null,
            "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Self::Bool,
            _ if is_int(text) => Self::Int,
            _ if is_float(text) => Self::Float,
            _ => Self::Str,
        }
    }
}

fn is_int(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if let Some(hex) = digits.strip_prefix("0x") {
        return !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    if let Some(octal) = digits.strip_prefix("0o") {
        return !octal.is_empty() && octal.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    }
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_float(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(digits, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let starts_well = digits.strip_prefix('.').unwrap_or(digits).starts_with(|first: char| first.is_ascii_digit());
    starts_well
        && digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
        && digits.parse::<f64>().is_ok()
}

impl Node {
    pub const fn new(value: Value, span: Span) -> Self {
        Self { value, span }
    }

    pub fn string(text: impl Into<EcoString>, span: Span) -> Self {
        Self::new(Value::Scalar(Scalar::string(text)), span)
    }

    /// Whether both are the same value, read from the same places.
    pub fn is_same(&self, other: &Self) -> bool {
        let same = match (&self.value, &other.value) {
            (Value::Scalar(one), Value::Scalar(other)) => one.kind == other.kind && one.text == other.text,
            (Value::Map(one), Value::Map(other)) => one.is_same(other),
            (Value::Seq(one), Value::Seq(other)) => {
                let beside = || one.iter().zip(other).all(|(one, other)| one.is_same(other));
                one.len() == other.len() && (one.as_ptr() == other.as_ptr() || beside())
            }
            _ => false,
        };
        self.span == other.span && same
    }

    /// A scalar of the kind that its text has when it is written without quotes.
    pub fn plain(text: impl Into<EcoString>, span: Span) -> Self {
        Self::new(Value::Scalar(Scalar::plain(text)), span)
    }

    pub fn null(span: Span) -> Self {
        Self::plain("", span)
    }

    pub fn map(map: Map, span: Span) -> Self {
        Self::new(Value::Map(map), span)
    }

    pub fn seq(items: impl Into<EcoVec<Node>>, span: Span) -> Self {
        Self::new(Value::Seq(items.into()), span)
    }

    pub fn as_map(&self) -> Option<&Map> {
        match &self.value {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    pub fn as_map_mut(&mut self) -> Option<&mut Map> {
        match &mut self.value {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    pub fn as_seq(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Seq(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_seq_mut(&mut self) -> Option<&mut EcoVec<Node>> {
        match &mut self.value {
            Value::Seq(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_scalar(&self) -> Option<&Scalar> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The text of any scalar but null: `80`, `"80"` and `true` all have text.
    pub fn text(&self) -> Option<&str> {
        self.as_scalar().filter(|scalar| scalar.kind != ScalarKind::Null).map(|scalar| scalar.text.as_str())
    }

    /// The text of a string scalar only.
    pub fn as_str(&self) -> Option<&str> {
        self.as_scalar().filter(|scalar| scalar.kind == ScalarKind::Str).map(|scalar| scalar.text.as_str())
    }

    pub fn as_bool(&self) -> Option<bool> {
        let scalar = self.as_scalar().filter(|scalar| scalar.kind == ScalarKind::Bool)?;
        Some(scalar.text.as_str().eq_ignore_ascii_case("true"))
    }

    pub fn as_int(&self) -> Option<i64> {
        let scalar = self.as_scalar().filter(|scalar| scalar.kind == ScalarKind::Int)?;
        scalar.text.parse().ok()
    }

    pub fn is_null(&self) -> bool {
        self.as_scalar().is_some_and(|scalar| scalar.kind == ScalarKind::Null)
    }

    /// The value under `key`, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_map()?.get(key)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.as_map_mut()?.get_mut(key)
    }

    /// The value at the end of a path of mapping keys.
    pub fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The text at the end of a path of mapping keys.
    pub fn text_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path)?.text()
    }

    /// The items at `key`; none when it is absent or no sequence.
    pub fn items_at(&self, key: &str) -> &[Node] {
        self.get(key).and_then(Node::as_seq).unwrap_or_default()
    }

    /// How deep containers nest in it: one for a scalar.
    pub fn depth(&self) -> usize {
        1 + match &self.value {
            Value::Scalar(_) => 0,
            Value::Map(map) => map.iter().map(|entry| entry.value.depth()).max().unwrap_or_default(),
            Value::Seq(items) => items.iter().map(Node::depth).max().unwrap_or_default(),
        }
    }

    /// The entries, if this is a mapping; none otherwise.
    pub fn entries(&self) -> &[Entry] {
        self.as_map().map(Map::as_slice).unwrap_or_default()
    }
}

impl Map {
    fn is_same(&self, other: &Self) -> bool {
        let (one, other) = (&self.entries, &other.entries);
        let same = |one: &Entry, other: &Entry| {
            one.key_span == other.key_span && one.key == other.key && one.value.is_same(&other.value)
        };
        let beside = || one.iter().zip(other).all(|(one, other)| same(one, other));
        one.len() == other.len() && (one.as_ptr() == other.as_ptr() || beside())
    }

    pub fn new() -> Self {
        Self::default()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn as_slice(&self) -> &[Entry] {
        &self.entries
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.entries.iter()
    }

    /// All entries, to be changed in place.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Entry> {
        self.entries.make_mut().iter_mut()
    }

    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        Some(&mut self.entries.make_mut()[at].value)
    }

    pub fn contains_key(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    /// Puts `value` under `key`: in place of what was there, else as the last entry.
    pub fn insert(&mut self, key: impl Into<EcoString>, key_span: Span, value: Node) {
        let key = key.into();
        match self.get_mut(&key) {
            Some(slot) => *slot = value,
            None => self.entries.push(Entry { key, key_span, value }),
        }
    }

    /// As [`Map::insert`] for each of many, in time that grows with their number and not with its square.
    pub fn insert_all(&mut self, entries: impl ExactSizeIterator<Item = Entry>) {
        if entries.len() <= LOOKED_UP_MAX || self.len() + entries.len() <= 2 * LOOKED_UP_MAX {
            entries.for_each(|entry| self.insert(entry.key, entry.key_span, entry.value));
            return;
        }
        let mut places: HashMap<EcoString, usize> =
            self.entries.iter().enumerate().map(|(at, entry)| (entry.key.clone(), at)).collect();
        for entry in entries {
            if let Some(at) = places.get(&entry.key) {
                self.entries.make_mut()[*at].value = entry.value;
            } else {
                places.insert(entry.key.clone(), self.entries.len());
                self.entries.push(entry);
            }
        }
    }

    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(at))
    }

    pub fn retain(&mut self, keep: impl FnMut(&mut Entry) -> bool) {
        self.entries.retain(keep);
    }

    /// The value under `key`, made an empty mapping if it is absent or no mapping.
    pub fn map_mut(&mut self, key: &str, span: Span) -> &mut Map {
        let at = if let Some(at) = self.entries.iter().position(|entry| entry.key == key) {
            at
        } else {
            self.entries.push(Entry { key: key.into(), key_span: span, value: Node::map(Map::new(), span) });
            self.entries.len() - 1
        };
        let slot = &mut self.entries.make_mut()[at].value;
        if slot.as_map().is_none() {
            slot.value = Value::Map(Map::new());
        }
        match &mut slot.value {
            Value::Map(map) => map,
            _ => unreachable!("made a mapping just above"),
        }
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = &'a Entry;
    type IntoIter = std::slice::Iter<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Map {
    type Item = &'a mut Entry;
    type IntoIter = std::slice::IterMut<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl FromIterator<Entry> for Map {
    fn from_iter<T: IntoIterator<Item = Entry>>(entries: T) -> Self {
        Self { entries: entries.into_iter().collect() }
    }
}
