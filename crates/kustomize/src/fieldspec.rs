//! Field specs: "this path of objects of that kind", the way kustomize says where labels, names and images are.
//!
//! A path goes through lists without saying so. Knows how to walk and create paths; not what is put there.

use ecow::EcoString;
use source::Span;
use thiserror::Error;
use yaml::{DEPTH_MAX, Map, Node, Spent, Value};

use crate::id::Gvk;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldSpec {
    /// Empty values mean any.
    pub(crate) gvk: Gvk,
    pub(crate) path: EcoString,
    pub(crate) create: bool,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    name: EcoString,
    /// Written with `[]`: must be a list, and is never created.
    is_list: bool,
}

/// Why a change does not fit a field.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FieldError {
    #[error("`{path}` goes through a plain value")]
    Path { path: EcoString, span: Span },
    #[error("two field specs for `{0}` disagree about `create`")]
    Conflict(EcoString),
    #[error("a mapping was expected here")]
    NoMapping { span: Span },
    #[error("`subjects` is not a list")]
    SubjectsNoList { span: Span },
    #[error("a reference without a `name`")]
    ReferenceWithoutName { span: Span },
    /// No error of the object, but a limit.
    #[error(transparent)]
    Spent(#[from] Spent),
    #[error("`{name}` could mean {first} or {second}")]
    Ambiguous { name: EcoString, first: String, second: String, span: Span },
}

impl FieldError {
    /// The value that it does not fit, if it is one.
    pub(crate) fn span(&self) -> Option<Span> {
        match self {
            Self::Path { span, .. }
            | Self::NoMapping { span }
            | Self::SubjectsNoList { span }
            | Self::ReferenceWithoutName { span }
            | Self::Ambiguous { span, .. } => Some(*span),
            Self::Conflict(_) | Self::Spent(_) => None,
        }
    }
}

/// What stands at the end of a path that had to be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Create {
    Nothing,
    Map,
    Scalar,
}

impl FieldSpec {
    pub(crate) fn new(gvk: Gvk, path: impl Into<EcoString>, create: bool) -> Self {
        let path = path.into();
        let parts = split(&path)
            .into_iter()
            .map(|name| match name.strip_suffix("[]") {
                Some(shorter) => Part { name: shorter.into(), is_list: true },
                None => Part { name, is_list: false },
            })
            .collect();
        Self { gvk, path, create, parts }
    }

    pub(crate) fn read(node: &Node) -> Self {
        let text = |key: &str| EcoString::from(node.text_at(&[key]).unwrap_or_default());
        let gvk = Gvk { group: text("group"), version: text("version"), kind: text("kind") };
        Self::new(gvk, text("path"), node.get("create").and_then(crate::style::as_bool).unwrap_or_default())
    }

    /// Whether it may make objects nest deeper than any file may.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.parts.len() >= DEPTH_MAX
    }

    /// Whether this spec says no more than `other`, which is there already.
    fn is_covered_by(&self, other: &Self) -> bool {
        other.gvk.is_selected_by(&self.gvk) && self.path == other.path
    }

    /// Calls `visit` on what is at the path in an object that the spec applies to.
    pub(crate) fn apply(
        &self,
        gvk: &Gvk,
        object: &mut Node,
        create: Create,
        span: Span,
        visit: &mut dyn FnMut(&mut Node) -> Result<(), FieldError>,
    ) -> Result<(), FieldError> {
        if !gvk.is_selected_by(&self.gvk) {
            return Ok(());
        }
        let create = if self.create { create } else { Create::Nothing };
        // Walking to change copies what it walks through, so look first whether there is anything to walk to.
        if create == Create::Nothing && !self.reaches(object) {
            return Ok(());
        }
        let mut walk = Walk { spec: self, create, span, visit };
        walk.step(object, &self.parts)
    }

    /// Whether any value is at the path.
    pub(crate) fn reaches(&self, object: &Node) -> bool {
        self.any(object, &mut |_| true)
    }

    /// Whether a value at the path is as `wanted`.
    pub(crate) fn any(&self, object: &Node, wanted: &mut dyn FnMut(&Node) -> bool) -> bool {
        any(object, &self.parts, wanted)
    }
}

fn any(node: &Node, parts: &[Part], wanted: &mut dyn FnMut(&Node) -> bool) -> bool {
    let Some((part, rest)) = parts.split_first() else { return wanted(node) };
    match &node.value {
        Value::Map(map) => map.get(&part.name).is_some_and(|next| any(next, rest, wanted)),
        Value::Seq(items) => items.iter().any(|item| any(item, parts, wanted)),
        // A plain value in the way is an error that only the changing walk reports.
        Value::Scalar(_) => !node.is_null(),
    }
}

struct Walk<'a> {
    spec: &'a FieldSpec,
    create: Create,
    span: Span,
    visit: &'a mut dyn FnMut(&mut Node) -> Result<(), FieldError>,
}

impl Walk<'_> {
    fn step(&mut self, node: &mut Node, parts: &[Part]) -> Result<(), FieldError> {
        let Some((part, rest)) = parts.split_first() else { return (self.visit)(node) };
        if node.is_null() {
            return Ok(());
        }
        match &mut node.value {
            Value::Seq(items) => items.make_mut().iter_mut().try_for_each(|item| self.step(item, parts)),
            Value::Map(map) => {
                if part.name.is_empty() {
                    return Err(FieldError::Path { path: self.spec.path.clone(), span: self.span });
                }
                self.prepare(map, part, rest.is_empty());
                map.get_mut(&part.name).map_or(Ok(()), |next| self.step(next, rest))
            }
            Value::Scalar(_) => Err(FieldError::Path { path: self.spec.path.clone(), span: node.span }),
        }
    }

    /// Makes the field if it is absent or null and the spec says so.
    fn prepare(&self, map: &mut Map, part: &Part, last: bool) {
        if self.create == Create::Nothing || part.is_list {
            return;
        }
        let fresh = || match self.create {
            Create::Scalar if last => Node::string("", self.span),
            _ => Node::map(Map::new(), self.span),
        };
        match map.get(&part.name) {
            None => map.insert(part.name.clone(), self.span, fresh()),
            Some(value) if value.is_null() => map.insert(part.name.clone(), self.span, fresh()),
            Some(_) => {}
        }
    }
}

/// Adds specs to a list, leaving out those that it covers already.
pub(crate) fn merge_specs<'a>(
    list: &mut Vec<FieldSpec>,
    more: impl IntoIterator<Item = &'a FieldSpec>,
) -> Result<(), FieldError> {
    for spec in more {
        match list.iter().find(|known| spec.is_covered_by(known)) {
            Some(known) if known.create != spec.create => return Err(FieldError::Conflict(spec.path.clone())),
            Some(_) => {}
            None => list.push(spec.clone()),
        }
    }
    Ok(())
}

/// Splits at slashes that no backslash stands before.
fn split(path: &str) -> Vec<EcoString> {
    split_path(path, '/')
}

pub(crate) fn split_path(path: &str, delimiter: char) -> Vec<EcoString> {
    let path = path.strip_prefix(delimiter).unwrap_or(path);
    let mut parts: Vec<String> = Vec::new();
    for piece in path.split(delimiter) {
        match parts.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push(delimiter);
                last.push_str(piece);
            }
            _ => parts.push(piece.to_owned()),
        }
    }
    parts.into_iter().map(EcoString::from).collect()
}
