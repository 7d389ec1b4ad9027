//! One word of a command: text, quotes, parameters, substitutions.

use crate::{At, List};

/// A word as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    pub parts: Vec<Part>,
    pub at: At,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub kind: PartKind,
    pub at: At,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Bare text, without the backslashes.
    Literal(String),
    /// `'…'` and `$'…'`
    Quoted(String),
    /// `"…"`
    Double(Vec<Part>),
    Parameter(Parameter),
    /// `$(…)` and backticks
    Substitution(List),
    /// `$((…))`
    Arithmetic(String),
    /// `<(…)` and `>(…)`
    Process(List),
}

/// `$name` and `${name…}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    /// `${#name}`, `${!name}`
    pub prefix: Option<char>,
    /// What follows the name: `:-default`, `%%.*`, `[@]`.
    pub rest: Vec<Part>,
}

impl Word {
    /// Its text, if nothing in it is expanded.
    pub fn literal(&self) -> Option<String> {
        literal(&self.parts)
    }

    /// Its text up to the first part that is expanded.
    pub fn beginning(&self) -> String {
        let mut text = String::new();
        push_beginning(&self.parts, &mut text);
        text
    }

    /// Whether no part of it is quoted.
    pub fn is_bare(&self) -> bool {
        self.parts.iter().all(|part| !matches!(part.kind, PartKind::Quoted(_) | PartKind::Double(_)))
    }

    /// Whether nothing in it is quoted or expanded and it reads like this.
    pub fn is_bare_text(&self, text: &str) -> bool {
        matches!(&self.parts[..], [Part { kind: PartKind::Literal(literal), .. }] if literal == text)
    }
}

/// The text of parts of which none is expanded.
pub(crate) fn literal(parts: &[Part]) -> Option<String> {
    let mut text = String::new();
    push_beginning(parts, &mut text).then_some(text)
}

/// Adds what comes before the first part that is expanded; whether that is all.
fn push_beginning(parts: &[Part], text: &mut String) -> bool {
    parts.iter().all(|part| match &part.kind {
        PartKind::Literal(literal) | PartKind::Quoted(literal) => {
            text.push_str(literal);
            true
        }
        PartKind::Double(inner) => push_beginning(inner, text),
        _ => false,
    })
}
