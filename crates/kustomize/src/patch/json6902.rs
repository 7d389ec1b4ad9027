//! JSON patches (RFC 6902): a list of operations on paths.
//!
//! Knows the operations, with the leniences of the library that kustomize uses: negative indices count from the end, and
//! replacing or copying a key that is not there is no error. Does not know which object a patch is for.

use ecow::EcoString;
use source::Span;
use thiserror::Error;
use yaml::{Budget, Cost, DEPTH_MAX, Node, Spent, Value};

use crate::style::old_bool;

/// Why a JSON patch does not fit an object.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum JsonPatchError {
    #[error("`{0}` is not an operation of a JSON patch")]
    Operation(String),
    #[error("an operation needs `{0}`")]
    Missing(&'static str),
    #[error("`{0}` is not in the object")]
    Path(String),
    #[error("`{0}` is not an index of a list of {1}")]
    Index(String, usize),
    #[error("the test of `{0}` does not hold")]
    Test(String),
    /// No error of the patch, but a limit.
    #[error("nests deeper than {DEPTH_MAX} levels")]
    TooDeep,
    /// Likewise.
    #[error(transparent)]
    Spent(#[from] Spent),
}

/// An error and the operation it happened in.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) error: JsonPatchError,
    pub(crate) span: Span,
}

/// Whether this could be a JSON patch at all: a list of mappings.
pub(crate) fn is_patch(node: &Node) -> bool {
    node.as_seq().is_some_and(|items| items.iter().all(|item| item.as_map().is_some()))
}

/// Applies all operations in order, or fails at the first that does not fit.
pub(crate) fn apply(object: &mut Node, patch: &Node, budget: &mut Budget) -> Result<(), Failed> {
    for operation in patch.as_seq().unwrap_or_default() {
        apply_one(object, operation, budget).map_err(|error| Failed { error, span: operation.span })?;
    }
    Ok(())
}

fn apply_one(object: &mut Node, operation: &Node, budget: &mut Budget) -> Result<(), JsonPatchError> {
    let field = |name: &'static str| operation.get(name).ok_or(JsonPatchError::Missing(name));
    let text = |name: &'static str| field(name).map(|node| node.text().unwrap_or_default());
    let path = text("path")?;
    let value = || operation.get("value").map_or_else(|| Node::null(operation.span), old_bools);
    afford(object, path, operation.get("value"), budget)?;
    match text("op")? {
        "add" => add(object, path, value(), field("path")?.span),
        "remove" => remove(object, path).map(drop),
        "replace" => match find(object, path) {
            Some(slot) => {
                *slot = value();
                Ok(())
            }
            None => add_key(object, path, value(), field("path")?.span),
        },
        "move" => {
            let from = text("from")?;
            afford(object, from, None, budget)?;
            let moved = remove(object, from)?;
            check_depth(path, &moved)?;
            add(object, path, moved, field("path")?.span)
        }
        "copy" => {
            let from = text("from")?;
            afford(object, from, None, budget)?;
            let copied = match find(object, from).cloned() {
                Some(found) => found,
                None if is_key(object, from) => Node::null(operation.span),
                None => return Err(JsonPatchError::Path(from.to_owned())),
            };
            budget.spend(Cost::of_copy(&copied, budget.nodes_left()))?;
            check_depth(path, &copied)?;
            add(object, path, copied, field("path")?.span)
        }
        "test" => {
            let wanted = value();
            let holds = find(object, path).map_or(wanted.is_null(), |found| *found == wanted);
            if holds { Ok(()) } else { Err(JsonPatchError::Test(path.to_owned())) }
        }
        other => Err(JsonPatchError::Operation(other.to_owned())),
    }
}

/// Takes what it costs to walk along a path, and to put a value there.
fn afford(object: &Node, path: &str, value: Option<&Node>, budget: &mut Budget) -> Result<(), JsonPatchError> {
    budget.spend(Cost::read(path.len()).and(Cost::seen(1 + passed(object, path))))?;
    if let Some(value) = value {
        budget.spend(Cost::of_copy(value, budget.nodes_left()))?;
        check_depth(path, value)?;
    }
    Ok(())
}

/// How many keys and items stand beside those of a path.
fn passed(object: &Node, path: &str) -> usize {
    let mut node = object;
    let mut count = 0;
    for part in path.split('/').skip(1) {
        let next = match &node.value {
            Value::Map(map) => {
                count += map.len();
                map.get(&unescape(part))
            }
            Value::Seq(items) => {
                count += items.len();
                index(part, items.len()).ok().and_then(|at| items.get(at))
            }
            Value::Scalar(_) => None,
        };
        let Some(next) = next else { break };
        node = next;
    }
    count
}

/// Nothing is made that nests deeper than a file may.
fn check_depth(path: &str, value: &Node) -> Result<(), JsonPatchError> {
    let is_deep = path.matches('/').count() + value.depth() > DEPTH_MAX;
    if is_deep { Err(JsonPatchError::TooDeep) } else { Ok(()) }
}

/// Patches are read by a reader of YAML 1.1, to which an unquoted `on` or `y` is true.
fn old_bools(node: &Node) -> Node {
    match &node.value {
        Value::Scalar(_) => match old_bool(node) {
            Some(value) => Node::plain(if value { "true" } else { "false" }, node.span),
            None => node.clone(),
        },
        Value::Seq(items) if has_old_bool(node) => {
            Node::seq(items.iter().map(old_bools).collect::<Vec<_>>(), node.span)
        }
        Value::Map(map) if has_old_bool(node) => {
            let entries = map.iter().map(|entry| yaml::Entry { value: old_bools(&entry.value), ..entry.clone() });
            Node::map(entries.collect(), node.span)
        }
        Value::Seq(_) | Value::Map(_) => node.clone(),
    }
}

fn has_old_bool(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(_) => old_bool(node).is_some(),
        Value::Seq(items) => items.iter().any(has_old_bool),
        Value::Map(map) => map.iter().any(|entry| has_old_bool(&entry.value)),
    }
}

fn add(object: &mut Node, path: &str, value: Node, key_span: Span) -> Result<(), JsonPatchError> {
    let Some((parent, key)) = split(path) else {
        *object = value;
        return Ok(());
    };
    let parent = find(object, parent).ok_or_else(|| JsonPatchError::Path(path.to_owned()))?;
    match &mut parent.value {
        Value::Map(map) => {
            map.insert(key, key_span, value);
            Ok(())
        }
        Value::Seq(items) => {
            let at = if key == "-" { items.len() } else { index(&key, items.len() + 1)? };
            items.insert(at, value);
            Ok(())
        }
        Value::Scalar(_) => Err(JsonPatchError::Path(path.to_owned())),
    }
}

/// To replace a key that a mapping does not have is to add it.
fn add_key(object: &mut Node, path: &str, value: Node, key_span: Span) -> Result<(), JsonPatchError> {
    if is_key(object, path) { add(object, path, value, key_span) } else { Err(JsonPatchError::Path(path.to_owned())) }
}

/// Whether a path leads into a mapping, if only to a key that it does not have.
fn is_key(object: &mut Node, path: &str) -> bool {
    split(path).and_then(|(parent, _)| find(object, parent)).is_some_and(|parent| parent.as_map().is_some())
}

fn remove(object: &mut Node, path: &str) -> Result<Node, JsonPatchError> {
    let missing = || JsonPatchError::Path(path.to_owned());
    let (parent, key) = split(path).ok_or_else(missing)?;
    let parent = find(object, parent).ok_or_else(missing)?;
    match &mut parent.value {
        Value::Map(map) => map.remove(&key).map(|entry| entry.value).ok_or_else(missing),
        Value::Seq(items) => {
            let at = index(&key, items.len())?;
            Ok(items.remove(at))
        }
        Value::Scalar(_) => Err(missing()),
    }
}

/// The value at a path, to be changed. Looked up without copying first: most failing paths fail early.
fn find<'a>(object: &'a mut Node, path: &str) -> Option<&'a mut Node> {
    let mut node = object;
    for part in path.split('/').skip(1) {
        let key = unescape(part);
        node = match &mut node.value {
            Value::Map(map) => map.get_mut(&key)?,
            Value::Seq(items) => {
                let at = index(&key, items.len()).ok()?;
                items.make_mut().get_mut(at)?
            }
            Value::Scalar(_) => return None,
        };
    }
    Some(node)
}

/// A path's parent and last part; `None` for the whole document.
fn split(path: &str) -> Option<(&str, EcoString)> {
    let (parent, last) = path.rsplit_once('/')?;
    Some((parent, unescape(last)))
}

fn unescape(part: &str) -> EcoString {
    if part.contains('~') { part.replace("~1", "/").replace("~0", "~").into() } else { part.into() }
}

/// An index below `length`; negative ones count from the end.
fn index(key: &str, length: usize) -> Result<usize, JsonPatchError> {
    let out = || JsonPatchError::Index(key.to_owned(), length);
    let number: i64 = key.parse().map_err(|_| out())?;
    let length_signed = i64::try_from(length).unwrap_or(i64::MAX);
    let at = if number < 0 { number + length_signed } else { number };
    usize::try_from(at).ok().filter(|at| *at < length).ok_or_else(out)
}
