//! The transformers of a kustomization in kustomize's order, and the simple ones among them.

use source::Span;
use yaml::{Budget, Cost, EcoString, Entry, Node, ScalarKind, Value};

use crate::accumulate::Accumulated;
use crate::builder::Builder;
use crate::error::{BuildError, LimitError};
use crate::fieldspec::{Create, FieldError, FieldSpec, merge_specs};
use crate::id::Gvk;
use crate::kustomization::Kustomization;
use crate::resources::Resources;

/// Which end of a name a text is put at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Affix {
    Prefix,
    Suffix,
}

/// Specs that are held against an object in the time of one node.
const SPECS_OF_NODE: usize = 4;
/// A name, and what is kept of the one before.
const AFFIXED_NODES: usize = 3;

impl Builder<'_> {
    pub(crate) fn transform(&mut self, accumulated: &mut Accumulated, directory: &str, kustomization: &Kustomization) {
        let config = std::sync::Arc::clone(&accumulated.config);
        let resources = &mut accumulated.resources;
        self.apply_strategic(resources, directory, kustomization.patches_strategic_merge.iter());
        for item in &kustomization.patches {
            self.apply_patch(resources, directory, item);
        }
        if let Some(namespace) = &kustomization.namespace {
            self.set_namespace(resources, namespace, &config.namespace, crate::namespace::Options::default());
        }
        if let Some(prefix) = &kustomization.name_prefix {
            self.affix(resources, prefix, Affix::Prefix, &config.name_prefix);
        }
        if let Some(suffix) = &kustomization.name_suffix {
            self.affix(resources, suffix, Affix::Suffix, &config.name_suffix);
        }
        self.add_labels(accumulated, kustomization);
        let resources = &mut accumulated.resources;
        if let Some(annotations) = &kustomization.common_annotations {
            self.add_pairs(resources, annotations, &config.common_annotations);
        }
        for item in &kustomization.patches_json6902 {
            self.apply_json(resources, directory, item, "patch");
        }
        if self.exhausted {
            return;
        }
        for item in &kustomization.replicas {
            self.set_replicas(resources, item, &config.replicas);
        }
        for item in &kustomization.images {
            self.set_image(resources, item, &config.images);
        }
        self.replace(resources, directory, &kustomization.replacements);
        self.run_transformers(accumulated, directory, kustomization);
    }

    fn add_labels(&mut self, accumulated: &mut Accumulated, kustomization: &Kustomization) {
        let config = std::sync::Arc::clone(&accumulated.config);
        for item in &kustomization.labels {
            let Some(pairs) = item.get("pairs").filter(|pairs| pairs.as_map().is_some()) else { continue };
            let flag = |key: &str| item.get(key).and_then(crate::style::as_bool).unwrap_or_default();
            let mut specs: Vec<FieldSpec> = item.items_at("fields").iter().map(FieldSpec::read).collect();
            let merged = (|| {
                merge_specs(&mut specs, &config.labels)?;
                if flag("includeSelectors") {
                    return merge_specs(&mut specs, &config.common_labels);
                }
                if flag("includeTemplates") {
                    merge_specs(&mut specs, &config.template_labels)?;
                }
                if flag("includeVolumeClaimTemplates") {
                    merge_specs(&mut specs, &config.volume_claim_template_labels)?;
                }
                merge_specs(&mut specs, [&FieldSpec::new(Gvk::default(), "metadata/labels", true)])
            })();
            match merged {
                Ok(()) => self.add_pairs(&mut accumulated.resources, pairs, &specs),
                Err(error) => self.fail(error, item.span),
            }
        }
        if let Some(labels) = &kustomization.common_labels {
            self.add_pairs(&mut accumulated.resources, labels, &config.common_labels);
        }
    }

    /// Labels or annotations, wherever the specs say.
    pub(crate) fn add_pairs(&mut self, resources: &mut Resources, pairs: &Node, specs: &[FieldSpec]) {
        let mut sorted: Vec<Entry> = pairs.entries().iter().map(as_text).collect();
        sorted.sort_by(|one, other| one.key.cmp(&other.key));
        if sorted.is_empty() {
            return;
        }
        let added = Cost::made(sorted.len(), 0);
        self.apply_specs(resources, specs, Create::Map, pairs.span, &mut |node, budget| {
            let span = node.span;
            match &mut node.value {
                Value::Map(map) => {
                    budget.spend(added.and(Cost::seen(map.len())))?;
                    map.insert_all(sorted.iter().cloned());
                }
                Value::Scalar(scalar) if scalar.kind == ScalarKind::Null => {}
                _ => return Err(FieldError::NoMapping { span }),
            }
            Ok(())
        });
    }

    /// Applies a change wherever the specs say, and reports what does not fit.
    pub(crate) fn apply_specs(
        &mut self,
        resources: &mut Resources,
        specs: &[FieldSpec],
        create: Create,
        span: Span,
        visit: &mut dyn FnMut(&mut Node, &mut Budget) -> Result<(), FieldError>,
    ) {
        if !self.affords_specs(specs, resources, span) {
            return;
        }
        for at in 0..resources.len() {
            let resource = resources.content_mut(at);
            for spec in specs {
                let budget = &mut self.budget;
                let mut visit = |node: &mut Node| visit(node, budget);
                match spec.apply(&resource.gvk, &mut resource.node, create, span, &mut visit) {
                    Ok(()) => {}
                    Err(FieldError::Spent(spent)) => return self.exhaust(spent, span),
                    Err(error) => {
                        let at = error.span().unwrap_or(span);
                        self.fail(BuildError::FieldOf { object: resource.id().to_string(), error }, at);
                    }
                }
            }
        }
    }

    /// Whether all specs can be held against all objects, and make none of them too deep.
    pub(crate) fn affords_specs(&mut self, specs: &[FieldSpec], resources: &Resources, span: Span) -> bool {
        if specs.iter().any(FieldSpec::is_too_deep) {
            self.exhaust(LimitError::Depth, span);
        }
        self.affords(Cost::seen(1 + specs.len() / SPECS_OF_NODE).times(resources.len()), span)
    }

    pub(crate) fn affix(&mut self, resources: &mut Resources, text: &Node, affix: Affix, specs: &[FieldSpec]) {
        let Some(added) = text.text().filter(|added| !added.is_empty()).map(EcoString::from) else { return };
        if !self.affords_specs(specs, resources, text.span) {
            return;
        }
        let mut failed = Vec::new();
        for resource in resources.all_mut() {
            let original = resource.original_gvk();
            if keeps_its_name(&original) {
                continue;
            }
            for spec in specs.iter().filter(|spec| original.is_selected_by(&spec.gvk)) {
                if spec.path == "metadata/name" {
                    match affix {
                        Affix::Prefix => resource.prefixes.push(added.clone()),
                        Affix::Suffix => resource.suffixes.push(added.clone()),
                    }
                    resource.remember();
                }
                let budget = &mut self.budget;
                let done = spec.apply(&resource.gvk, &mut resource.node, Create::Scalar, text.span, &mut |node| {
                    let Value::Scalar(scalar) = &mut node.value else { return Ok(()) };
                    budget.spend(Cost::made(AFFIXED_NODES, added.len() + scalar.text.len()))?;
                    scalar.text = match affix {
                        Affix::Prefix => format!("{added}{}", scalar.text).into(),
                        Affix::Suffix => format!("{}{added}", scalar.text).into(),
                    };
                    scalar.kind = ScalarKind::Str;
                    Ok(())
                });
                failed.extend(done.err());
            }
            resource.refresh();
        }
        for error in failed {
            let span = error.span().unwrap_or(text.span);
            match error {
                FieldError::Spent(spent) => self.exhaust(spent, text.span),
                error => self.fail(error, span),
            }
        }
    }

    pub(crate) fn set_replicas(&mut self, resources: &mut Resources, item: &Node, specs: &[FieldSpec]) {
        let name = item.text_at(&["name"]).unwrap_or_default();
        let Some(count) = item.get("count") else { return };
        let mut found = false;
        for spec in specs {
            let named = resources.named(name).to_vec();
            if !self.affords(Cost::seen(1 + named.len()), item.span) || spec.is_too_deep() {
                return;
            }
            for at in named {
                let resource = resources.content_mut(at);
                if !resource.gvk.is_selected_by(&spec.gvk) {
                    continue;
                }
                found = true;
                // A plain value in the way of `spec/replicas` is the object's problem, not the count's.
                let _ = spec.apply(&resource.gvk, &mut resource.node, Create::Scalar, count.span, &mut |node| {
                    *node = count.clone();
                    Ok(())
                });
            }
        }
        // What was not fetched may hold it.
        if !found && self.blind.is_empty() {
            self.fail(BuildError::NoReplicas { name: name.to_owned() }, item.span);
        }
    }
}

/// A pair with its value as a text, whatever it is written as.
fn as_text(pair: &Entry) -> Entry {
    let text = pair.value.as_scalar().filter(|_| !pair.value.is_null()).map(|scalar| scalar.text.clone());
    Entry { value: Node::string(text.unwrap_or_default(), pair.value.span), ..pair.clone() }
}

/// Kinds whose names mean something outside of the build.
fn keeps_its_name(gvk: &Gvk) -> bool {
    match gvk.kind.as_str() {
        "CustomResourceDefinition" | "Namespace" => true,
        "APIService" => gvk.group == "apiregistration.k8s.io",
        _ => false,
    }
}
