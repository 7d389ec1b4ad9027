//! Which offers could meet which need.

use std::collections::BTreeMap;

use ecow::EcoString;
use model::{Capability, CapabilityKind, Cluster, GIVEN_NAMESPACES};

/// Needs and offers by what they are about. Offers are indices into [`Cluster::offers`].
#[derive(Debug)]
pub struct Links {
    by_need: Vec<Vec<usize>>,
}

impl Links {
    pub fn new(cluster: &Cluster) -> Self {
        let mut offers: BTreeMap<&Capability, Vec<usize>> = BTreeMap::new();
        let mut groups: BTreeMap<(CapabilityKind, &str), Vec<usize>> = BTreeMap::new();
        let mut everywhere: BTreeMap<(CapabilityKind, &str), Vec<usize>> = BTreeMap::new();
        for (index, offer) in cluster.offers.iter().enumerate() {
            offers.entry(&offer.capability).or_default().push(index);
            if let Some((group, "*")) = offer.capability.name.split_once('/') {
                groups.entry((offer.capability.kind, group)).or_default().push(index);
            }
            if is_everywhere(&offer.capability) {
                everywhere.entry((offer.capability.kind, &offer.capability.name)).or_default().push(index);
            }
        }
        let open: Vec<usize> =
            (0..cluster.offers.len()).filter(|index| is_open(&cluster.offers[*index].capability)).collect();
        let by_need = cluster
            .needs
            .iter()
            .map(|need| {
                let named = || everywhere.get(&(need.capability.kind, need.capability.name.as_str()));
                let exact = offers.get(&need.capability).or_else(named);
                let group = need.capability.name.split_once('/').map(|(group, _)| group);
                let whole = group.and_then(|group| groups.get(&(need.capability.kind, group)));
                if exact.is_some() || whole.is_some() {
                    return both(cluster, exact, whole);
                }
                open.iter()
                    .copied()
                    .filter(|offer| fits(&cluster.offers[*offer].capability, &need.capability))
                    .collect()
            })
            .collect();
        Self { by_need }
    }

    /// The offers that could meet a need, by indices.
    pub fn offers_for(&self, need: usize) -> &[usize] {
        &self.by_need[need]
    }
}

/// Those that name it and those that bring its whole group: whoever is known less exactly brings it all the same.
fn both(cluster: &Cluster, exact: Option<&Vec<usize>>, whole: Option<&Vec<usize>>) -> Vec<usize> {
    let mut found: Vec<usize> = exact.cloned().unwrap_or_default();
    let named: Vec<_> = found.iter().map(|offer| cluster.offers[*offer].by).collect();
    found.extend(whole.into_iter().flatten().filter(|offer| !named.contains(&cluster.offers[**offer].by)));
    found
}

/// Offers of labels and drivers whose names have a part that the cluster decides: `*.rbd.csi.ceph.com`; and of what a script
/// makes under a name of which a variable decides a part.
fn is_open(offer: &Capability) -> bool {
    let may_be = matches!(
        offer.kind,
        CapabilityKind::NodeLabel
            | CapabilityKind::CsiDriver
            | CapabilityKind::Device
            | CapabilityKind::Secret
            | CapabilityKind::ConfigMap
            | CapabilityKind::Namespace
    );
    may_be && offer.name.contains('*')
}

/// What a cluster-wide object makes in the namespaces that it chooses: a ClusterExternalSecret its Secrets.
fn is_everywhere(offer: &Capability) -> bool {
    matches!(offer.kind, CapabilityKind::Secret | CapabilityKind::ConfigMap) && offer.namespace.is_empty()
}

fn fits(offer: &Capability, need: &Capability) -> bool {
    offer.kind == need.kind && offer.namespace == need.namespace && offer.means(&need.name)
}

/// What is there in every cluster before anything is applied.
pub fn is_given(cluster: &Cluster, capability: &Capability) -> bool {
    const PRIORITY_CLASSES: [&str; 2] = ["system-cluster-critical", "system-node-critical"];
    let name: &EcoString = &capability.name;
    match capability.kind {
        // Whatever Flux applies first, Flux is there, and its namespace with it; and the source of that.
        CapabilityKind::Namespace => {
            GIVEN_NAMESPACES.contains(&name.as_str())
                || cluster.components.first().is_some_and(|it| it.object.namespace == *name)
                || cluster.facts.source_namespace.as_ref() == Some(name)
        }
        CapabilityKind::PriorityClass => PRIORITY_CLASSES.contains(&name.as_str()),
        CapabilityKind::Service => *name == "kubernetes" && capability.namespace == "default",
        CapabilityKind::ServiceAccount => *name == "default",
        CapabilityKind::ConfigMap => *name == "kube-root-ca.crt",
        _ => false,
    }
}
