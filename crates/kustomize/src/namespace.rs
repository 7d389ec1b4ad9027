//! The namespace transformer: puts every namespaced object into one namespace, and renames Namespace objects to it.
//!
//! What is cluster-scoped it knows from [`crate::kinds`] only: a cluster-scoped custom resource gets a namespace, as it
//! does from the real tool.

use yaml::{Cost, Node, Value};

use crate::builder::Builder;
use crate::error::BuildError;
use crate::fieldspec::{Create, FieldError, FieldSpec};
use crate::resource::Resource;
use crate::resources::Resources;

/// What it costs to keep the name that an object had.
const NAMED: Cost = Cost { nodes: 8, bytes: 128 };

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// Leave namespaces that are written.
    pub(crate) unset_only: bool,
    pub(crate) subjects: Subjects,
}

/// Which subjects of role bindings are moved too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Subjects {
    #[default]
    NamedDefault,
    ServiceAccounts,
    Nobody,
}

impl Builder<'_> {
    pub(crate) fn set_namespace(
        &mut self,
        resources: &mut Resources,
        namespace: &Node,
        specs: &[FieldSpec],
        options: Options,
    ) {
        let Some(text) = namespace.text().filter(|text| !text.is_empty()) else { return };
        let value = Node::string(text, namespace.span);
        let mut failed = Vec::new();
        if !self.affords_specs(specs, resources, namespace.span)
            || !self.affords(NAMED.times(resources.len()), namespace.span)
        {
            return;
        }
        for resource in resources.all_mut() {
            resource.remember();
            if let Err(error) = move_object(resource, &value, specs, options) {
                failed.push(error);
            }
            resource.refresh();
        }
        for error in failed {
            let span = error.span().unwrap_or(namespace.span);
            self.fail(error, span);
        }
        for doubled in resources.take_duplicates() {
            self.fail(BuildError::DoubledByNamespace { object: doubled.id().to_string() }, namespace.span);
        }
    }
}

fn move_object(
    resource: &mut Resource,
    namespace: &Node,
    specs: &[FieldSpec],
    options: Options,
) -> Result<(), FieldError> {
    let mut set = |node: &mut Node| {
        if !(options.unset_only && node.text().is_some_and(|text| !text.is_empty())) {
            *node = namespace.clone();
        }
        Ok(())
    };
    if !resource.gvk.is_cluster_scoped()
        && let Value::Map(map) = &mut resource.node.value
    {
        let metadata = map.map_mut("metadata", namespace.span);
        match metadata.get_mut("namespace") {
            Some(slot) => set(slot)?,
            None => metadata.insert("namespace", namespace.span, namespace.clone()),
        }
    }
    let is_binding = matches!(resource.gvk.kind.as_str(), "RoleBinding" | "ClusterRoleBinding");
    if is_binding {
        move_subjects(&mut resource.node, namespace, options)?;
    }
    let is_core = resource.gvk.group.is_empty() && resource.gvk.version == "v1";
    for spec in specs {
        let covered = match spec.path.as_str() {
            "metadata/namespace" => true,
            "metadata/name" => !is_core,
            "subjects/namespace" => is_binding,
            _ => false,
        };
        if !covered {
            spec.apply(&resource.gvk, &mut resource.node, Create::Scalar, namespace.span, &mut set)?;
        }
    }
    Ok(())
}

fn move_subjects(node: &mut Node, namespace: &Node, options: Options) -> Result<(), FieldError> {
    if let Some(subjects) = node.get("subjects").filter(|subjects| !subjects.is_null() && subjects.as_seq().is_none()) {
        return Err(FieldError::SubjectsNoList { span: subjects.span });
    }
    let moves = |subject: &Node| match options.subjects {
        Subjects::Nobody => false,
        Subjects::NamedDefault => subject.text_at(&["name"]) == Some("default"),
        Subjects::ServiceAccounts => subject.text_at(&["kind"]) == Some("ServiceAccount"),
    };
    let written = |subject: &Node| subject.text_at(&["namespace"]).is_some_and(|text| !text.is_empty());
    let moves = |subject: &Node| moves(subject) && !(options.unset_only && written(subject));
    if !node.items_at("subjects").iter().any(moves) {
        return Ok(());
    }
    let Some(subjects) = node.get_mut("subjects").and_then(Node::as_seq_mut) else { return Ok(()) };
    for subject in subjects.make_mut().iter_mut().filter(|subject| moves(subject)) {
        if let Value::Map(map) = &mut subject.value {
            map.insert("namespace", namespace.span, namespace.clone());
        }
    }
    Ok(())
}
