//! YAML that is to be written.

use yaml::ScalarKind;

/// A value, and how it is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// As it stands in the file, quotes included.
    Scalar(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

/// The quotes that texts are written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Quotes {
    /// Only where it is needed.
    #[default]
    None,
    Single,
    Double,
}

impl Quotes {
    /// Those of a scalar as it stands in a file.
    pub(crate) fn of(written: &str) -> Self {
        match written.bytes().next() {
            Some(b'\'') => Self::Single,
            Some(b'"') => Self::Double,
            _ => Self::None,
        }
    }
}

/// A text as YAML takes it for one.
pub(crate) fn text(text: &str, quotes: Quotes) -> Value {
    let is_simple = text.chars().all(|c| c.is_ascii_graphic() && !"\"\\'".contains(c));
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '$' || c == '.' || c == '/');
    let is_plain = starts_well
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./$".contains(c))
        && ScalarKind::of_plain(text) == ScalarKind::Str
        // What YAML 1.1 takes for something else.
        && !["yes", "no", "on", "off", "y", "n"].contains(&text.to_ascii_lowercase().as_str());
    Value::Scalar(match quotes {
        Quotes::None if is_plain => text.to_owned(),
        Quotes::Double | Quotes::None if is_simple => format!("\"{text}\""),
        _ => format!("'{}'", text.replace('\'', "''")),
    })
}

/// An expression, without quotes where YAML takes it for a text in a block.
pub(crate) fn expression(written: &str) -> Value {
    let starts_well = written.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_plain = starts_well
        && written.chars().all(|c| c == ' ' || c.is_ascii_graphic())
        && ![": ", " #"].iter().any(|it| written.contains(it))
        && !written.ends_with([':', ' '])
        && ScalarKind::of_plain(written) == ScalarKind::Str;
    if is_plain { Value::Scalar(written.to_owned()) } else { text(written, Quotes::None) }
}

/// A truth value.
pub(crate) fn yes() -> Value {
    Value::Scalar("true".to_owned())
}

/// How the lines of a block are indented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Indents {
    /// Of a mapping below its key.
    pub(crate) map: usize,
    /// Of the dashes of a list below its key.
    pub(crate) list: usize,
}

impl Default for Indents {
    fn default() -> Self {
        Self { map: 2, list: 2 }
    }
}

impl Value {
    /// In one line: `{name: a, namespace: b}`; with spaces inside of the braces where that is the custom.
    pub(crate) fn flow(&self, padded: bool) -> String {
        let pad = if padded { " " } else { "" };
        match self {
            Self::Scalar(text) => text.clone(),
            Self::List(items) => {
                format!("[{}]", items.iter().map(|item| item.flow(padded)).collect::<Vec<_>>().join(", "))
            }
            Self::Map(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(key, value)| format!("{key}: {}", value.flow(padded))).collect();
                format!("{{{pad}{}{pad}}}", fields.join(", "))
            }
        }
    }

    /// The lines of a block, indented from its own beginning.
    pub(crate) fn block(&self, indents: Indents) -> Vec<String> {
        match self {
            Self::Scalar(text) => vec![text.clone()],
            Self::List(items) => items.iter().flat_map(|item| item.item(indents)).collect(),
            Self::Map(fields) => fields.iter().flat_map(|(key, value)| value.field(key, indents)).collect(),
        }
    }

    /// The lines of an item, its dash first.
    pub(crate) fn item(&self, indents: Indents) -> Vec<String> {
        let lines = self.block(indents).into_iter().enumerate();
        lines.map(|(at, line)| format!("{} {line}", if at == 0 { "-" } else { " " })).collect()
    }

    /// The lines of a key with this value.
    pub(crate) fn field(&self, key: &str, indents: Indents) -> Vec<String> {
        let below = match self {
            Self::Scalar(text) => return vec![format!("{key}: {text}")],
            Self::List(_) => indents.list,
            Self::Map(_) => indents.map,
        };
        let lines = self.block(indents).into_iter().map(|line| format!("{:below$}{line}", ""));
        std::iter::once(format!("{key}:")).chain(lines).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Indents, Quotes, Value, text};

    fn fields() -> Value {
        Value::Map(vec![("name".to_owned(), text("a", Quotes::None)), ("ready".to_owned(), super::yes())])
    }

    #[test]
    fn a_value_has_a_line_or_a_block() {
        let list = Value::List(vec![fields()]);
        assert_eq!(list.flow(false), "[{name: a, ready: true}]");
        assert_eq!(fields().flow(true), "{ name: a, ready: true }");
        let block = list.field("dependsOn", Indents::default()).join("\n");
        assert_eq!(block, "dependsOn:\n  - name: a\n    ready: true");
        let flat = list.field("dependsOn", Indents { map: 2, list: 0 }).join("\n");
        assert_eq!(flat, "dependsOn:\n- name: a\n  ready: true");
    }

    #[test]
    fn a_text_stays_a_text() {
        for (name, quotes, written) in [
            ("web", Quotes::None, "web"),
            ("1-core", Quotes::None, "1-core"),
            ("123", Quotes::None, "\"123\""),
            ("no", Quotes::None, "\"no\""),
            ("web", Quotes::Double, "\"web\""),
            ("web", Quotes::Single, "'web'"),
            ("status.phase == 'ready'", Quotes::None, "'status.phase == ''ready'''"),
            ("a: b", Quotes::None, "'a: b'"),
        ] {
            assert_eq!(text(name, quotes), Value::Scalar(written.to_owned()), "{name}");
        }
    }
}
