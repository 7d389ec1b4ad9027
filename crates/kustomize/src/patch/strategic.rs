//! Strategic merge: a patch shaped like the object it changes.
//!
//! Follows kustomize's own merge, which differs from the API server's: an empty value of the *object* vanishes as soon as
//! any patch touches it, list directives other than `$patch` are plain fields, and a value keeps the quotes of the one it
//! replaces. Does not know which object a patch is for.

use std::borrow::Cow;

use source::Span;
use thiserror::Error;
use yaml::{Budget, Cost, Map, Node, ScalarKind, Spent, Value};

use super::lists;
use crate::kinds::Shape;
use crate::style::{is_blank, is_quoted};

/// Keys that are compared in the time of one node.
const KEYS_OF_NODE: usize = 8;

/// Set on a mapping or a list item to say what becomes of what is there.
pub(super) const DIRECTIVE: &str = "$patch";

/// Why a patch can't be merged into an object.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MergeError {
    #[error("the patch has a {patch} where the object has a {object}")]
    Kind { object: ValueShape, patch: ValueShape, span: Span },
    #[error("`$patch: {directive}` is not merge, replace or delete")]
    Directive { directive: String, span: Span },
    /// No error of the patch, but a limit.
    #[error(transparent)]
    Spent(#[from] Spent),
}

impl MergeError {
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Kind { span, .. } | Self::Directive { span, .. } => *span,
            Self::Spent(_) => Span::GENERATED,
        }
    }
}

/// What came out of a merge of two values.
pub(super) struct Merged {
    /// `None` when the value is gone.
    pub(super) value: Option<Node>,
    /// Whether it is still the object's own value, changed or not, and not the patch's in its place.
    pub(super) in_place: bool,
}

impl Merged {
    fn gone() -> Self {
        Self { value: None, in_place: false }
    }

    fn kept(node: Node) -> Self {
        Self { value: Some(node), in_place: true }
    }

    fn taken(node: Node) -> Self {
        Self { value: Some(node), in_place: false }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    Merge,
    Replace,
    Delete,
}

/// Merges `patch` into `object`. `None` when the patch deletes the object.
pub(crate) fn merge(object: Node, patch: &Node, budget: &mut Budget) -> Result<Option<Node>, MergeError> {
    let seen = Cost::of(&object, budget.nodes_left());
    budget.spend(seen.and(Cost::of_copy(patch, budget.nodes_left())))?;
    Ok(walk(Some(object), Some(patch), None, budget)?.value)
}

pub(super) fn walk(
    dest: Option<Node>,
    patch: Option<&Node>,
    shape: Option<Shape>,
    budget: &mut Budget,
) -> Result<Merged, MergeError> {
    let shape = shape.or_else(|| [dest.as_ref(), patch].into_iter().flatten().find_map(shape_of));
    let (dest_null, patch_null) = (dest.as_ref().is_none_or(Node::is_null), patch.is_none_or(Node::is_null));
    let Some(leader) = (if dest_null { patch.filter(|_| !patch_null) } else { dest.as_ref() }) else {
        // Nothing but nulls: one that was written out in the object stays, everything else goes.
        let stays = patch.is_none() && dest.as_ref().is_some_and(|node| !is_blank(node));
        return Ok(dest.filter(|_| stays).map_or_else(Merged::gone, Merged::kept));
    };
    if let (false, false, Some(dest), Some(patch)) = (dest_null, patch_null, &dest, patch) {
        same_kind(dest, patch)?;
    }
    match &leader.value {
        Value::Map(_) => walk_map(dest.filter(|_| !dest_null), patch, shape, budget),
        Value::Seq(_) => walk_seq(dest.filter(|_| !dest_null), patch, shape, budget),
        Value::Scalar(_) => Ok(match (dest, patch) {
            (_, Some(patch)) if patch_null => {
                debug_assert!(patch.is_null());
                Merged::gone()
            }
            (dest, Some(patch)) => Merged::taken(requote(dest.as_ref(), patch)),
            (Some(dest), None) => Merged::kept(dest),
            (None, None) => Merged::gone(),
        }),
    }
}

fn walk_map(
    dest: Option<Node>,
    patch: Option<&Node>,
    shape: Option<Shape>,
    budget: &mut Budget,
) -> Result<Merged, MergeError> {
    let Some(patch_node) = patch else {
        let Some(mut dest) = dest else { return Ok(Merged::gone()) };
        settle(&mut dest, shape, budget)?;
        return Ok(Merged::kept(dest));
    };
    let Some(patch_map) = patch_node.as_map() else { return Ok(Merged::gone()) };
    let (directive, patch_map) = map_directive(patch_map)?;
    match (directive, dest) {
        (Directive::Delete, _) => Ok(Merged::gone()),
        (Directive::Merge, Some(mut dest)) => {
            merge_fields(&mut dest, &patch_map, shape, budget)?;
            Ok(Merged::kept(dest))
        }
        (Directive::Merge | Directive::Replace, _) => {
            // The patch's own mapping is merged with itself: that drops its nulls and directives.
            let mut fresh = Node::map(patch_map.as_ref().clone(), patch_node.span);
            merge_fields(&mut fresh, &patch_map, shape, budget)?;
            Ok(Merged::taken(fresh))
        }
    }
}

fn merge_fields(dest: &mut Node, patch: &Map, shape: Option<Shape>, budget: &mut Budget) -> Result<(), MergeError> {
    let pairs = dest.entries().len() + patch.len();
    budget.spend(Cost::seen(pairs / KEYS_OF_NODE).times(patch.len()))?;
    settle_except(dest, patch, shape, budget)?;
    let Some(map) = dest.as_map_mut() else { return Ok(()) };
    for entry in patch {
        let slot = map.get_mut(&entry.key);
        let old = slot.map(|slot| std::mem::replace(slot, Node::null(entry.key_span)));
        let field_shape = shape.map(|shape| shape.field(&entry.key));
        match walk(old, Some(&entry.value), field_shape, budget)?.value {
            Some(value) => map.insert(entry.key.clone(), entry.key_span, value),
            None => {
                map.remove(&entry.key);
            }
        }
    }
    Ok(())
}

fn walk_seq(
    dest: Option<Node>,
    patch: Option<&Node>,
    shape: Option<Shape>,
    budget: &mut Budget,
) -> Result<Merged, MergeError> {
    let Some(Shape::List(list)) = shape else {
        return Ok(match (dest, patch) {
            (_, Some(patch)) if patch.is_null() => Merged::gone(),
            (_, Some(patch)) => Merged::taken(patch.clone()),
            (Some(dest), None) => Merged::kept(dest),
            (None, None) => Merged::gone(),
        });
    };
    let Some(patch) = patch else {
        let Some(mut dest) = dest else { return Ok(Merged::gone()) };
        settle(&mut dest, shape, budget)?;
        return Ok(Merged::kept(dest));
    };
    let Some(items) = patch.as_seq() else { return Ok(Merged::gone()) };
    let (directive, items) = list_directive(items)?;
    match (directive, dest) {
        (Directive::Delete, _) => Ok(Merged::gone()),
        (Directive::Merge, Some(mut dest)) => {
            let own = dest.as_seq().unwrap_or_default().to_vec();
            dest.value = Value::Seq(lists::merge(own, Some(&items), list, budget)?.into());
            Ok(Merged::kept(dest))
        }
        (Directive::Merge | Directive::Replace, _) => {
            let merged = lists::merge(items.to_vec(), Some(&items), list, budget)?;
            Ok(Merged::taken(Node::seq(merged, patch.span)))
        }
    }
}

fn same_kind(dest: &Node, patch: &Node) -> Result<(), MergeError> {
    let (object, patched) = (ValueShape::of(dest), ValueShape::of(patch));
    if object == patched {
        return Ok(());
    }
    Err(MergeError::Kind { object, patch: patched, span: patch.span })
}

/// What sort of value stands somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueShape {
    Mapping,
    List,
    Plain,
}

impl ValueShape {
    fn of(node: &Node) -> Self {
        match node.value {
            Value::Map(_) => Self::Mapping,
            Value::Seq(_) => Self::List,
            Value::Scalar(_) => Self::Plain,
        }
    }
}

impl std::fmt::Display for ValueShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Mapping => "mapping",
            Self::List => "list",
            Self::Plain => "plain value",
        })
    }
}

fn map_directive(patch: &Map) -> Result<(Directive, Cow<'_, Map>), MergeError> {
    let Some(value) = patch.get(DIRECTIVE) else { return Ok((Directive::Merge, Cow::Borrowed(patch))) };
    let directive = parse_directive(value)?;
    let mut elided = patch.clone();
    elided.remove(DIRECTIVE);
    Ok((directive, Cow::Owned(elided)))
}

/// A list's directive is an item that holds nothing else.
fn list_directive(items: &[Node]) -> Result<(Directive, Cow<'_, [Node]>), MergeError> {
    let found = items.iter().find_map(|item| item.get(DIRECTIVE).map(|value| (item, value)));
    let Some((item, value)) = found else { return Ok((Directive::Merge, Cow::Borrowed(items))) };
    if item.entries().len() > 1 {
        return Ok((Directive::Merge, Cow::Borrowed(items)));
    }
    let directive = parse_directive(value)?;
    let same = |item: &Node| item.get(DIRECTIVE).is_some_and(|other| other == value);
    Ok((directive, Cow::Owned(items.iter().filter(|item| !same(item)).cloned().collect())))
}

fn parse_directive(value: &Node) -> Result<Directive, MergeError> {
    match value.text().unwrap_or_default() {
        "merge" => Ok(Directive::Merge),
        "replace" => Ok(Directive::Replace),
        "delete" => Ok(Directive::Delete),
        other => Err(MergeError::Directive { directive: other.to_owned(), span: value.span }),
    }
}

/// The patch's value in the quotes of the old one: `5` in place of `"4"` is `"5"`.
fn requote(dest: Option<&Node>, patch: &Node) -> Node {
    let mut node = patch.clone();
    if let (Some(dest), Value::Scalar(scalar)) = (dest, &mut node.value)
        && is_quoted(dest)
    {
        scalar.kind = ScalarKind::Str;
    }
    node
}

fn shape_of(node: &Node) -> Option<Shape> {
    Shape::of(node.get("apiVersion")?.text()?, node.get("kind")?.text()?)
}

/// Drops what a merge drops from the parts of the object that the patch does not name.
pub(super) fn settle(node: &mut Node, shape: Option<Shape>, budget: &mut Budget) -> Result<(), Spent> {
    if !is_settled(node, shape) {
        match (&mut node.value, shape) {
            (Value::Map(_), _) => settle_except(node, &Map::new(), shape, budget)?,
            (Value::Seq(items), Some(Shape::List(list))) => match lists::merge(items.to_vec(), None, list, budget) {
                Ok(merged) => *items = merged.into(),
                Err(MergeError::Spent(spent)) => return Err(spent),
                // Without a patch a list merge has nothing to fail on.
                Err(_) => {}
            },
            _ => {}
        }
    }
    Ok(())
}

fn settle_except(node: &mut Node, patch: &Map, shape: Option<Shape>, budget: &mut Budget) -> Result<(), Spent> {
    let shape = shape.or_else(|| shape_of(node));
    let skip = |key: &str| patch.contains_key(key);
    let field = |key: &str| shape.map(|shape| shape.field(key));
    let settled = |entry: &yaml::Entry| {
        skip(&entry.key) || (!is_blank(&entry.value) && is_settled(&entry.value, field(&entry.key)))
    };
    if node.entries().iter().all(settled) {
        return Ok(());
    }
    let Some(map) = node.as_map_mut() else { return Ok(()) };
    let mut done = Ok(());
    map.retain(|entry| {
        if skip(&entry.key) || done.is_err() {
            return true;
        }
        done = settle(&mut entry.value, field(&entry.key), budget);
        !is_blank(&entry.value)
    });
    done
}

/// Whether [`settle`] would leave it as it is; asked first, because changing copies.
pub(super) fn is_settled(node: &Node, shape: Option<Shape>) -> bool {
    match &node.value {
        Value::Map(map) => {
            let shape = shape.or_else(|| shape_of(node));
            map.iter().all(|entry| {
                let field = shape.map(|shape| shape.field(&entry.key));
                !is_blank(&entry.value) && is_settled(&entry.value, field)
            })
        }
        Value::Seq(items) => match shape {
            Some(Shape::List(list)) => lists::is_settled(items, list),
            _ => true,
        },
        Value::Scalar(_) => true,
    }
}
