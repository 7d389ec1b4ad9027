//! What to look at, layer by layer, by the names that the repository gives things.

use std::collections::BTreeSet;

use model::{Brings, CapabilityKind, Component, Doing, ObjectRef, Role, Stage};
use serde::Serialize;

use crate::facts::Facts;

/// Names in one command.
const NAMES_MAX: usize = 12;

/// Something that shows whether a layer is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "check")]
pub enum Check {
    Talos {
        addresses: Vec<String>,
    },
    Nodes,
    /// The agent of the pod network.
    Network {
        daemon_set: String,
    },
    Dns,
    /// The pods of a release that others can't do without.
    Release {
        namespace: String,
        name: String,
    },
    Flux,
    Kustomizations {
        namespaces: Vec<String>,
    },
    NotReady,
    StorageClasses {
        names: Vec<String>,
    },
    CsiDrivers,
    /// Custom resources by their kind and names; without a namespace those of the whole cluster.
    Objects {
        kind: String,
        namespace: String,
        names: Vec<String>,
    },
    Outside {
        url: String,
    },
}

pub(crate) fn checks(facts: &Facts<'_>) -> Vec<Check> {
    let cluster = facts.cluster;
    let mut found = Vec::new();
    let machines = facts.inventory.groups.first().map(|group| group.machines.as_slice()).unwrap_or_default();
    let addresses: Vec<String> = machines.iter().filter_map(|machine| machine.address.clone()).collect();
    if !addresses.is_empty() {
        found.push(Check::Talos { addresses });
    }
    found.push(Check::Nodes);
    let agents = cluster.facts.boot.steps.iter().filter_map(|step| match &step.does {
        Doing::Installs { release, brings: Brings::PodNetwork { unavailable_max: Some(_) } } => {
            Some(release.to_string())
        }
        _ => None,
    });
    let agents: BTreeSet<String> = agents.collect();
    found.extend(agents.into_iter().map(|daemon_set| Check::Network { daemon_set }));
    let offers = |kind: CapabilityKind| cluster.offers.iter().any(|offer| offer.capability.kind == kind);
    if offers(CapabilityKind::ClusterDns) {
        found.push(Check::Dns);
    }
    // What Flux does not start without is looked at before Flux.
    let critical: Vec<&Component> = facts.critical.iter().map(|(critical, _)| cluster.component(critical.id)).collect();
    let is_network = |component: &&&Component| {
        let of = |offer: &&model::Offer| offer.capability.kind == CapabilityKind::PodNetwork;
        cluster.offers.iter().filter(of).any(|offer| cluster.component(offer.by).object == component.object)
    };
    let release = |component: &&Component| {
        let namespace = component.target_namespace.as_ref().unwrap_or(&component.object.namespace).to_string();
        Check::Release { namespace, name: component.object.name.to_string() }
    };
    let is_early = |component: &&&Component| {
        matches!(component.role, Role::Bootstrap(step) if step.is_release()) && !is_network(component)
    };
    found.extend(critical.iter().filter(is_early).map(release));
    found.push(Check::Flux);
    let of_flux = cluster.components.iter().filter(|it| it.stage == Stage::GitOps && it.role == Role::Kustomization);
    let namespaces: BTreeSet<String> = of_flux.map(|it| it.object.namespace.to_string()).collect();
    found.push(Check::Kustomizations { namespaces: namespaces.into_iter().collect() });
    found.push(Check::NotReady);
    let is_late = |component: &&&Component| component.role == Role::HelmRelease && !is_network(component);
    for check in critical.iter().filter(is_late).map(release) {
        if !found.contains(&check) {
            found.push(check);
        }
    }
    let names = |kind: CapabilityKind| -> Vec<String> {
        let offers = cluster.offers.iter().filter(|offer| offer.capability.kind == kind);
        let names: BTreeSet<String> = offers.map(|offer| offer.capability.name.to_string()).collect();
        names.into_iter().filter(|name| !name.contains('*')).take(NAMES_MAX).collect()
    };
    let classes = names(CapabilityKind::StorageClass);
    if !classes.is_empty() {
        found.push(Check::StorageClasses { names: classes });
        found.push(Check::CsiDrivers);
    }
    found.extend(objects(facts));
    let outside = facts.plan.into_iter().flat_map(|plan| &plan.steps).filter_map(|step| match &step.proof {
        run::Proof::Answers { url } => Some(Check::Outside { url: url.clone() }),
        _ => None,
    });
    found.extend(outside);
    found
}

/// Stores and issuers that something needs.
fn objects(facts: &Facts<'_>) -> Vec<Check> {
    let kinds = [CapabilityKind::SecretStore, CapabilityKind::Issuer, CapabilityKind::Gateway];
    let offers = facts.cluster.offers.iter().filter(|offer| kinds.contains(&offer.capability.kind));
    let mut found: Vec<Check> = Vec::new();
    let objects: BTreeSet<&ObjectRef> = offers.map(|offer| &offer.object).collect();
    for object in objects {
        let (of_kind, of_namespace) = (object.kind.to_string(), object.namespace.to_string());
        match found.last_mut() {
            Some(Check::Objects { kind, namespace, names })
                if *kind == of_kind && *namespace == of_namespace && names.len() < NAMES_MAX =>
            {
                names.push(object.name.to_string());
            }
            _ => found.push(Check::Objects {
                kind: of_kind,
                namespace: of_namespace,
                names: vec![object.name.to_string()],
            }),
        }
    }
    found
}
