//! `postBuild`: which variables a Kustomization uses, and who sets them.

use std::collections::BTreeSet;

use read::rendered::Applier;
use yaml::{Budget, Node};

use super::builder::Builder;
use crate::blueprint::{Id, ThingRole, Variables};

/// Sources of variables that are told apart.
const SOURCES_MAX: usize = 63;
/// The Kustomization sets it itself.
const ALWAYS: u64 = u64::MAX;

impl Builder<'_> {
    pub(crate) fn variables(&mut self, applier: &Applier, is_strict: bool) -> Variables {
        let namespace = applier.object.namespace.clone();
        let post_build = applier.node.as_ref().and_then(|node| node.at(&["spec", "postBuild"])).cloned();
        let mut variables = Variables { key: self.decryption_key(applier), ..Variables::default() };
        let Some(post_build) = post_build else { return variables };
        let own: BTreeSet<&str> = post_build
            .get("substitute")
            .map(Node::entries)
            .unwrap_or_default()
            .iter()
            .map(|entry| entry.key.as_str())
            .collect();
        variables.has_own = !own.is_empty() || post_build.text_at(&["substituteStrategy"]) == Some("Always");
        let mut keys: Vec<Option<BTreeSet<String>>> = Vec::new();
        // What is made elsewhere may set anything: not seen is not unset.
        let mut is_unseen = false;
        for from in post_build.items_at("substituteFrom").iter().take(SOURCES_MAX) {
            let text = |key: &str| from.get(key).and_then(Node::text).unwrap_or_default();
            let id = self.thing("v1", text("kind"), &namespace, text("name"));
            variables.from.push((id, from.get("optional").and_then(Node::as_bool) == Some(true)));
            let known = self.keys(id);
            is_unseen |= known.is_none() && !self.provided.contains(&id);
            keys.push(known);
        }
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut budget = Budget::of_build();
        for node in &applier.unsubstituted {
            if read::substitute::is_disabled(node) {
                continue;
            }
            let used = read::substitute::substitute_node(&mut node.clone(), &|_| None, &mut budget).unwrap_or_default();
            names.extend(used.into_iter().map(|used| used.name.to_string()));
        }
        // An older Flux puts an empty text in their place.
        for name in names.into_iter().filter(|_| is_strict) {
            let sets = |keys: &Option<BTreeSet<String>>| keys.as_ref().is_none_or(|keys| keys.contains(&name));
            let bits = if is_unseen || own.contains(name.as_str()) {
                ALWAYS
            } else {
                keys.iter().enumerate().filter(|(_, keys)| sets(keys)).fold(0, |bits, (at, _)| bits | 1 << at)
            };
            let text = self.text(name.clone());
            variables.used.push((text, bits));
        }
        variables
    }

    /// The keys of a ConfigMap or Secret that a file holds; nothing where a controller makes it, or somebody elsewhere.
    fn keys(&self, id: Id) -> Option<BTreeSet<String>> {
        let node = self.nodes.get(&id)?;
        let mut keys = BTreeSet::new();
        let mut add = |map: Option<&Node>| {
            for entry in map.map(Node::entries).unwrap_or_default() {
                keys.insert(entry.key.to_string());
            }
        };
        if matches!(self.out.role(id), ThingRole::Plain) {
            add(node.get("data"));
            add(node.get("stringData"));
            return (!keys.is_empty()).then_some(keys);
        }
        None
    }

    fn decryption_key(&mut self, applier: &Applier) -> Option<Id> {
        let name = applier.node.as_ref()?.text_at(&["spec", "decryption", "secretRef", "name"])?.to_owned();
        let id = self.find("", "Secret", &applier.object.namespace, &name)?;
        self.provided.contains(&id).then_some(id)
    }
}
