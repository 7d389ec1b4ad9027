//! The parts of a bootstrap, and which of them come first.

use std::collections::BTreeSet;

use model::{CapabilityKind, Cluster, Component, ComponentId, Done, Stage, TieTarget};

/// Which part of a bootstrap a component is. Each part needs those before it, as far as nothing is declared against that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EarlyPart {
    /// Applied as it is before anything is installed.
    Seed,
    /// Gives the pod network.
    Network,
    Release,
    /// Flux itself, or the operator that installs it: last, because Flux applies everything as soon as it runs.
    Flux,
}

/// The part of each component; nothing for what Flux applies.
pub fn early_parts(cluster: &Cluster) -> Vec<Option<EarlyPart>> {
    let is_network = |offer: &&model::Offer| offer.capability.kind == CapabilityKind::PodNetwork;
    let network: BTreeSet<ComponentId> = cluster.offers.iter().filter(is_network).map(|offer| offer.by).collect();
    let is_installed = |to: &TieTarget| match to {
        TieTarget::Component(to) => !is_seed(cluster.component(*to)),
        TieTarget::Unknown(_) => false,
    };
    // It comes after something that is installed, not only applied.
    let late: BTreeSet<ComponentId> =
        cluster.ties.iter().filter(|tie| is_installed(&tie.to)).map(|tie| tie.from).collect();
    let part = |id: ComponentId| {
        let component = cluster.component(id);
        if component.stage == Stage::GitOps {
            return None;
        }
        let is_flux = component.known_as.as_deref().is_some_and(|name| name.starts_with("flux"));
        Some(match is_seed(component) {
            true if late.contains(&id) => EarlyPart::Release,
            true => EarlyPart::Seed,
            false if network.contains(&id) => EarlyPart::Network,
            false if is_flux => EarlyPart::Flux,
            false => EarlyPart::Release,
        })
    };
    cluster.ids().map(part).collect()
}

/// Applied as it is, and there when it is.
fn is_seed(component: &Component) -> bool {
    component.stage == Stage::Bootstrap && component.behaviour.done == Done::Accepted
}

/// Releases that an earlier helmfile, or Terraform, has installed: the second installs nothing new.
pub fn repeated(cluster: &Cluster) -> BTreeSet<ComponentId> {
    let mut known = BTreeSet::new();
    let early = cluster.ids().filter(|id| cluster.component(*id).stage == Stage::Bootstrap);
    early.filter(|id| !known.insert(early_key(cluster.component(*id)))).collect()
}

/// What makes two components of a bootstrap one: a release is the same, whatever installs it.
pub fn early_key(component: &Component) -> (&str, &str, &str) {
    let object = &component.object;
    let is_release = component.stage == Stage::Bootstrap && component.behaviour.done == Done::Healthy;
    (if is_release { "" } else { &object.kind }, &object.namespace, &object.name)
}
