//! What is done once, when everything is accumulated: hashes, references, order, and taking out what is not for the
//! cluster.

use ecow::EcoString;
use source::Span;
use yaml::{Cost, Node, ScalarKind, Value};

use crate::accumulate::Accumulated;
use crate::builder::Builder;
use crate::error::BuildError;
use crate::kustomization::Kustomization;
use crate::resources::Resources;
use crate::style::is_blank;
use crate::{hash, sort};

/// Objects with this are read by tools on the way, and never applied.
const LOCAL: &str = "config.kubernetes.io/local-config";
/// Text is written as JSON and then hashed, which takes longer than to read it.
const HASHED_TIMES: usize = 2;
/// Where kustomize keeps notes for itself.
const INTERNAL: &str = "internal.config.kubernetes.io/";

impl Builder<'_> {
    pub(crate) fn finish(&mut self, mut accumulated: Accumulated, kustomization: &Kustomization) -> Vec<Node> {
        self.add_hashes(&mut accumulated.resources);
        self.fix_references(&mut accumulated);
        self.resolve_vars(&mut accumulated);
        if self.exhausted {
            return Vec::new();
        }
        for doubled in accumulated.resources.take_duplicates() {
            self.fail_doubled(&doubled.id(), doubled.node.span);
        }
        for resource in accumulated.resources.iter() {
            if resource.gvk.kind.is_empty() || (resource.name.is_empty() && !resource.gvk.kind.ends_with("List")) {
                self.fail(BuildError::IdentityLost, resource.node.span);
            }
        }
        let mut list = accumulated.resources.into_list();
        list.retain(|resource| !is_local(&resource.node));
        if let Some(options) = &kustomization.sort_options {
            match sort::Order::read(options) {
                Ok(order) => order.sort(&mut list),
                Err(error) => self.fail(error, options.span),
            }
        }
        let label = kustomization.build_metadata.iter().find(|item| item.text() == Some("managedByLabel"));
        let finished = list.into_iter().map(|resource| {
            let mut node = resource.node;
            tidy_annotations(&mut node);
            if let Some(label) = label {
                add_label(&mut node, label.span);
            }
            node
        });
        finished.collect()
    }

    pub(crate) fn add_hashes(&mut self, resources: &mut Resources) {
        if !resources.iter().any(|resource| resource.needs_hash) {
            return;
        }
        for resource in resources.all_mut().iter_mut().filter(|resource| resource.needs_hash) {
            let span = resource.node.span;
            if !self.affords(Cost::read(HASHED_TIMES * hash::bytes(&resource.node)), span) {
                return;
            }
            let name: EcoString = format!("{}-{}", resource.name, hash::suffix(&resource.node)).into();
            resource.remember();
            resource.set_metadata("name", &name, span);
        }
    }
}

fn is_local(node: &Node) -> bool {
    node.at(&["metadata", "annotations", LOCAL]).is_some_and(|value| value.text() != Some("false"))
}

/// kustomize reads all annotations as texts, writes them back as such, and leaves none if there are none.
fn tidy_annotations(node: &mut Node) {
    let Some(annotations) = node.at(&["metadata", "annotations"]) else { return };
    let untidy = |entry: &yaml::Entry| {
        entry.key.starts_with(INTERNAL) || entry.value.as_scalar().is_none_or(|scalar| scalar.kind != ScalarKind::Str)
    };
    if !annotations.entries().is_empty() && !annotations.entries().iter().any(untidy) {
        return;
    }
    let Some(metadata) = node.get_mut("metadata").and_then(Node::as_map_mut) else { return };
    if let Some(map) = metadata.get_mut("annotations").and_then(Node::as_map_mut) {
        map.retain(|entry| {
            let written = entry.value.as_scalar().filter(|_| !is_blank(&entry.value));
            let text = written.map(|scalar| scalar.text.clone()).unwrap_or_default();
            entry.value.value = Value::Scalar(yaml::Scalar::string(text));
            !entry.key.starts_with(INTERNAL)
        });
        if !map.is_empty() {
            return;
        }
    }
    metadata.remove("annotations");
}

/// `buildMetadata: [managedByLabel]`. The version in the label's value is not ours to claim.
fn add_label(node: &mut Node, span: Span) {
    if let Value::Map(map) = &mut node.value {
        let labels = map.map_mut("metadata", span).map_mut("labels", span);
        labels.insert("app.kubernetes.io/managed-by", span, Node::string("kustomize", span));
    }
}
