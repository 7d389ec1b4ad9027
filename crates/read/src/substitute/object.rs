//! Substitution in an object. Flux writes the object as YAML, substitutes in that text and reads it again. So the quotes
//! of the file are gone by then: `"${N}"` becomes a number if the value is one, and a list if the value is `[a, b]`.
//!
//! Does not reproduce values that would break out of the scalar they stand in (line breaks, `: `, ` #`): these stay text.

use std::cell::RefCell;

use source::{FileId, Span};
use yaml::{Budget, Cost, EcoString, Node, Scalar, ScalarKind, Value};

use super::expand::{SubstituteError, substitute, substitute_within};
use super::is_touched;

const SWITCH: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// A variable that an object uses and nothing defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undefined {
    pub name: EcoString,
    /// The scalar or key that uses it.
    pub span: Span,
}

/// Text of an object that Flux refuses to build.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{source}")]
pub struct ObjectError {
    pub source: SubstituteError,
    /// The scalar or key that holds it.
    pub span: Span,
}

/// Whether a label or annotation takes the object out of substitution.
pub fn is_disabled(object: &Node) -> bool {
    ["labels", "annotations"].iter().any(|field| object.text_at(&["metadata", field, SWITCH]) == Some("disabled"))
}

/// Replaces the variables in every scalar and key, in place, and says which were undefined. Parts without variables are
/// neither copied nor changed.
pub fn substitute_node(
    node: &mut Node,
    lookup: &dyn Fn(&str) -> Option<EcoString>,
    budget: &mut Budget,
) -> Result<Vec<Undefined>, ObjectError> {
    let mut walk = Walk { lookup, undefined: Vec::new(), budget };
    if holds_variables(node) {
        // On the way to a variable, everything below is asked for one.
        let levels = 1 + node.depth() / LEVELS_OF_NODE;
        let cost = Cost::of(node, walk.budget.nodes_left()).times(levels);
        walk.budget.spend(cost).map_err(|spent| ObjectError { source: spent.into(), span: node.span })?;
        walk.node(node)?;
    }
    Ok(walk.undefined)
}

/// The variables that an object mentions, with a default or without, each with the scalar or key that does.
pub fn mentioned(node: &Node) -> Vec<Undefined> {
    let mut found = Vec::new();
    mention(node, &mut found);
    found
}

fn mention(node: &Node, found: &mut Vec<Undefined>) {
    match &node.value {
        Value::Scalar(scalar) if scalar.kind == ScalarKind::Str => mention_text(&scalar.text, node.span, found),
        Value::Scalar(_) => {}
        Value::Map(map) => map.iter().for_each(|entry| {
            mention_text(&entry.key, entry.key_span, found);
            mention(&entry.value, found);
        }),
        Value::Seq(items) => items.iter().for_each(|item| mention(item, found)),
    }
}

fn mention_text(text: &str, span: Span, found: &mut Vec<Undefined>) {
    if !is_touched(text) {
        return;
    }
    let names = RefCell::new(Vec::new());
    let note = |name: &str| {
        names.borrow_mut().push(EcoString::from(name));
        None
    };
    // Text that Flux could not read as variables holds none.
    if substitute(text, &note).is_ok() {
        found.extend(names.into_inner().into_iter().map(|name| Undefined { name, span }));
    }
}

/// As many are gone through in the time of one node.
const LEVELS_OF_NODE: usize = 8;
/// Text is parsed in more time than it is read in.
const PARSED_TIMES: usize = 8;

struct Walk<'lookup> {
    lookup: &'lookup dyn Fn(&str) -> Option<EcoString>,
    undefined: Vec<Undefined>,
    budget: &'lookup mut Budget,
}

impl Walk<'_> {
    fn node(&mut self, node: &mut Node) -> Result<(), ObjectError> {
        let span = node.span;
        match &mut node.value {
            Value::Scalar(scalar) => {
                let text = self.text(&scalar.text, span)?;
                if is_written_plain(&scalar.text) {
                    node.value = reread(&text, span);
                } else {
                    *scalar = Scalar::string(text);
                }
            }
            Value::Map(map) => {
                for entry in map.iter_mut() {
                    if is_touched(&entry.key) {
                        entry.key = self.text(&entry.key, entry.key_span)?;
                    }
                    if holds_variables(&entry.value) {
                        self.node(&mut entry.value)?;
                    }
                }
            }
            Value::Seq(items) => {
                for item in items.make_mut().iter_mut().filter(|item| holds_variables(item)) {
                    self.node(item)?;
                }
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str, span: Span) -> Result<EcoString, ObjectError> {
        let refuse = |source| ObjectError { source, span };
        let substituted = substitute_within(text, self.lookup, self.budget).map_err(refuse)?;
        let parsed = Cost::read(PARSED_TIMES * substituted.text.len());
        self.budget.spend(parsed).map_err(|spent| refuse(spent.into()))?;
        self.undefined.extend(substituted.undefined.into_iter().map(|name| Undefined { name, span }));
        Ok(substituted.text)
    }
}

fn holds_variables(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(scalar) => scalar.kind == ScalarKind::Str && is_touched(&scalar.text),
        Value::Map(map) => map.iter().any(|entry| is_touched(&entry.key) || holds_variables(&entry.value)),
        Value::Seq(items) => items.iter().any(holds_variables),
    }
}

/// Whether Flux's writer puts such text, which holds a variable, without quotes. What it quotes stays a string.
pub(crate) fn is_written_plain(text: &str) -> bool {
    let first = text.bytes().next().unwrap_or(b' ');
    let is_indicator = b"#,[]{}&*!|>'\"%@` ".contains(&first);
    let may_be_indicator = b"-?:".contains(&first) && text[1..].starts_with([' ', '\t']);
    let is_marker = text.starts_with("---") || text.starts_with("...");
    let breaks_out = text.contains(": ") || text.contains(":\t") || text.contains(" #") || text.ends_with([':', ' ']);
    let has_controls = text.chars().any(|character| character.is_control() || character == '\u{feff}');
    !(is_indicator || may_be_indicator || is_marker || breaks_out || has_controls)
}

/// What stands there once Flux has read the text again.
pub(crate) fn reread(text: &str, span: Span) -> Value {
    let trimmed = text.trim_matches([' ', '\t']);
    if trimmed.starts_with(['"', '\'', '[', '{'])
        && let Some(mut parsed) = parse_alone(trimmed)
    {
        place(&mut parsed, span);
        return parsed.value;
    }
    if trimmed.contains('\n') || trimmed.contains(": ") || trimmed.contains(" #") {
        return Value::Scalar(Scalar::string(text));
    }
    Value::Scalar(plain_of_flux(trimmed))
}

fn parse_alone(text: &str) -> Option<Node> {
    let mut documents = yaml::parse(FileId::GENERATED, text, yaml::Limits::default());
    let document = documents.pop().filter(|document| documents.is_empty() && document.problems.is_empty())?;
    document.root
}

/// A plain scalar as the controllers' YAML reader takes it: `yes`, `on`, `y` and their opposites are booleans there, and
/// `0755` and `1_000` are numbers.
fn plain_of_flux(text: &str) -> Scalar {
    let boolean = match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => "true",
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => "false",
        _ => return int_of_flux(text).unwrap_or_else(|| Scalar::plain(text)),
    };
    Scalar { text: boolean.into(), kind: ScalarKind::Bool }
}

/// An integer in any notation that needs it, in decimal.
fn int_of_flux(text: &str) -> Option<Scalar> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text.strip_prefix('+').unwrap_or(text)), |rest| (-1, rest));
    if !digits.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let digits = digits.replace('_', "");
    let (base, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        Some(_) if digits.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits.as_str()),
    };
    let number = i64::from_str_radix(digits, base).ok()?.checked_mul(sign)?;
    Some(Scalar { text: number.to_string().into(), kind: ScalarKind::Int })
}

/// Everything of a value that came out of one scalar is at that scalar.
pub(crate) fn place(node: &mut Node, span: Span) {
    node.span = span;
    match &mut node.value {
        Value::Scalar(_) => {}
        Value::Map(map) => map.iter_mut().for_each(|entry| {
            entry.key_span = span;
            place(&mut entry.value, span);
        }),
        Value::Seq(items) => items.make_mut().iter_mut().for_each(|item| place(item, span)),
    }
}
