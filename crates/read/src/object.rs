//! A YAML node seen as a Kubernetes object. Knows the common fields and nothing about kinds.

use ecow::EcoString;
use model::ObjectRef;
use source::Span;
use yaml::{Node, Value};

use crate::kinds::is_cluster_scoped;

/// A borrowed view of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object<'a> {
    pub(crate) node: &'a Node,
}

impl<'a> Object<'a> {
    pub(crate) fn new(node: &'a Node) -> Self {
        Self { node }
    }

    pub(crate) fn api_version(self) -> &'a str {
        self.node.get("apiVersion").and_then(Node::text).unwrap_or_default()
    }

    /// The API group; empty for the core group.
    pub(crate) fn group(self) -> &'a str {
        self.api_version().split_once('/').map_or("", |(group, _)| group)
    }

    pub(crate) fn kind(self) -> &'a str {
        self.node.get("kind").and_then(Node::text).unwrap_or_default()
    }

    pub(crate) fn is(self, group: &str, kind: &str) -> bool {
        self.kind() == kind && self.group() == group
    }

    pub(crate) fn name(self) -> &'a str {
        self.node.text_at(&["metadata", "name"]).unwrap_or_default()
    }

    pub(crate) fn namespace(self) -> &'a str {
        self.node.text_at(&["metadata", "namespace"]).unwrap_or_default()
    }

    pub(crate) fn annotation(self, key: &str) -> Option<&'a Node> {
        self.node.at(&["metadata", "annotations"])?.get(key)
    }

    pub(crate) fn spec(self, key: &str) -> Option<&'a Node> {
        self.node.at(&["spec", key])
    }

    /// Where its name stands: what findings point at.
    pub(crate) fn name_span(self) -> Span {
        self.node.at(&["metadata", "name"]).map_or(self.node.span, |name| name.span)
    }

    pub(crate) fn kind_span(self) -> Span {
        self.node.get("kind").map_or(self.node.span, |kind| kind.span)
    }

    /// The whole identity, with `fallback` where no namespace is written.
    pub(crate) fn reference(self, fallback: &str) -> ObjectRef {
        // kustomize writes a namespace into custom resources whose scope it does not know.
        let namespace = match self.namespace() {
            _ if is_cluster_scoped(self.group(), self.kind()) => "",
            "" => fallback,
            own => own,
        };
        ObjectRef::new(self.kind(), namespace, self.name())
    }
}

/// The text that a node holds, owned.
pub(crate) fn owned(node: Option<&Node>) -> EcoString {
    node.and_then(Node::text).unwrap_or_default().into()
}

/// Whether any text in a tree holds these words.
pub(crate) fn mentions(node: &Node, words: &str) -> bool {
    match &node.value {
        Value::Map(map) => map.iter().any(|entry| mentions(&entry.value, words)),
        Value::Seq(items) => items.iter().any(|item| mentions(item, words)),
        Value::Scalar(scalar) => scalar.text.contains(words),
    }
}
