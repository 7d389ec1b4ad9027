//! Where offers and needs are gathered: one of each for a component and a capability, the first place kept.

use std::collections::{BTreeMap, BTreeSet};

use ecow::EcoString;
use model::{Arrival, Capability, CapabilityKind, Cluster, ComponentId, Need, ObjectRef, Offer, Phase};
use yaml::Span;

use crate::flux::Assembled;

pub(crate) struct Sink {
    pub(crate) assembled: Assembled,
    offered: BTreeSet<(Capability, ComponentId)>,
    needed: BTreeMap<(ComponentId, Capability), usize>,
    /// Host names met on the way, resolved when all Services are known.
    pub(crate) hosts: Vec<Host>,
    /// The release that runs what a Kustomization configures, if it has just the one kind of workload.
    workloads: BTreeMap<ComponentId, ComponentId>,
    /// Sources that whoever starts the cluster makes.
    pub(crate) given: BTreeSet<ObjectRef>,
    /// Releases whose charts were rendered, and whether with all their values.
    pub(crate) rendered: BTreeMap<ComponentId, bool>,
    /// Releases whose charts are here and could not be rendered: said already.
    pub(crate) unrendered: BTreeSet<ComponentId>,
}

/// A host name in some text.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) of: ComponentId,
    pub(crate) object: ObjectRef,
    pub(crate) name: EcoString,
    pub(crate) namespace: EcoString,
    pub(crate) at: Span,
    pub(crate) phase: Phase,
}

/// Who needs something, and how it is said.
#[derive(Clone, Debug)]
pub(crate) struct Needing<'a> {
    pub(crate) of: ComponentId,
    pub(crate) object: &'a ObjectRef,
    pub(crate) phase: Phase,
    pub(crate) soft: bool,
    pub(crate) optional: bool,
}

impl Sink {
    pub(crate) fn new(assembled: Assembled) -> Self {
        let mut workloads = BTreeMap::new();
        for (id, _) in &assembled.releases {
            if let Some(parent) = assembled.cluster.component(*id).parent {
                workloads.entry(parent).or_insert(*id);
            }
        }
        Self {
            assembled,
            offered: BTreeSet::new(),
            needed: BTreeMap::new(),
            hosts: Vec::new(),
            workloads,
            given: BTreeSet::new(),
            rendered: BTreeMap::new(),
            unrendered: BTreeSet::new(),
        }
    }

    pub(crate) fn cluster(&mut self) -> &mut Cluster {
        &mut self.assembled.cluster
    }

    /// Who waits for what a Kustomization's configuration makes: its release, else the Kustomization itself.
    pub(crate) fn workload(&self, component: ComponentId) -> ComponentId {
        self.workloads.get(&component).copied().unwrap_or(component)
    }

    pub(crate) fn offer(
        &mut self,
        by: ComponentId,
        capability: Capability,
        arrival: Arrival,
        object: &ObjectRef,
        at: Span,
    ) {
        if self.offered.insert((capability.clone(), by)) {
            self.assembled.cluster.offers.push(Offer { by, capability, arrival, object: object.clone(), at });
        }
    }

    pub(crate) fn is_offered_by(&self, capability: &Capability, by: ComponentId) -> bool {
        self.offered.contains(&(capability.clone(), by))
    }

    pub(crate) fn is_offered(&self, capability: &Capability) -> bool {
        let from = (capability.clone(), ComponentId(0));
        self.offered.range(from..).next().is_some_and(|(offered, _)| offered == capability)
    }

    pub(crate) fn need(&mut self, needing: &Needing<'_>, capability: Capability, at: Span, why: impl Into<EcoString>) {
        if capability.name.contains("${") || (capability.name.is_empty() && is_named(capability.kind)) {
            return;
        }
        let need = Need {
            of: needing.of,
            capability: capability.clone(),
            phase: needing.phase,
            soft: needing.soft,
            object: needing.object.clone(),
            at,
            why: why.into(),
            optional: needing.optional,
        };
        let needs = &mut self.assembled.cluster.needs;
        if let Some(index) = self.needed.get(&(needing.of, capability.clone())) {
            // The need that is felt first is the one that counts.
            let known = &mut needs[*index];
            if (need.optional, need.soft, need.phase) < (known.optional, known.soft, known.phase) {
                *known = need;
            }
        } else {
            self.needed.insert((needing.of, capability), needs.len());
            needs.push(need);
        }
    }

    pub(crate) fn finish(self) -> Cluster {
        let mut cluster = self.assembled.cluster;
        cluster.blind.sort();
        cluster.blind.dedup();
        cluster
    }
}

/// Kinds of which there are many: without a name the need says nothing.
fn is_named(kind: CapabilityKind) -> bool {
    !matches!(
        kind,
        CapabilityKind::PodNetwork
            | CapabilityKind::ClusterDns
            | CapabilityKind::LoadBalancer
            | CapabilityKind::NodeInitialized
            | CapabilityKind::SnapshotController
            | CapabilityKind::MetricsApi
            | CapabilityKind::SealingKey
    )
}
