//! Where offers and needs are gathered: one of each for a component and a capability, the first place kept.

use std::collections::{BTreeMap, BTreeSet};

use ecow::EcoString;
use model::{
    Arrival, Capability, CapabilityKind, Cluster, ComponentId, MANY_RELEASES_MIN, Need, ObjectRef, Offer, Phase,
    Purpose,
};
use source::Span;
use yaml::{Node, Value};

use crate::flux::Assembled;

pub(crate) struct Collector {
    pub(crate) assembled: Assembled,
    offered: BTreeSet<(Capability, ComponentId)>,
    needed: BTreeMap<(ComponentId, Capability), usize>,
    /// What may name hosts, looked through when all Services are known.
    pub(crate) talks: Vec<Talk>,
    /// StorageClasses of those who name none; claims that do not, looked at when all classes are known.
    pub(crate) default_classes: BTreeSet<EcoString>,
    pub(crate) claims: Vec<Claim>,
    /// Services of type LoadBalancer, looked at when all that gives them addresses is known.
    pub(crate) balanced: Vec<Claim>,
    /// Databases by what they speak: who brings one, and a Service of it.
    databases: BTreeMap<EcoString, Vec<(ComponentId, Capability)>>,
    /// The release that runs what a Kustomization configures, if it has just the one kind of workload.
    workloads: BTreeMap<ComponentId, ComponentId>,
    /// For a Kustomization that applies several releases: the first of them whose values hold a short text, by that text.
    many: BTreeMap<ComponentId, BTreeMap<EcoString, ComponentId>>,
    /// Sources that whoever starts the cluster makes.
    pub(crate) given: BTreeSet<ObjectRef>,
    /// Releases whose charts were rendered, and whether with all their values.
    pub(crate) rendered: BTreeMap<ComponentId, bool>,
    /// Releases whose charts are here and could not be rendered: said already.
    pub(crate) unrendered: BTreeSet<ComponentId>,
    /// Releases of charts that are neither here nor in the catalogue, with the chart's name.
    pub(crate) unseen: Vec<(ComponentId, EcoString)>,
}

/// Values that tell somebody whom to talk to.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    pub(crate) of: ComponentId,
    pub(crate) object: ObjectRef,
    pub(crate) node: Node,
    pub(crate) phase: Phase,
}

/// Something that asks for what it does not name: a volume without a class, an address for a Service.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) of: ComponentId,
    pub(crate) object: ObjectRef,
    pub(crate) phase: Phase,
    pub(crate) at: Span,
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

impl Collector {
    pub(crate) fn new(assembled: Assembled) -> Self {
        let mut workloads: BTreeMap<ComponentId, ComponentId> = BTreeMap::new();
        let mut many: BTreeMap<ComponentId, BTreeMap<EcoString, ComponentId>> = BTreeMap::new();
        let mut siblings: BTreeMap<ComponentId, usize> = BTreeMap::new();
        let parents = assembled.releases.iter().filter_map(|(id, _)| assembled.cluster.component(*id).parent);
        for parent in parents {
            *siblings.entry(parent).or_default() += 1;
        }
        for (id, release) in &assembled.releases {
            let Some(parent) = assembled.cluster.component(*id).parent else { continue };
            if siblings[&parent] < MANY_RELEASES_MIN {
                workloads.entry(parent).or_insert(*id);
            }
            if siblings[&parent] > 1 {
                let mut names = BTreeSet::from([release.release_name.clone()]);
                if let Some(values) = &release.values {
                    texts(values, &mut names);
                }
                let first = many.entry(parent).or_default();
                for name in names {
                    first.entry(name).or_insert(*id);
                }
            }
        }
        Self {
            assembled,
            offered: BTreeSet::new(),
            needed: BTreeMap::new(),
            talks: Vec::new(),
            default_classes: BTreeSet::new(),
            claims: Vec::new(),
            balanced: Vec::new(),
            databases: BTreeMap::new(),
            workloads,
            many,
            given: BTreeSet::new(),
            rendered: BTreeMap::new(),
            unrendered: BTreeSet::new(),
            unseen: Vec::new(),
        }
    }

    pub(crate) fn cluster(&mut self) -> &mut Cluster {
        &mut self.assembled.cluster
    }

    /// Who waits for what a Kustomization's configuration makes: its release, else the Kustomization itself.
    /// Where it has many releases, the one whose values name the object or what is made of it.
    pub(crate) fn workload(&self, component: ComponentId, node: &Node) -> ComponentId {
        let many = self.many.get(&component);
        let mut names = NAMED_AT.iter().filter_map(|path| node.text_at(path));
        let user = many.and_then(|many| names.find_map(|name| many.get(name).copied()));
        let user = user.or_else(|| self.workloads.get(&component).copied());
        user.unwrap_or(component)
    }

    pub(crate) fn offer(
        &mut self,
        by: ComponentId,
        capability: Capability,
        arrival: Arrival,
        object: &ObjectRef,
        at: Span,
    ) {
        self.add_offer(Offer { by, capability, arrival, object: object.clone(), at, is_guess: false });
    }

    /// An object fills a Secret from a store.
    pub(crate) fn fill(&mut self, object: &ObjectRef, store: &Capability) {
        self.assembled.cluster.fills.push((object.clone(), store.clone()));
    }

    /// What a component from elsewhere brings by all appearances.
    pub(crate) fn guess(&mut self, by: ComponentId, capability: Capability, object: &ObjectRef, at: Span) {
        let arrival = Arrival::Applied;
        self.add_offer(Offer { by, capability, arrival, object: object.clone(), at, is_guess: true });
    }

    fn add_offer(&mut self, offer: Offer) {
        if self.offered.insert((offer.capability.clone(), offer.by)) {
            self.assembled.cluster.offers.push(offer);
        }
    }

    pub(crate) fn is_offered_by(&self, capability: &Capability, by: ComponentId) -> bool {
        self.offered.contains(&(capability.clone(), by))
    }

    pub(crate) fn is_offered(&self, capability: &Capability) -> bool {
        let from = (capability.clone(), ComponentId(0));
        self.offered.range(from..).next().is_some_and(|(offered, _)| offered == capability)
    }

    pub(crate) fn need(&mut self, needing: &Needing<'_>, capability: Capability, at: Span, why: Purpose) {
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
            why,
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

    /// Notes a claim that names no class.
    pub(crate) fn claim(&mut self, needing: &Needing<'_>, at: Span) {
        self.claims.push(Claim { of: needing.of, object: needing.object.clone(), phase: needing.phase, at });
    }

    /// Notes a Service that wants an address from outside.
    pub(crate) fn balanced(&mut self, needing: &Needing<'_>, at: Span) {
        self.balanced.push(Claim { of: needing.of, object: needing.object.clone(), phase: needing.phase, at });
    }

    /// Notes a database that speaks this, behind a Service.
    pub(crate) fn database(&mut self, speaks: &str, by: ComponentId, service: Capability) {
        self.databases.entry(speaks.into()).or_default().push((by, service));
    }

    /// The Service of the one database that speaks this, if one component brings all there are.
    pub(crate) fn only_database(&self, speaks: &str) -> Option<&Capability> {
        let known = self.databases.get(speaks)?;
        let (by, service) = known.first()?;
        known.iter().all(|(other, _)| other == by).then_some(service)
    }

    pub(crate) fn finish(self) -> Cluster {
        let mut cluster = self.assembled.cluster;
        cluster.blind.sort();
        cluster.blind.dedup();
        cluster
    }
}

/// Longer texts name nothing.
const NAME_BYTES_MAX: usize = 253;
/// Where an object says what it, or what is made of it, is called.
const NAMED_AT: [&[&str]; 6] = [
    &["spec", "target", "name"],
    &["spec", "secretName"],
    &["spec", "sourcePVC"],
    &["spec", "restic", "destinationPVC"],
    &["metadata", "name"],
    &["metadata", "labels", "app.kubernetes.io/name"],
];

fn texts(node: &Node, found: &mut BTreeSet<EcoString>) {
    match &node.value {
        Value::Map(map) => map.iter().for_each(|entry| texts(&entry.value, found)),
        Value::Seq(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Scalar(scalar) if scalar.text.len() <= NAME_BYTES_MAX => {
            found.insert(scalar.text.as_str().into());
        }
        Value::Scalar(_) => {}
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
