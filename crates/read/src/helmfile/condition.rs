//! Releases that are switched off: `installed: false`, and `condition: name.enabled` with a value that is known to be false.
//!
//! Says so only where every environment of the helmfile says so. What a template decides is not known, and then the
//! release counts.

use kustomize::Files as _;
use source::Span;
use yaml::Node;

use super::release::Context;
use crate::content::merge;
use crate::templated_yaml;
use ::repository::path;

impl Context<'_> {
    /// Whether a release, given with the templates it inherits from, is known not to be installed.
    pub(super) fn is_off(&self, sources: &[&Node]) -> bool {
        let field = |key: &str| {
            let (source, node) = sources.iter().find_map(|source| Some((source, source.get(key)?)))?;
            (!self.is_conditional(source.span, node.span)).then_some(node)
        };
        let is_uninstalled = field("installed").and_then(Node::as_bool) == Some(false);
        is_uninstalled || field("condition").and_then(Node::text).is_some_and(|condition| self.is_false(condition))
    }

    /// Whether a template decides if there is something, given what it stands in.
    pub(super) fn is_conditional(&self, inside: Span, at: Span) -> bool {
        let from = if inside.file == at.file { inside.start } else { 0 };
        self.blocks.get(&at.file).is_none_or(|blocks| blocks.is_open_between(from as usize, at.start as usize))
    }

    fn is_false(&self, condition: &str) -> bool {
        if condition.eq_ignore_ascii_case("false") {
            return true;
        }
        let keys: Vec<&str> = condition.split('.').collect();
        let Some((&"enabled", parents)) = keys.split_last() else { return false };
        self.environments().iter().all(|values| {
            // Without the map that holds it helmfile refuses to run.
            let holder = values.as_ref().and_then(|values| values.at(parents)).filter(|it| it.as_map().is_some());
            holder.is_some_and(|holder| {
                let enabled = holder.get("enabled");
                let is_known = enabled.and_then(Node::text).is_none_or(|text| !templated_yaml::is_unknown(text));
                is_known && enabled.and_then(Node::as_bool) != Some(true)
            })
        })
    }

    /// The values of every environment, `None` for those that can't be known. Without environments only what holds for all.
    pub(super) fn environments(&self) -> Vec<Option<Node>> {
        let names = self.environment_names();
        if names.is_empty() {
            return vec![self.values(&[])];
        }
        names.into_iter().map(|name| self.values(&["environments", name])).collect()
    }

    /// The environments that it declares, sorted.
    pub(super) fn environment_names(&self) -> Vec<&str> {
        let declared = self.layers.iter().flat_map(|layer| layer.get("environments").map_or(&[][..], Node::entries));
        let mut names: Vec<&str> = declared.map(|entry| entry.key.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The values of one environment over those of all.
    fn values(&self, environment: &[&str]) -> Option<Node> {
        if self.has_hidden_lines || self.has_other_values {
            return None;
        }
        let mut merged: Option<Node> = None;
        for (file, layer) in self.layer_files.iter().zip(&self.layers) {
            let of_environment = layer.at(environment).filter(|_| !environment.is_empty());
            if of_environment.is_some_and(|it| it.get("secrets").is_some()) {
                return None;
            }
            let own = of_environment.map_or(&[][..], |it| it.items_at("values"));
            for item in layer.items_at("values").iter().chain(own) {
                let values = self.value(layer, file, item)?;
                merged = Some(merged.map_or_else(|| values.clone(), |merged| merge(&merged, &values)));
            }
        }
        merged
    }

    /// One entry of `values`: written out, or a file of the repository.
    fn value(&self, layer: &Node, file: &str, item: &Node) -> Option<Node> {
        if self.is_conditional(layer.span, item.span) {
            return None;
        }
        if item.as_map().is_some() {
            let text = self.repository.source(item.span.file)?.slice(item.span)?;
            return (!templated_yaml::is_template(text)).then(|| item.clone());
        }
        let named = item.text().filter(|text| !templated_yaml::is_unknown(text) && !text.ends_with(".gotmpl"))?;
        let named = path::join(path::parent(file), named)?;
        let text = self.repository.source(self.repository.id(&named)?)?.text();
        let root = self.repository.documents(&named)?.1.first()?.root.clone();
        root.filter(|_| !templated_yaml::is_template(text))
    }
}
