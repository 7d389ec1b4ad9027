//! Whether each component would come up at a cold start, and what is left of a cold start when some never do.
//!
//! All that a component comes up by is a small logic of ANDs and ORs: its ties, its needs by their phases, what applies it, its gate, its
//! objects. [`crate::Schedule`] gives times to one of several ways; here every way counts, so that a component with two providers stands
//! when it loses one.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Arrival, Capability, CapabilityKind, Cluster, ComponentId, Done, Gate, Need, ObjectRef, Offer, Phase, Purpose,
    Stage, TieTarget, WaitsFor,
};

use crate::linking::{Links, is_given};

/// What keeps a component from coming up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// It is itself what was taken away.
    Itself,
    /// Its dependency is never done.
    Tie { to: ComponentId },
    /// What applies it never applies it.
    Parent { by: ComponentId },
    /// Something that its own readiness looks at.
    Gate { on: ComponentId },
    /// A need, by its place, and the component that would have met it.
    Need { need: usize, by: ComponentId },
    /// Its pods get no network.
    Network { by: ComponentId },
    /// The bootstrap ends before it starts Flux.
    Bootstrap { by: ComponentId },
}

/// What becomes of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It is done, in its tool's own word, and some of what it applied never works.
    Broken,
    /// It is never done.
    NeverDone,
}

type NodeId = usize;

#[derive(Clone, Debug, Default)]
struct Node {
    /// Any of its inputs is enough; else it takes all.
    is_or: bool,
    inputs: Vec<(NodeId, Why)>,
    outputs: Vec<NodeId>,
}

/// Why a node takes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// Another moment of the same.
    Own,
    Missing(Missing),
    /// Another way to the same.
    Way,
}

/// The moments of a component.
const MOMENTS: usize = 5;
const START: usize = 0;
const APPLIED: usize = 1;
/// What readiness looks at is healthy.
const HEALTHY: usize = 2;
const DONE: usize = 3;
/// It does its work: more than any readiness shows.
const WORKS: usize = 4;

/// How a cluster comes up, and what that leaves when something is taken away.
#[derive(Clone, Debug)]
pub struct Standing {
    components: usize,
    nodes: Vec<Node>,
    stands: Vec<bool>,
    /// What stands for an offer's being there, by its place in [`Cluster::offers`].
    offers: BTreeMap<usize, Vec<NodeId>>,
    /// That a webhook answers, by the component that registers it.
    webhooks: Vec<(NodeId, ComponentId)>,
}

/// What is taken away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    pub components: BTreeSet<ComponentId>,
    /// Single offers, by their places in [`Cluster::offers`].
    pub offers: BTreeSet<usize>,
}

/// What a cold start is without some components.
#[derive(Clone, Debug, Default)]
pub struct Lost {
    /// Those that would come up otherwise, and do not, with the first reason; what was taken away is among them.
    pub components: BTreeMap<ComponentId, (Fate, Missing)>,
}

impl Standing {
    pub fn new(cluster: &Cluster, links: &Links) -> Self {
        let mut builder = Builder::new(cluster, links);
        builder.lives();
        builder.ties();
        builder.gates();
        builder.needs();
        builder.network();
        builder.stages();
        let Builder { mut nodes, offers, webhooks, .. } = builder;
        for at in 0..nodes.len() {
            for (input, _) in nodes[at].inputs.clone() {
                nodes[input].outputs.push(at);
            }
        }
        let all: BTreeSet<NodeId> = (0..nodes.len()).collect();
        let mut standing =
            Self { components: cluster.components.len(), stands: vec![false; nodes.len()], nodes, offers, webhooks };
        standing.raise(&all);
        standing
    }

    /// Whether a component would be done.
    pub fn is_done(&self, id: ComponentId) -> bool {
        self.stands[node(id, DONE)]
    }

    /// What keeps a component from being done though nothing was taken away.
    pub fn hindered_by(&self, id: ComponentId) -> Option<Missing> {
        let (mut seen, mut last) = (BTreeSet::new(), None);
        let mut next = vec![node(id, DONE)];
        while let Some(at) = next.pop() {
            if self.stands[at] || !seen.insert(at) {
                continue;
            }
            for (input, why) in self.nodes[at].inputs.iter().filter(|(input, _)| !self.stands[*input]) {
                if let Why::Missing(missing @ Missing::Need { .. }) = why {
                    last = Some(*missing);
                }
                next.push(*input);
            }
        }
        last
    }

    /// Makes what can stand among these stand, given the others: the least of what the ways allow, so that a cycle holds up nothing.
    fn raise(&mut self, among: &BTreeSet<NodeId>) -> Vec<NodeId> {
        let mut raised = Vec::new();
        let mut next: Vec<NodeId> = among.iter().rev().copied().collect();
        while let Some(at) = next.pop() {
            if self.stands[at] || !among.contains(&at) {
                continue;
            }
            let node = &self.nodes[at];
            let mut inputs = node.inputs.iter().map(|(input, _)| self.stands[*input]);
            let holds = if node.is_or { inputs.any(|stands| stands) } else { inputs.all(|stands| stands) };
            if holds {
                self.stands[at] = true;
                raised.push(at);
                next.extend(self.nodes[at].outputs.iter().copied());
            }
        }
        raised
    }

    /// What does not come up when these never do.
    #[must_use]
    pub fn without(&self, taken: &Taken) -> Lost {
        let of_components = taken.components.iter().flat_map(|id| (0..MOMENTS).map(|moment| node(*id, moment)));
        let of_offers = taken.offers.iter().flat_map(|offer| self.offers.get(offer).into_iter().flatten().copied());
        let mut never: BTreeSet<NodeId> = of_components.chain(of_offers).collect();
        loop {
            let after = self.fallen(&never);
            // A webhook that is registered and does not answer rejects; one that is not registered is not asked.
            let silent = |(at, by): &&(NodeId, ComponentId)| {
                let is_silent = after.stands[node(*by, APPLIED)] && !after.stands[node(*by, HEALTHY)];
                is_silent && self.stands[node(*by, HEALTHY)] && !never.contains(at)
            };
            let more: Vec<NodeId> = self.webhooks.iter().filter(silent).map(|(at, _)| *at).collect();
            if more.is_empty() {
                return self.lost(&after, &taken.components);
            }
            never.extend(more);
        }
    }

    /// The same when these nodes never stand.
    fn fallen(&self, never: &BTreeSet<NodeId>) -> Self {
        // Everything that one way led to falls first, and what another way still holds up is raised again.
        let mut fallen: BTreeSet<NodeId> = BTreeSet::new();
        let mut next: Vec<NodeId> = never.iter().copied().collect();
        while let Some(at) = next.pop() {
            if self.stands[at] && fallen.insert(at) {
                next.extend(self.nodes[at].outputs.iter().copied());
            }
        }
        let mut after = self.clone();
        for at in &fallen {
            after.stands[*at] = false;
        }
        let among: BTreeSet<NodeId> = fallen.difference(never).copied().collect();
        after.raise(&among);
        after
    }

    fn lost(&self, after: &Self, taken: &BTreeSet<ComponentId>) -> Lost {
        let mut lost = Lost::default();
        for index in 0..self.components {
            let id = ComponentId(source::to_u32(index));
            let fell = |moment: usize| self.stands[node(id, moment)] && !after.stands[node(id, moment)];
            let fate = match (fell(DONE), fell(WORKS)) {
                (true, _) => Fate::NeverDone,
                (false, true) => Fate::Broken,
                (false, false) => continue,
            };
            let why = if taken.contains(&id) { Missing::Itself } else { self.reason(after, id) };
            lost.components.insert(id, (fate, why));
        }
        lost
    }

    /// The first thing that is missing, in the order in which a component comes up.
    fn reason(&self, after: &Self, id: ComponentId) -> Missing {
        let mut seen = BTreeSet::new();
        let mut next: Vec<NodeId> = (0..MOMENTS).map(|moment| node(id, moment)).rev().collect();
        while let Some(at) = next.pop() {
            if !seen.insert(at) || !self.stands[at] || after.stands[at] {
                continue;
            }
            for (input, why) in &self.nodes[at].inputs {
                let fell = self.stands[*input] && !after.stands[*input];
                match why {
                    Why::Missing(missing) if fell => return *missing,
                    _ if fell => next.push(*input),
                    _ => {}
                }
            }
        }
        Missing::Itself
    }
}

fn node(id: ComponentId, moment: usize) -> NodeId {
    id.index() * MOMENTS + moment
}

struct Builder<'a> {
    cluster: &'a Cluster,
    links: &'a Links,
    nodes: Vec<Node>,
    offers: BTreeMap<usize, Vec<NodeId>>,
    webhooks: Vec<(NodeId, ComponentId)>,
    /// An object is healthy, by the component that applies it.
    objects: BTreeMap<(ComponentId, &'a ObjectRef), NodeId>,
    /// Needs that objects are not healthy without, by object.
    by_object: BTreeMap<&'a ObjectRef, Vec<usize>>,
    met: BTreeMap<(&'a Capability, bool), NodeId>,
    /// The component that applies an object which offers or needs something.
    owners: BTreeMap<&'a ObjectRef, ComponentId>,
}

impl<'a> Builder<'a> {
    fn new(cluster: &'a Cluster, links: &'a Links) -> Self {
        let mut by_object: BTreeMap<&ObjectRef, Vec<usize>> = BTreeMap::new();
        for (index, need) in cluster.needs.iter().enumerate().filter(|(_, need)| is_hard(need)) {
            if matches!(need.phase, Phase::Ready | Phase::Run) {
                by_object.entry(&need.object).or_default().push(index);
            }
        }
        let of_offers = cluster.offers.iter().map(|offer| (&offer.object, offer.by));
        let of_needs = cluster.needs.iter().map(|need| (&need.object, need.of));
        Self {
            cluster,
            links,
            nodes: vec![Node::default(); cluster.components.len() * MOMENTS],
            offers: BTreeMap::new(),
            webhooks: Vec::new(),
            objects: BTreeMap::new(),
            by_object,
            met: BTreeMap::new(),
            owners: of_needs.chain(of_offers).collect(),
        }
    }

    fn another(&mut self, is_or: bool) -> NodeId {
        self.nodes.push(Node { is_or, ..Node::default() });
        self.nodes.len() - 1
    }

    fn takes(&mut self, from: NodeId, to: NodeId, why: Why) {
        self.nodes[from].inputs.push((to, why));
    }

    fn lives(&mut self) {
        for id in self.cluster.ids() {
            let component = self.cluster.component(id);
            self.takes(node(id, APPLIED), node(id, START), Why::Own);
            self.takes(node(id, HEALTHY), node(id, APPLIED), Why::Own);
            self.takes(node(id, DONE), node(id, APPLIED), Why::Own);
            self.takes(node(id, WORKS), node(id, HEALTHY), Why::Own);
            if let Some(parent) = component.parent {
                self.takes(node(id, START), node(parent, APPLIED), Why::Missing(Missing::Parent { by: parent }));
            }
            if component.suspended.is_some() && component.stage == Stage::GitOps {
                // Never begins: an OR without a way.
                let never = self.another(true);
                self.takes(node(id, START), never, Why::Own);
            }
        }
    }

    fn ties(&mut self) {
        for tie in &self.cluster.ties {
            let TieTarget::Component(to) = tie.to else { continue };
            let why = Why::Missing(Missing::Tie { to });
            match (tie.waits_for, self.cluster.component(to).parent) {
                (WaitsFor::Done | WaitsFor::Opaque, _) => self.takes(node(tie.from, START), node(to, DONE), why),
                (WaitsFor::Exists, Some(parent)) => self.takes(node(tie.from, START), node(parent, APPLIED), why),
                (WaitsFor::Exists, None) => {}
            }
        }
    }

    /// What being done takes beside being applied.
    fn gates(&mut self) {
        let cluster = self.cluster;
        let by_object: BTreeMap<&ObjectRef, ComponentId> =
            cluster.ids().map(|id| (&cluster.component(id).object, id)).collect();
        let by_resource: BTreeMap<&ObjectRef, ComponentId> =
            cluster.ids().filter_map(|id| Some((cluster.component(id).resource.as_ref()?, id))).collect();
        for id in cluster.ids() {
            let component = cluster.component(id);
            match (component.behaviour.done, &component.gate) {
                (Done::AsGated, Gate::Healthy) | (Done::Healthy, _) => {
                    self.takes(node(id, DONE), node(id, HEALTHY), Why::Own);
                }
                (Done::AsGated, Gate::Listed(objects)) => {
                    for object in objects {
                        let whole = by_object.get(object).map(|on| (*on, node(*on, DONE)));
                        let whole = whole.or_else(|| by_resource.get(object).map(|on| (*on, node(*on, HEALTHY))));
                        let part = || self.owners.get_key_value(object).map(|(object, on)| (*on, *object));
                        if let Some((on, at)) = whole.filter(|(on, _)| *on != id) {
                            self.takes(node(id, DONE), at, Why::Missing(Missing::Gate { on }));
                        } else if let Some((on, object)) = part() {
                            let at = self.object(on, object);
                            self.takes(node(id, DONE), at, Why::Missing(Missing::Gate { on }));
                        }
                    }
                }
                (Done::WorkloadsHealthy, Gate::Healthy) if component.resource.is_none() => {
                    self.takes(node(id, DONE), node(id, HEALTHY), Why::Own);
                }
                _ => {}
            }
            if let Some(parent) = cluster.part_of(id)
                && cluster.component(parent).gate == Gate::Healthy
            {
                self.takes(node(parent, DONE), node(id, DONE), Why::Missing(Missing::Gate { on: id }));
            }
        }
    }

    fn needs(&mut self) {
        let cluster = self.cluster;
        for (index, need) in cluster.needs.iter().enumerate().filter(|(_, need)| is_hard(need)) {
            let Some((met, by)) = self.met(need, index) else { continue };
            let why = Why::Missing(Missing::Need { need: index, by });
            // A release does not wait for what an object beside it is made of, unless it names what comes of that.
            let owner = self.owner(need);
            // A claim that it names is waited for with its pods.
            let (of, moment) = match need.phase {
                _ if need.capability.kind == CapabilityKind::Source => (need.of, START),
                Phase::Build | Phase::Apply => (need.of, APPLIED),
                // An address is given from outside, when it is.
                Phase::Ready if need.why != Purpose::Address => (owner, HEALTHY),
                Phase::Ready | Phase::Run => (owner, WORKS),
            };
            self.takes(node(of, moment), met, why);
        }
    }

    /// The component that applies the object which has a need.
    fn owner(&self, need: &Need) -> ComponentId {
        let is_claim = need.object.kind == "PersistentVolumeClaim";
        self.owners.get(&need.object).copied().filter(|_| !is_claim).unwrap_or(need.of)
    }

    /// That a need is met, and one component that meets it; nothing where nothing that was read does, or it is there anyway.
    fn met(&mut self, need: &'a Need, index: usize) -> Option<(NodeId, ComponentId)> {
        let cluster = self.cluster;
        let offers = self.links.offers_for(index);
        let first = &cluster.offers[*offers.first()?];
        if is_given(cluster, &need.capability) || offers.iter().any(|offer| cluster.offers[*offer].is_guess) {
            return None;
        }
        // What a component applies itself is there in an earlier stage of the same apply.
        let is_early = |offer: &Offer| matches!(offer.arrival, Arrival::Applied | Arrival::Installed);
        let is_own = |offer: &Offer| {
            let by_applying = matches!(need.phase, Phase::Build | Phase::Apply) || is_early(offer);
            // A chart names the class that it brings, a Certificate the Secret that comes of it.
            offer.object == need.object || offer.by == need.of && by_applying
        };
        if offers.iter().any(|offer| is_own(&cluster.offers[*offer])) {
            return None;
        }
        // Of a class, what makes volumes of it.
        let wants_volumes = matches!(need.why, Purpose::Volumes | Purpose::DefaultVolumes);
        if let Some(known) = self.met.get(&(&need.capability, wants_volumes)) {
            return Some((*known, first.by));
        }
        let met = self.another(true);
        self.met.insert((&need.capability, wants_volumes), met);
        for offer in offers {
            let there = self.there(*offer, wants_volumes);
            self.takes(met, there, Why::Way);
        }
        Some((met, first.by))
    }

    fn there(&mut self, index: usize, makes_volumes: bool) -> NodeId {
        let offer = &self.cluster.offers[index];
        let there = self.another(false);
        self.offers.entry(index).or_default().push(there);
        if offer.capability.kind == CapabilityKind::Webhook {
            self.webhooks.push((there, offer.by));
            return there;
        }
        let is_release = self.cluster.component(offer.by).behaviour.is_release();
        match offer.arrival {
            Arrival::Installed if is_release => self.takes(there, node(offer.by, START), Why::Way),
            Arrival::Applied | Arrival::Installed => {
                self.takes(there, node(offer.by, APPLIED), Why::Way);
                if makes_volumes {
                    let object = self.object(offer.by, &offer.object);
                    self.takes(there, object, Why::Way);
                }
            }
            Arrival::Healthy | Arrival::Reported | Arrival::Unreported => {
                let object = self.object(offer.by, &offer.object);
                self.takes(there, object, Why::Way);
            }
        }
        there
    }

    /// That an object works: its component is applied, and it has what it needs itself.
    fn object(&mut self, by: ComponentId, object: &'a ObjectRef) -> NodeId {
        let component = self.cluster.component(by);
        // A release is as healthy as all of it.
        if component.object == *object && component.behaviour.is_release() {
            return node(by, HEALTHY);
        }
        if let Some(known) = self.objects.get(&(by, object)) {
            return *known;
        }
        let at = self.another(false);
        self.objects.insert((by, object), at);
        self.takes(at, node(by, APPLIED), Why::Way);
        for index in self.by_object.get(object).cloned().unwrap_or_default() {
            let need = &self.cluster.needs[index];
            if let Some((met, of)) = self.met(need, index) {
                self.takes(at, met, Why::Missing(Missing::Need { need: index, by: of }));
            }
        }
        at
    }

    /// No pod runs without a network, but those that make it.
    fn network(&mut self) {
        let cluster = self.cluster;
        let gives: Vec<ComponentId> = network_of(cluster).into_iter().collect();
        let Some(first) = gives.first().copied() else { return };
        let there = self.another(true);
        for by in &gives {
            self.takes(there, node(*by, HEALTHY), Why::Way);
        }
        for id in cluster.ids().filter(|id| runs_pods(cluster, *id) && !gives.contains(id)) {
            self.takes(node(id, HEALTHY), there, Why::Missing(Missing::Network { by: first }));
        }
    }

    /// Flux is started when all of the bootstrap is done.
    fn stages(&mut self) {
        let cluster = self.cluster;
        let is_early = |id: &ComponentId| cluster.component(*id).stage == Stage::Bootstrap;
        let early: Vec<ComponentId> = cluster.ids().filter(is_early).collect();
        let roots = cluster.ids().filter(|id| !is_early(id) && cluster.component(*id).parent.is_none());
        for root in roots {
            for by in &early {
                self.takes(node(root, START), node(*by, DONE), Why::Missing(Missing::Bootstrap { by: *by }));
            }
        }
    }
}

/// What a component does not come up without, or does not work without.
fn is_hard(need: &Need) -> bool {
    // A class without its driver is stored, and no volume comes of it.
    (!need.soft || need.why == Purpose::MakeVolumes) && !need.optional && need.why != Purpose::TalkTo
}

/// Those that give the pod network.
pub(crate) fn network_of(cluster: &Cluster) -> BTreeSet<ComponentId> {
    let network = cluster.offers.iter().filter(|offer| offer.capability.kind == CapabilityKind::PodNetwork);
    network.map(|offer| offer.by).collect()
}

/// Whether pods come of a component itself, and not of what it applies.
pub(crate) fn runs_pods(cluster: &Cluster, id: ComponentId) -> bool {
    let component = cluster.component(id);
    let installs = component.behaviour.is_release() || component.behaviour.done == Done::Healthy;
    let has_crds_only = component.object.name.ends_with("-crds") || component.object.name.ends_with("-crd");
    let is_chart = installs && component.startup_seconds > 0 && component.resource.is_none() && !has_crds_only;
    is_chart || cluster.facts.runs_pods.contains(&id)
}
