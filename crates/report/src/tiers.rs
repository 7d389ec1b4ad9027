//! The order that files declare, tier by tier and as a tree.

use std::collections::{BTreeMap, BTreeSet};

use model::{Cluster, ComponentId, Gate, ObjectRef, Role, Stage, TieTarget, WaitsFor};
use run::{Layer, Plan};
use serde::Serialize;

use crate::facts::Facts;

/// Components that are as many declared dependencies away from the beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tier {
    pub areas: Vec<Area>,
}

/// Those of one namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Area {
    pub namespace: String,
    pub members: Vec<TierMember>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TierMember {
    pub object: ObjectRef,
    /// Each with whether only its existence counts.
    pub depends_on: Vec<(ObjectRef, bool)>,
    /// No dependency of that name was read.
    pub unknown: Vec<ObjectRef>,
    pub waits: bool,
    pub suspended: bool,
}

/// One comes after another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Edge {
    pub from: String,
    pub to: String,
}

/// Tiers of what Flux applies, by `dependsOn` alone. What stands in a cycle has none.
pub(crate) fn tiers(cluster: &Cluster) -> Vec<Tier> {
    let is_told = |id: &ComponentId| {
        let component = cluster.component(*id);
        component.stage == Stage::GitOps && component.role != Role::HelmRelease
    };
    let ids: Vec<ComponentId> = cluster.ids().filter(is_told).collect();
    let mut after: BTreeMap<ComponentId, BTreeSet<ComponentId>> = ids.iter().map(|id| (*id, BTreeSet::new())).collect();
    for (from, to) in ties(cluster) {
        if ids.contains(&to)
            && let Some(all) = after.get_mut(&from)
        {
            all.insert(to);
        }
    }
    let mut tiers: Vec<Vec<ComponentId>> = Vec::new();
    let mut done: BTreeSet<ComponentId> = BTreeSet::new();
    loop {
        let next: Vec<ComponentId> = ids
            .iter()
            .copied()
            .filter(|id| !done.contains(id) && after[id].iter().all(|to| done.contains(to)))
            .collect();
        if next.is_empty() {
            break;
        }
        done.extend(&next);
        tiers.push(next);
    }
    tiers.into_iter().map(|ids| tier(cluster, &ids)).collect()
}

fn ties(cluster: &Cluster) -> impl Iterator<Item = (ComponentId, ComponentId)> + '_ {
    cluster.ties.iter().filter_map(|tie| match tie.to {
        TieTarget::Component(to) => Some((tie.from, to)),
        TieTarget::Unknown(_) => None,
    })
}

fn tier(cluster: &Cluster, ids: &[ComponentId]) -> Tier {
    let mut areas: BTreeMap<String, Vec<TierMember>> = BTreeMap::new();
    for id in ids {
        let component = cluster.component(*id);
        let own = || cluster.ties.iter().filter(|tie| tie.from == *id);
        let depends_on = own().filter_map(|tie| match tie.to {
            TieTarget::Component(to) => Some((cluster.component(to).object.clone(), tie.waits_for == WaitsFor::Exists)),
            TieTarget::Unknown(_) => None,
        });
        let unknown = own().filter_map(|tie| match &tie.to {
            TieTarget::Unknown(object) => Some(object.clone()),
            TieTarget::Component(_) => None,
        });
        let member = TierMember {
            object: component.object.clone(),
            depends_on: depends_on.collect(),
            unknown: unknown.collect(),
            waits: component.gate == Gate::Healthy,
            suspended: component.suspended.is_some(),
        };
        areas.entry(component.object.namespace.to_string()).or_default().push(member);
    }
    for members in areas.values_mut() {
        members.sort_by(|a, b| a.object.cmp(&b.object));
    }
    Tier { areas: areas.into_iter().map(|(namespace, members)| Area { namespace, members }).collect() }
}

/// Declared edges without those that follow from others.
pub(crate) fn edges(cluster: &Cluster) -> Vec<Edge> {
    let mut to_of: BTreeMap<ComponentId, BTreeSet<ComponentId>> = BTreeMap::new();
    for (from, to) in ties(cluster) {
        to_of.entry(from).or_default().insert(to);
    }
    let mut found = Vec::new();
    for (from, all) in &to_of {
        let follows = |to: &ComponentId| all.iter().any(|other| other != to && leads(&to_of, *other, *to));
        for to in all.iter().filter(|to| !follows(to)) {
            let name = |id: ComponentId| cluster.component(id).object.path();
            found.push(Edge { from: name(*from), to: name(*to) });
        }
    }
    found.sort();
    found.dedup();
    found.retain(|edge| edge.from != edge.to);
    found
}

fn leads(to_of: &BTreeMap<ComponentId, BTreeSet<ComponentId>>, from: ComponentId, wanted: ComponentId) -> bool {
    let (mut seen, mut next) = (BTreeSet::from([from]), vec![from]);
    while let Some(at) = next.pop() {
        if at == wanted {
            return true;
        }
        next.extend(to_of.get(&at).into_iter().flatten().copied().filter(|to| seen.insert(*to)));
    }
    false
}

/// The stages below Flux, and what Flux applies, each after what it waits for.
pub(crate) fn tree(facts: &Facts<'_>) -> Vec<Edge> {
    let Some(plan) = facts.plan else { return edges(facts.cluster) };
    let mut found = stage_edges(facts, plan);
    let top: BTreeSet<String> = facts
        .cluster
        .ids()
        .filter(|id| facts.cluster.component(*id).role == Role::Kustomization)
        .map(|id| facts.cluster.component(id).object.path())
        .collect();
    let declared: Vec<Edge> = edges(facts.cluster).into_iter().filter(|edge| top.contains(&edge.from)).collect();
    // What waits for nothing is applied as soon as Flux runs.
    let depend: BTreeSet<&str> = declared.iter().map(|edge| edge.from.as_str()).collect();
    let others = top.iter().filter(|name| !depend.contains(name.as_str()));
    let controllers: Vec<&str> = facts.cluster.facts.flux_controllers.iter().map(AsRef::<str>::as_ref).collect();
    let applies = if controllers.contains(&APPLIES) { APPLIES } else { FLUX };
    found.extend(others.map(|name| Edge { from: name.clone(), to: applies.to_owned() }));
    found.extend(controller_edges(&controllers));
    found.extend(declared.iter().cloned());
    found
}

const FLUX: &str = "Flux";
/// Fetches what the others apply.
const FETCHES: &str = "source-controller";
/// Applies Kustomizations.
const APPLIES: &str = "kustomize-controller";

/// Flux's controllers: what fetches sources, and then those that work with them.
fn controller_edges(controllers: &[&str]) -> Vec<Edge> {
    let fetches = controllers.contains(&FETCHES);
    let after = |name: &str| if fetches && name != FETCHES { FETCHES } else { FLUX };
    controllers.iter().map(|name| Edge { from: (*name).to_owned(), to: after(name).to_owned() }).collect()
}

/// What Talos runs on every machine, before any pod has a network.
const TALOS: &str = "Talos";
const CONTROL_PLANE: &str = "control plane: etcd and kube-apiserver";
const RUNTIME: &str = "container runtime: containerd and kubelet";

/// The steps of the plan before what Flux applies. Where Talos runs on the machines, what it runs itself stands between them and the
/// pod network.
fn stage_edges(facts: &Facts<'_>, plan: &Plan) -> Vec<Edge> {
    let direct = plan.direct_needs();
    let name = |id: run::StepId| {
        let step = plan.step(id);
        if step.key == "flux/start" { FLUX.to_owned() } else { step.key.clone() }
    };
    let is_told =
        |id: &run::StepId| !matches!(plan.step(*id).layer, Layer::GitOps | Layer::Configuration | Layer::Outside);
    let edge = |from: &str, to: &str| Edge { from: from.to_owned(), to: to.to_owned() };
    let has_talos = facts.has_talos();
    let plans_talos = plan.ids().any(|id| plan.step(id).layer == Layer::Talos);
    let layer = |id: run::StepId| plan.step(id).layer;
    let mut found = Vec::new();
    for id in plan.ids().filter(is_told) {
        for to in &direct[id.index()] {
            match (layer(id), layer(*to)) {
                // Between the two stands what Talos runs.
                (Layer::Api, Layer::Machines | Layer::Keys) if has_talos && !plans_talos => {
                    found.push(edge(TALOS, &name(*to)));
                }
                (Layer::Network, Layer::Api) if has_talos => found.push(edge(&name(id), RUNTIME)),
                _ => found.push(edge(&name(id), &name(*to))),
            }
        }
        if has_talos && layer(id) == Layer::Api {
            if plans_talos {
                let talos = direct[id.index()].iter().filter(|to| layer(**to) == Layer::Talos);
                found.extend(talos.map(|to| edge(CONTROL_PLANE, &name(*to))));
            } else {
                found.push(edge(CONTROL_PLANE, TALOS));
            }
            found.push(edge(&name(id), CONTROL_PLANE));
            found.push(edge(RUNTIME, CONTROL_PLANE));
        }
    }
    found.sort();
    found.dedup();
    found
}
