//! `needs` that name nothing. Helmfile refuses a file with one of them, whatever selectors it is called with.
//!
//! A name alone means the namespace of the release that needs it. Where a template may decide a name, nothing is said.

use model::BootstrapStep;
use source::Span;
use yaml::{EcoString, Node};

use super::release::{Context, Found, is_one_word};
use crate::templated_yaml;

impl Context<'_> {
    /// Notes the `needs` of releases that no release of the same helmfile meets.
    pub(super) fn note_undefined(&self, root: &Node, found: &mut [Found]) {
        if !self.has_all_releases(root, found) {
            return;
        }
        let own = found.iter().map(|found| (found.release.name.clone(), found.namespace.clone()));
        let bases = self.layers.split_last().map_or(&[][..], |(_, bases)| bases);
        let others = bases.iter().flat_map(|base| base.items_at("releases"));
        // What bases list is replaced by the helmfile's own list. Not everybody knows that, so it is not called a mistake.
        let others = others.filter_map(|release| Some((EcoString::from(release.text_at(&["name"])?), None)));
        let defined: Vec<(EcoString, Option<EcoString>)> = own.chain(others).collect();
        for found in found {
            let needs = found.release.needs.iter().filter(|(_, at)| !self.is_conditional(start_of(*at), *at));
            let undefined = needs.filter_map(|(need, at)| {
                let (namespace, name) = meant(need, found.namespace.as_ref())?;
                let is_it = |(other, home): &(EcoString, Option<EcoString>)| {
                    *other == name && home.as_ref().is_none_or(|home| *home == namespace)
                };
                (!defined.iter().any(is_it)).then(|| (BootstrapStep::Release.object(namespace, name), *at))
            });
            found.release.undefined_needs = undefined.collect();
        }
    }

    /// Whether the releases are all that helmfile sees, under the names that it gives them.
    fn has_all_releases(&self, root: &Node, found: &[Found]) -> bool {
        let is_renamed = |layer: &Node| {
            let holders = layer.items_at("releases").iter().chain(layer.get("helmDefaults"));
            let templates = layer.get("templates").map_or(&[][..], Node::entries).iter().map(|entry| &entry.value);
            layer.get("namespace").is_some() || holders.chain(templates).any(|it| it.get("kubeContext").is_some())
        };
        self.has_all_bases
            && root.items_at("releases").len() == found.len()
            && found.iter().all(|found| is_one_word(&found.release.name))
            && !self.has_hidden_lines
            && !self.layers.iter().any(is_renamed)
    }
}

/// The namespace and name that an entry of `needs` means.
fn meant(need: &str, own_namespace: Option<&EcoString>) -> Option<(EcoString, EcoString)> {
    if templated_yaml::is_unknown(need) || !is_one_word(need) {
        return None;
    }
    match need.split('/').collect::<Vec<_>>()[..] {
        [name] => Some((own_namespace?.clone(), name.into())),
        [namespace, name] => Some((namespace.into(), name.into())),
        // The context of another cluster comes first.
        _ => None,
    }
}

fn start_of(at: Span) -> Span {
    Span::new(at.file, 0, 0)
}
