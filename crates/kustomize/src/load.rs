//! From files and inline text to objects.
//!
//! Knows what kustomize takes for an object: a mapping with a kind and a name, or a list of such.

use std::collections::VecDeque;

use yaml::{Document, Node, Value};

use crate::builder::{Builder, OBJECTS_MAX};
use crate::error::{BuildError, LimitError};
use crate::inline;

impl Builder<'_> {
    /// The objects of a file at a path that [`Builder::file`] gave. What is no object is reported and left out.
    pub(crate) fn objects(&mut self, path: &str, from: &Node) -> Vec<Node> {
        let Some((_, documents)) = self.documents(path, from.span) else { return Vec::new() };
        let values = self.strict_values(documents);
        self.expand(values)
    }

    /// Checks values for being objects, and takes lists of objects apart.
    pub(crate) fn expand(&mut self, values: Vec<Node>) -> Vec<Node> {
        let mut objects = Vec::with_capacity(values.len());
        let mut queue: VecDeque<Node> = values.into();
        while let Some(node) = queue.pop_front() {
            self.objects += 1;
            if self.objects > OBJECTS_MAX {
                self.exhaust(LimitError::Objects, node.span);
                break;
            }
            match take_apart(&node) {
                Taken::Nothing => {}
                Taken::Object => objects.push(node),
                Taken::Items(items) if node.text_at(&["kind"]) == Some("List") => {
                    items.into_iter().rev().for_each(|item| queue.push_front(item));
                }
                Taken::Items(items) => queue.extend(items),
                Taken::Bad(error) => self.fail(error, node.span),
            }
        }
        objects
    }

    /// The documents of a text that stands in a kustomization, or of the file that it names.
    pub(crate) fn inline(&self, block: &Node) -> Vec<Document> {
        self.files.inline(block, &|| inline::parse(self.files, block))
    }
}

enum Taken {
    Nothing,
    Object,
    Items(Vec<Node>),
    Bad(BuildError),
}

fn take_apart(node: &Node) -> Taken {
    if is_empty(node) {
        return Taken::Nothing;
    }
    if node.as_map().is_none() {
        return Taken::Bad(BuildError::ObjectNoMapping);
    }
    let kind = node.text_at(&["kind"]).unwrap_or_default();
    if kind.is_empty() {
        return Taken::Bad(BuildError::ObjectWithoutKind);
    }
    if kind.ends_with("List") {
        return match node.get("items").map(|items| &items.value) {
            None => Taken::Object,
            Some(Value::Seq(items)) => Taken::Items(items.to_vec()),
            Some(Value::Scalar(_)) if node.get("items").is_some_and(Node::is_null) => Taken::Nothing,
            Some(_) => Taken::Bad(BuildError::ItemsNoList { kind: kind.to_owned() }),
        };
    }
    if node.text_at(&["metadata", "name"]).is_none_or(str::is_empty) {
        return Taken::Bad(BuildError::ObjectWithoutName { kind: kind.to_owned() });
    }
    Taken::Object
}

/// Whether kustomize passes over it without a word.
pub(crate) fn is_empty(node: &Node) -> bool {
    match &node.value {
        Value::Map(map) => map.is_empty(),
        Value::Seq(items) => items.is_empty(),
        Value::Scalar(_) => node.is_null(),
    }
}

/// Whether a document of a patch is an object, without a report if not: it may be a patch of the other kind.
pub(crate) fn is_object(node: &Node) -> bool {
    matches!(take_apart(node), Taken::Object | Taken::Nothing | Taken::Items(_))
}
