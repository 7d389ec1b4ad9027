//! `transformers` and `generators` that are given as objects: kustomize's own ones, configured by hand.
//!
//! Everything else that can stand there is a program or a container to run, and is reported as not looked at.

use yaml::{Map, Node, Value};

use crate::accumulate::Accumulated;
use crate::builder::Builder;
use crate::fieldspec::FieldSpec;
use crate::generators::Generated;
use crate::kustomization::Kustomization;
use crate::load;
use crate::namespace::{Options, Subjects};
use crate::transform::Affix;
use crate::{BuildError, Overlooked};

impl Builder<'_> {
    pub(crate) fn run_generators(
        &mut self,
        accumulated: &mut Accumulated,
        directory: &str,
        kustomization: &Kustomization,
    ) {
        for plugin in self.plugins(directory, &kustomization.generators) {
            let kind = match (is_built_in(&plugin), plugin.text_at(&["kind"])) {
                (true, Some("ConfigMapGenerator")) => Generated::ConfigMap,
                (true, Some("SecretGenerator")) => Generated::Secret,
                _ => {
                    self.overlook(overlooked(&plugin), plugin.span);
                    continue;
                }
            };
            let item = with_metadata(&plugin);
            self.generate_one(accumulated, directory, &item, None, kind);
        }
    }

    pub(crate) fn run_transformers(
        &mut self,
        accumulated: &mut Accumulated,
        directory: &str,
        kustomization: &Kustomization,
    ) {
        for plugin in self.plugins(directory, &kustomization.transformers) {
            if !is_built_in(&plugin) || !self.run_transformer(accumulated, directory, &plugin) {
                self.overlook(overlooked(&plugin), plugin.span);
            }
        }
    }

    /// The objects of a list of files, directories and inline texts.
    fn plugins(&mut self, directory: &str, items: &[Node]) -> Vec<Node> {
        let mut found = Accumulated::new();
        for item in items {
            let documents = self.inline(item);
            let values: Vec<Node> = documents.iter().filter_map(|document| document.root.clone()).collect();
            let is_inline = documents.iter().all(|document| document.problems.is_empty())
                && values.iter().all(|value| value.as_map().is_some() && load::is_object(value));
            if is_inline && !values.is_empty() {
                let objects = self.expand(values);
                self.append(&mut found, objects.into_iter().map(crate::resource::Resource::new), item.span);
            } else {
                self.add_resources(&mut found, directory, std::slice::from_ref(item));
            }
        }
        found.resources.into_list().into_iter().map(|resource| resource.node).collect()
    }

    /// Runs one of kustomize's own transformers; `false` if it is none that is known here.
    fn run_transformer(&mut self, accumulated: &mut Accumulated, directory: &str, plugin: &Node) -> bool {
        let specs: Vec<FieldSpec> = plugin.items_at("fieldSpecs").iter().map(FieldSpec::read).collect();
        let resources = &mut accumulated.resources;
        let affix = |key: &str| plugin.get(key).filter(|node| node.text().is_some());
        match plugin.text_at(&["kind"]).unwrap_or_default() {
            "AnnotationsTransformer" => {
                if let Some(pairs) = plugin.get("annotations") {
                    self.add_pairs(resources, pairs, &specs);
                }
            }
            "LabelTransformer" => {
                if let Some(pairs) = plugin.get("labels") {
                    self.add_pairs(resources, pairs, &specs);
                }
            }
            "NamespaceTransformer" => {
                if let Some(namespace) = plugin.at(&["metadata", "namespace"]) {
                    let options = self.namespace_options(plugin);
                    self.set_namespace(resources, namespace, &specs, options);
                }
            }
            "PrefixTransformer" => {
                if let Some(text) = affix("prefix") {
                    self.affix(resources, text, Affix::Prefix, &specs);
                }
            }
            "SuffixTransformer" => {
                if let Some(text) = affix("suffix") {
                    self.affix(resources, text, Affix::Suffix, &specs);
                }
            }
            "PrefixSuffixTransformer" => {
                if let Some(text) = affix("prefix") {
                    self.affix(resources, text, Affix::Prefix, &specs);
                }
                if let Some(text) = affix("suffix") {
                    self.affix(resources, text, Affix::Suffix, &specs);
                }
            }
            "PatchTransformer" => self.apply_patch(resources, directory, plugin),
            "PatchJson6902Transformer" => self.apply_json(resources, directory, plugin, "jsonOp"),
            "PatchStrategicMergeTransformer" => {
                let patches = plugin.items_at("paths").iter().chain(plugin.get("patches"));
                self.apply_strategic(resources, directory, patches);
            }
            "ImageTagTransformer" => {
                if let Some(item) = plugin.get("imageTag") {
                    self.set_image(resources, item, &specs);
                }
            }
            "ReplicaCountTransformer" => {
                if let Some(item) = plugin.get("replica") {
                    self.set_replicas(resources, item, &specs);
                }
            }
            "ReplacementTransformer" => self.replace(resources, directory, plugin.items_at("replacements")),
            "HashTransformer" => self.add_hashes(resources),
            _ => return false,
        }
        true
    }

    fn namespace_options(&mut self, plugin: &Node) -> Options {
        let subjects = match plugin.text_at(&["setRoleBindingSubjects"]).unwrap_or_default() {
            "allServiceAccounts" => Subjects::ServiceAccounts,
            "none" => Subjects::Nobody,
            "" | "defaultOnly" => Subjects::NamedDefault,
            other => {
                self.fail(BuildError::RoleBindingSubjects { value: other.to_owned() }, plugin.span);
                Subjects::NamedDefault
            }
        };
        Options { unset_only: plugin.get("unsetOnly").and_then(crate::style::as_bool).unwrap_or_default(), subjects }
    }
}

fn is_built_in(plugin: &Node) -> bool {
    plugin.text_at(&["apiVersion"]) == Some("builtin")
}

fn overlooked(plugin: &Node) -> Overlooked {
    let text = |path: &[&str]| plugin.text_at(path).unwrap_or_default().to_owned();
    Overlooked::Plugin { kind: text(&["kind"]), name: text(&["metadata", "name"]) }
}

/// A generator's name and namespace may stand in its metadata.
fn with_metadata(plugin: &Node) -> Node {
    let mut map: Map = plugin.as_map().cloned().unwrap_or_default();
    for key in ["name", "namespace"] {
        if map.get(key).is_none()
            && let Some(value) = plugin.at(&["metadata", key])
        {
            map.insert(key, value.span, value.clone());
        }
    }
    Node::new(Value::Map(map), plugin.span)
}
