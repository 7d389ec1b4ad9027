//! One object on its way through a build, with the names it had before.
//!
//! kustomize keeps this history in annotations on the object and removes them at the end; here it stands beside the
//! object. What the object's fields mean, apart from the identifying ones, is not known here.

use ecow::EcoString;
use source::Span;
use yaml::{Cost, Map, Node, Value};

use crate::id::{Gvk, Id, effective_namespace};

#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) node: Node,
    pub(crate) gvk: Gvk,
    pub(crate) name: EcoString,
    /// As written: empty when the object names none.
    pub(crate) namespace: EcoString,
    /// Oldest first.
    pub(crate) previous: Vec<Previous>,
    pub(crate) prefixes: Vec<EcoString>,
    pub(crate) suffixes: Vec<EcoString>,
    pub(crate) behavior: Behavior,
    pub(crate) needs_hash: bool,
    /// The `vars` whose values come from this object.
    pub(crate) vars: Vec<EcoString>,
}

/// A name that an object had before a transformer changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Previous {
    pub(crate) name: EcoString,
    /// The effective one.
    pub(crate) namespace: EcoString,
    pub(crate) kind: EcoString,
}

/// What a generator does when its object is there already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Behavior {
    #[default]
    Unspecified,
    Create,
    Replace,
    Merge,
}

impl Resource {
    /// What it takes up beside its object.
    pub(crate) const COST: Cost = Cost { nodes: 32, bytes: 320 };

    pub(crate) fn new(node: Node) -> Self {
        let mut resource = Self {
            node,
            gvk: Gvk::default(),
            name: EcoString::new(),
            namespace: EcoString::new(),
            previous: Vec::new(),
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            behavior: Behavior::default(),
            needs_hash: false,
            vars: Vec::new(),
        };
        resource.refresh();
        resource
    }

    /// Reads the identifying fields again, after the object was changed.
    pub(crate) fn refresh(&mut self) {
        let api_version = self.node.text_at(&["apiVersion"]).unwrap_or_default();
        self.gvk = Gvk::new(api_version, self.node.text_at(&["kind"]).unwrap_or_default());
        self.name = text(&self.node, &["metadata", "name"]);
        self.namespace = text(&self.node, &["metadata", "namespace"]);
    }

    pub(crate) fn id(&self) -> Id {
        Id { gvk: self.gvk.clone(), name: self.name.clone(), namespace: self.effective_namespace() }
    }

    pub(crate) fn effective_namespace(&self) -> EcoString {
        effective_namespace(&self.gvk, &self.namespace)
    }

    /// The name, effective namespace and kind that the object was read with.
    pub(crate) fn original(&self) -> Previous {
        self.previous.first().cloned().unwrap_or_else(|| self.current())
    }

    /// The group and version of today with the kind it was read with: kustomize forgets old versions.
    pub(crate) fn original_gvk(&self) -> Gvk {
        let mut gvk = self.gvk.clone();
        if let Some(first) = self.previous.first() {
            gvk.kind = first.kind.clone();
        }
        gvk
    }

    pub(crate) fn current(&self) -> Previous {
        Previous { name: self.name.clone(), namespace: self.effective_namespace(), kind: self.gvk.kind.clone() }
    }

    /// Every id it has or had.
    pub(crate) fn has_id(&self, id: &Id) -> bool {
        self.gvk.group == id.gvk.group
            && self.gvk.version == id.gvk.version
            && (self.previous.iter().any(|previous| previous.is(id)) || self.current().is(id))
    }

    /// Keeps what it is called now, once.
    pub(crate) fn remember(&mut self) {
        let current = self.current();
        if self.previous.last() != Some(&current) {
            self.previous.push(current);
        }
    }

    /// Whether it had other names, or may get one now.
    pub(crate) fn is_renamed(&self) -> bool {
        !self.previous.is_empty()
    }

    /// Puts a text under `metadata`, keeping the span that `span` gives for a field that was not there.
    pub(crate) fn set_metadata(&mut self, key: &str, value: &EcoString, span: Span) {
        let Some(map) = self.node.as_map_mut() else { return };
        let metadata = map.map_mut("metadata", span);
        match metadata.get_mut(key) {
            Some(slot) => slot.value = Value::Scalar(yaml::Scalar::string(value.clone())),
            None => metadata.insert(key, span, Node::string(value.clone(), span)),
        }
        self.refresh();
    }

    pub(crate) fn remove_metadata(&mut self, key: &str) {
        if self.node.at(&["metadata", key]).is_some()
            && let Some(metadata) = self.node.get_mut("metadata").and_then(Node::as_map_mut)
        {
            metadata.remove(key);
        }
        self.refresh();
    }

    pub(crate) fn metadata_map(&self, key: &str) -> Option<&Map> {
        self.node.at(&["metadata", key])?.as_map()
    }
}

impl Previous {
    fn is(&self, id: &Id) -> bool {
        self.name == id.name && self.kind == id.gvk.kind && self.namespace == id.namespace
    }
}

impl Behavior {
    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "create" => Self::Create,
            "replace" => Self::Replace,
            "merge" => Self::Merge,
            _ => Self::Unspecified,
        }
    }
}

fn text(node: &Node, path: &[&str]) -> EcoString {
    node.at(path)
        .and_then(Node::as_scalar)
        .filter(|scalar| scalar.kind != yaml::ScalarKind::Null)
        .map(|scalar| scalar.text.clone())
        .unwrap_or_default()
}
