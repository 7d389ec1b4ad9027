//! Field paths of replacements and vars: `spec.template.spec.containers.[name=app].env.0.value`, `spec.ports.*.port`.
//!
//! Knows how to find, and to create, what a path leads to. Does not know what is put there.

use ecow::EcoString;
use regex::Regex;
use source::Span;
use thiserror::Error;
use yaml::{DEPTH_MAX, EcoVec, Map, Node, Spent, Value};

use crate::expression::{self, ExpressionError};
use crate::fieldspec::split_path;
use crate::selector::SelectorError;

#[derive(Clone, Debug)]
pub(crate) struct FieldPath {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Field(EcoString),
    /// A number: an index of a list, or a key that is a number.
    Index(usize, EcoString),
    /// `[key=value]`; an empty key means the item itself.
    Item {
        key: EcoString,
        value: EcoString,
    },
    Every,
    /// `-`: the last item, in sources only.
    Last,
}

/// Why a path leads nowhere, or a value can't be put where it leads.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PathError {
    #[error("`{0}` should be [field=value]")]
    Item(String),
    #[error("`{0}` is not a regular expression")]
    Pattern(String),
    #[error("index {0} of a list of {1}")]
    Index(usize, usize),
    #[error("a list was expected at `{0}`")]
    NoList(String),
    #[error("a mapping was expected at `{0}`")]
    NoMapping(String),
    #[error("YAML inside a string would have to be rewritten")]
    Rewrite,
    #[error("no source")]
    NoSource,
    #[error("{0} objects are the source of this replacement, not one")]
    Sources(usize),
    #[error("{object} has no `{path}`")]
    NoValue { object: String, path: String },
    #[error("`delimiter` only works on plain values")]
    Delimiter,
    #[error("`{text}` has no part {index}")]
    NoPart { text: String, index: i64 },
    #[error("a target needs `select`")]
    NoSelect,
    #[error("there is no such field")]
    NoField,
    #[error(transparent)]
    Selector(SelectorError),
    /// No error of the path, but a limit.
    #[error("`{0}` is too large a regular expression")]
    TooLarge(String),
    /// Likewise.
    #[error("nests deeper than {DEPTH_MAX} levels")]
    TooDeep,
    /// Likewise.
    #[error(transparent)]
    Spent(#[from] Spent),
    #[error("{object}: `{path}`: {error}")]
    At { object: String, path: String, error: Box<PathError> },
}

/// What to make where a path leads to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Skip,
    Scalar,
    Map,
    Seq,
}

impl FieldPath {
    pub(crate) fn parse(text: &str) -> Result<Self, PathError> {
        Ok(Self { parts: split(text).into_iter().map(part).collect::<Result<_, _>>()? })
    }

    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// The two halves of a path, the first of `length` parts.
    pub(crate) fn split_at(&self, length: usize) -> (Self, Self) {
        let (head, tail) = self.parts.split_at(length);
        (Self { parts: head.to_vec() }, Self { parts: tail.to_vec() })
    }

    /// The one value at the path.
    pub(crate) fn get<'a>(&self, node: &'a Node) -> Option<&'a Node> {
        self.parts.iter().try_fold(node, |node, part| match part {
            Part::Field(name) => node.get(name),
            Part::Index(at, name) => match node.as_seq() {
                Some(items) => items.get(*at),
                None => node.get(name),
            },
            Part::Last => node.as_seq()?.last(),
            Part::Item { key, value } => node.as_seq()?.iter().find(|item| match key.as_str() {
                "" => item.text() == Some(value),
                key => item.get(key).and_then(Node::text) == Some(value),
            }),
            Part::Every => None,
        })
    }

    /// Calls `visit` on every value at the path, and says how many there were.
    pub(crate) fn visit(
        &self,
        node: &mut Node,
        missing: Missing,
        span: Span,
        visit: &mut dyn FnMut(&mut Node, bool) -> Result<(), PathError>,
    ) -> Result<usize, PathError> {
        Walk { missing, span, visit }.step(node, &self.parts, false)
    }
}

struct Walk<'a> {
    missing: Missing,
    span: Span,
    /// Called with whether the value was made just now.
    visit: &'a mut dyn FnMut(&mut Node, bool) -> Result<(), PathError>,
}

impl Walk<'_> {
    fn step(&mut self, node: &mut Node, parts: &[Part], made: bool) -> Result<usize, PathError> {
        let Some((part, rest)) = parts.split_first() else {
            (self.visit)(node, made)?;
            return Ok(1);
        };
        match part {
            Part::Field(name) => self.field(node, name, rest),
            Part::Index(at, name) => match node.value {
                Value::Map(_) => self.field(node, name, rest),
                _ => self.index(node, *at, rest),
            },
            Part::Item { key, value } => self.items(node, key, value, rest),
            Part::Last => self.field(node, &"-".into(), rest),
            Part::Every => {
                let items = list(node, "*")?;
                items.make_mut().iter_mut().try_fold(0, |count, item| Ok(count + self.step(item, rest, false)?))
            }
        }
    }

    fn field(&mut self, node: &mut Node, name: &EcoString, rest: &[Part]) -> Result<usize, PathError> {
        if node.is_null() {
            return Ok(0);
        }
        let Value::Map(map) = &mut node.value else { return Err(PathError::NoMapping(name.to_string())) };
        let mut made = false;
        if map.get(name).is_none() {
            if self.missing == Missing::Skip {
                return Ok(0);
            }
            map.insert(name.clone(), self.span, self.fresh(rest));
            made = true;
        }
        map.get_mut(name).map_or(Ok(0), |next| self.step(next, rest, made))
    }

    fn index(&mut self, node: &mut Node, at: usize, rest: &[Part]) -> Result<usize, PathError> {
        let fresh = self.fresh(rest);
        let items = list(node, &at.to_string())?;
        let mut made = false;
        if items.len() == at && self.missing != Missing::Skip {
            items.push(fresh);
            made = true;
        }
        let length = items.len();
        let item = items.make_mut().get_mut(at).ok_or(PathError::Index(at, length))?;
        self.step(item, rest, made)
    }

    fn items(
        &mut self,
        node: &mut Node,
        key: &EcoString,
        value: &EcoString,
        rest: &[Part],
    ) -> Result<usize, PathError> {
        let pattern = Contains::new(value)?;
        let matches = |item: &Node| {
            let found = if key.is_empty() { Some(item) } else { item.get(key) };
            found.and_then(Node::as_scalar).is_some_and(|scalar| pattern.matches(&scalar.text))
        };
        let count = {
            let items = list(node, &format!("[{key}={value}]"))?;
            if items.iter().any(matches) {
                let mut count = 0;
                for item in items.make_mut().iter_mut().filter(|item| matches(item)) {
                    count += self.step(item, if key.is_empty() { &[] } else { rest }, false)?;
                }
                count
            } else {
                0
            }
        };
        if count > 0 || self.missing == Missing::Skip {
            return Ok(count);
        }
        let span = self.span;
        let scalar = Node::plain(value.clone(), span);
        let mut element = scalar.clone();
        if !key.is_empty() {
            let mut map = Map::new();
            map.insert(key.clone(), span, scalar);
            element = Node::map(map, span);
        }
        let count = self.step(&mut element, if key.is_empty() { &[] } else { rest }, false)?;
        list(node, key)?.push(element);
        Ok(count)
    }

    /// What stands at a path that goes on with `rest`.
    fn fresh(&self, rest: &[Part]) -> Node {
        match (rest.first(), self.missing) {
            (Some(Part::Item { .. } | Part::Index(..)), _) | (None, Missing::Seq) => {
                Node::seq(EcoVec::new(), self.span)
            }
            (Some(_), _) | (None, Missing::Map) => Node::map(Map::new(), self.span),
            (None, _) => Node::string("", self.span),
        }
    }
}

/// A regular expression that may match anywhere; nearly always a name.
enum Contains<'a> {
    Text(&'a str),
    Regex(Regex),
}

impl<'a> Contains<'a> {
    fn new(text: &'a str) -> Result<Self, PathError> {
        if text.chars().all(|c| c.is_ascii_alphanumeric() || "-_/:".contains(c)) {
            return Ok(Self::Text(text));
        }
        expression::compile(text).map(Self::Regex).map_err(|error| match error {
            ExpressionError::Invalid => PathError::Pattern(text.to_owned()),
            ExpressionError::TooLarge => PathError::TooLarge(text.to_owned()),
        })
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Text(wanted) => text.contains(wanted),
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

fn list<'a>(node: &'a mut Node, part: &str) -> Result<&'a mut EcoVec<Node>, PathError> {
    node.as_seq_mut().ok_or_else(|| PathError::NoList(part.to_owned()))
}

fn part(text: EcoString) -> Result<Part, PathError> {
    if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let (key, value) = inner.split_once('=').ok_or_else(|| PathError::Item(text.to_string()))?;
        return Ok(Part::Item { key: key.into(), value: value.into() });
    }
    Ok(match text.as_str() {
        "*" => Part::Every,
        "-" => Part::Last,
        _ => match text.parse() {
            Ok(at) => Part::Index(at, text),
            Err(_) => Part::Field(text),
        },
    })
}

/// Splits at dots, but not inside of brackets.
fn split(path: &str) -> Vec<EcoString> {
    let mut result = Vec::new();
    let mut pieces = split_path(path, '.').into_iter();
    while let Some(piece) = pieces.next() {
        if !piece.starts_with('[') || piece.ends_with(']') {
            result.push(piece);
            continue;
        }
        let mut joined = piece.to_string();
        for next in pieces.by_ref() {
            joined.push('.');
            joined.push_str(&next);
            if next.ends_with(']') {
                break;
            }
        }
        let bracketed = joined.contains('=');
        result.push(if bracketed { joined.into() } else { joined.trim_matches(['[', ']']).into() });
    }
    result
}
