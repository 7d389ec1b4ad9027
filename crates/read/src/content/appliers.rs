//! Which of several appliers a component comes with: the first one, and never one that waits for it.
//!
//! Knows needs, offers and ties of one cluster. Does not weigh who of several is the faster one: that is decided only where the first
//! one found could not be it.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Capability, CapabilityKind, Cluster, ComponentId, GIVEN_NAMESPACES, Gate, Need, Phase, TieTarget, WaitsFor,
};

use super::Collector;

/// A release that its own Kustomization waits for, and that another one applies as well, comes with the other one.
pub(super) fn settle(collector: &mut Collector) {
    let also = std::mem::take(&mut collector.assembled.also_applied);
    let cluster = collector.cluster();
    let mut others: BTreeMap<ComponentId, Vec<ComponentId>> = BTreeMap::new();
    for (id, owner) in also {
        others.entry(id).or_default().push(owner);
    }
    if others.is_empty() {
        return;
    }
    let order = Order::of(cluster);
    let free = others.iter().filter_map(|(id, others)| {
        let parent = cluster.component(*id).parent.filter(|parent| order.waits(*parent, *id))?;
        let mut others = others.iter().filter(|other| **other != parent && is_running(cluster, **other));
        others.find(|other| !order.waits(**other, *id)).map(|other| (*id, *other))
    });
    for (id, other) in free.collect::<Vec<_>>() {
        cluster.components[id.index()].parent = Some(other);
    }
}

fn is_running(cluster: &Cluster, id: ComponentId) -> bool {
    cluster.component(id).suspended.is_none() && cluster.broken.iter().all(|broken| broken.component != id)
}

/// What must be there before a component has applied its objects, for certain.
struct Order {
    before: BTreeMap<ComponentId, BTreeSet<ComponentId>>,
}

impl Order {
    fn of(cluster: &Cluster) -> Self {
        let mut before: BTreeMap<ComponentId, BTreeSet<ComponentId>> = BTreeMap::new();
        let mut children: BTreeMap<ComponentId, Vec<ComponentId>> = BTreeMap::new();
        for id in cluster.ids() {
            if let Some(parent) = cluster.component(id).parent {
                before.entry(id).or_default().insert(parent);
                children.entry(parent).or_default().push(id);
            }
        }
        for tie in cluster.ties.iter().filter(|tie| tie.waits_for == WaitsFor::Done) {
            let TieTarget::Component(to) = tie.to else { continue };
            let is_healthy = cluster.component(to).gate == Gate::Healthy;
            let awaited = children.get(&to).filter(|_| is_healthy).into_iter().flatten();
            before.entry(tie.from).or_default().extend(awaited.chain([&to]));
        }
        let mut offered: BTreeMap<&Capability, BTreeSet<ComponentId>> = BTreeMap::new();
        for offer in &cluster.offers {
            offered.entry(&offer.capability).or_default().insert(offer.by);
        }
        for need in cluster.needs.iter().filter(|need| is_binding(cluster, need)) {
            let group = need.capability.name.split_once('/').map(|(group, _)| Capability::crd(group, "*"));
            let named = [Some(&need.capability), group.as_ref()].into_iter().flatten();
            let by: BTreeSet<ComponentId> = named.filter_map(|it| offered.get(it)).flatten().copied().collect();
            if by.len() == 1 && !by.contains(&need.of) {
                before.entry(need.of).or_default().extend(by);
            }
        }
        Self { before }
    }

    /// Whether one component has applied nothing before another has begun.
    fn waits(&self, from: ComponentId, to: ComponentId) -> bool {
        let (mut seen, mut next) = (BTreeSet::from([from]), vec![from]);
        while let Some(at) = next.pop() {
            if at == to {
                return true;
            }
            next.extend(self.before.get(&at).into_iter().flatten().copied().filter(|id| seen.insert(*id)));
        }
        false
    }
}

/// Needs without which a component applies nothing at all.
fn is_binding(cluster: &Cluster, need: &Need) -> bool {
    let is_certain = match need.capability.kind {
        CapabilityKind::Crd => true,
        CapabilityKind::Namespace => !GIVEN_NAMESPACES.contains(&need.capability.name.as_str()),
        _ => false,
    };
    // A missing CRD takes the whole stage of an apply down, however soft the kind. A chart may look before it renders.
    let may_do_without = need.soft && cluster.component(need.of).behaviour.is_release();
    is_certain && !may_do_without && !need.optional && matches!(need.phase, Phase::Build | Phase::Apply)
}
