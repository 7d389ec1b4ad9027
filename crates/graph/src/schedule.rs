//! The one timeline: when things would happen in an ordinary cold start, estimated. Tiers and the critical path follow from it, and so do the
//! durations of a plan.
//!
//! The times are the catalogue's usual start-up times added up along what waits for what, from the moment at which the Kubernetes API
//! answers. The bootstrap comes before Flux, and what is behind a deadlock has no time. They are good for comparing a wait with a timeout,
//! not for setting a watch.

use std::collections::BTreeMap;

use model::{Arrival, Cluster, Component, ComponentId, Done, Gate, Offer, Order, Stage};

use crate::early::{EarlyPart, early_parts, repeated};
use crate::events::{Because, Event, Events, Moment, comes_first};
use crate::linking::Links;
use crate::settle::{in_order, settled};
use crate::waits::{self, Instant, Strength, Wait};

/// Accepting the objects of one component.
const APPLY_SECONDS: u64 = 2;
/// Flux looks at a dependency every 30 s: half of that on average.
const TIE_POLL_SECONDS: u64 = 15;
/// Flux fetches its first source, and applies what it starts with.
const FLUX_SECONDS: u64 = 10;

#[derive(Debug)]
pub struct Schedule {
    /// By node: events, then one per component for its being healthy, then Flux's start.
    at_seconds: Vec<u64>,
    tier: Vec<u32>,
    happens: Vec<bool>,
    events: usize,
    /// Components by tier: tier 0 waits for nothing.
    pub tiers: Vec<Vec<ComponentId>>,
    /// The chain of components that decides when the last one is done.
    pub critical_path: Vec<ComponentId>,
    /// What components wait for beside what they declare, the strongest first. One that would close a circle with stronger ones is not there.
    pub waits: Vec<Wait>,
}

impl Schedule {
    pub fn new(cluster: &Cluster, links: &Links, events: &Events) -> Self {
        let graph = Graph::new(cluster, links, events);
        let count = graph.edges.len();
        let mut schedule = Self {
            at_seconds: vec![0; count],
            tier: vec![0; count],
            happens: graph.happening(),
            events: events.len(),
            tiers: Vec::new(),
            critical_path: Vec::new(),
            waits: Vec::new(),
        };
        for node in in_order(count, |node, edge| Some(graph.edges[node].get(edge)?.to)) {
            schedule.place(cluster, events, &graph, node);
        }
        schedule.fill_tiers(cluster);
        schedule.critical_path = schedule.longest_chain(cluster, events, &graph);
        schedule.waits = graph.waits;
        schedule
    }

    /// When a component would be done; never if it is in a deadlock or behind one.
    pub fn done(&self, component: ComponentId) -> Option<u64> {
        self.if_it_happens(Events::of(component, Moment::Done).0 as usize)
    }

    /// When a component would begin.
    pub fn start(&self, component: ComponentId) -> Option<u64> {
        self.if_it_happens(Events::of(component, Moment::Start).0 as usize)
    }

    /// When Flux would begin to apply what it is given.
    pub fn flux_starts(&self) -> Option<u64> {
        self.if_it_happens(self.at_seconds.len() - 1)
    }

    /// When the last of those that come up would be done.
    pub fn all_done(&self, cluster: &Cluster) -> u64 {
        cluster.ids().filter_map(|id| self.done(id)).max().unwrap_or(0)
    }

    fn if_it_happens(&self, node: usize) -> Option<u64> {
        self.happens[node].then(|| self.at_seconds[node])
    }

    /// As if what is behind a deadlock came up once the circle were open.
    pub(crate) fn seconds(&self, component: ComponentId, moment: Moment) -> u64 {
        self.at_seconds[Events::of(component, moment).0 as usize]
    }

    pub fn tier(&self, component: ComponentId) -> u32 {
        self.tier[Events::of(component, Moment::Start).0 as usize]
    }

    /// When an offer would be there.
    pub(crate) fn offered_at(&self, cluster: &Cluster, offer: &Offer) -> u64 {
        let by = cluster.component(offer.by);
        match offer.arrival {
            _ if comes_first(cluster, offer) => self.seconds(offer.by, Moment::Defined),
            Arrival::Applied | Arrival::Installed => self.seconds(offer.by, Moment::Applied),
            _ if by.behaviour.is_release() && by.resource.is_none() => self.seconds(offer.by, Moment::Done),
            _ => self.at_seconds[self.events + offer.by.index()],
        }
    }

    fn place(&mut self, cluster: &Cluster, events: &Events, graph: &Graph, node: usize) {
        let mut at = 0;
        let mut tier = 0;
        let instant = graph.instant(events, node);
        for edge in &graph.edges[node] {
            at = at.max(self.at_seconds[edge.to] + edge.delay() + applying(instant, edge));
            tier = tier.max(self.tier[edge.to] + edge.hop());
        }
        at += match instant {
            Some((id, Life::Healthy)) => cluster.component(id).startup_seconds,
            None if node + 1 == graph.edges.len() => FLUX_SECONDS,
            Some((_, Life::Start | Life::Defined | Life::Applied | Life::Done)) | None => 0,
        };
        self.at_seconds[node] = at;
        self.tier[node] = tier;
    }

    fn fill_tiers(&mut self, cluster: &Cluster) {
        for id in cluster.ids() {
            let tier = self.tier(id) as usize;
            if self.tiers.len() <= tier {
                self.tiers.resize(tier + 1, Vec::new());
            }
            self.tiers[tier].push(id);
        }
    }

    /// Of those that come up: who waits for a circle has no time at which it is done.
    fn longest_chain(&self, cluster: &Cluster, events: &Events, graph: &Graph) -> Vec<ComponentId> {
        let done = |id: &ComponentId| self.done(*id).map(|at| (at, std::cmp::Reverse(*id)));
        let Some((_, std::cmp::Reverse(last))) = cluster.ids().filter_map(|id| done(&id)).max() else {
            return Vec::new();
        };
        let mut chain = vec![last];
        let mut at = Events::of(last, Moment::Done).0 as usize;
        // What happens implies what happens before it, so the walk ends; the limit guards circles through ties that may wait for
        // anything.
        for _ in 0..graph.edges.len() {
            let instant = graph.instant(events, at);
            let next = graph.edges[at].iter().filter(|edge| self.happens[edge.to]).max_by_key(|edge| {
                (self.at_seconds[edge.to] + edge.delay() + applying(instant, edge), std::cmp::Reverse(edge.to))
            });
            let Some(edge) = next else { break };
            at = edge.to;
            if let (true, Some((component, _))) = (edge.is_told(), graph.instant(events, at))
                && !chain.contains(&component)
                && chain.last().is_none_or(|last| cluster.component(component).parent != Some(*last))
            {
                chain.push(component);
            }
        }
        chain.reverse();
        chain
    }
}

/// How long a component takes by itself, from its start to its being done.
pub fn own_seconds(component: &Component) -> u64 {
    APPLY_SECONDS + if waits_for_health(component) { component.startup_seconds } else { 0 }
}

/// Whether it is done no sooner than what it starts is healthy.
fn waits_for_health(component: &Component) -> bool {
    match component.behaviour.done {
        Done::AsGated => component.gate == Gate::Healthy,
        Done::WorkloadsHealthy => component.resource.is_none(),
        Done::Healthy => true,
        Done::Accepted => false,
    }
}

/// Why one node comes after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Event(Because),
    /// A later moment of the same component.
    Own,
    /// A declared order that somebody polls for.
    Polled(usize),
    /// One part of the bootstrap after another, Flux after all of it.
    Stage,
    Wait,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: usize,
    why: Why,
}

impl Edge {
    fn delay(self) -> u64 {
        if matches!(self.why, Why::Polled(_)) { TIE_POLL_SECONDS } else { 0 }
    }

    fn hop(self) -> u32 {
        u32::from(matches!(self.why, Why::Polled(_) | Why::Stage | Why::Event(Because::Tie(_))))
    }

    /// Whether it leads to another component that a person would want to hear of. That one applies the other goes without saying.
    fn is_told(self) -> bool {
        !matches!(self.why, Why::Own | Why::Event(Because::Life | Because::Parent | Because::Need(_)))
    }
}

/// How long the API server takes for the objects once what an edge leads to has happened. What was applied after the definitions came
/// with them.
fn applying(instant: Option<(ComponentId, Life)>, edge: &Edge) -> u64 {
    let is_under_way = edge.why == Why::Event(Because::Life);
    match instant {
        Some((_, Life::Defined)) => APPLY_SECONDS,
        Some((_, Life::Applied)) if !is_under_way => APPLY_SECONDS,
        _ => 0,
    }
}

/// The moment of a component that a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Start,
    Defined,
    Applied,
    Healthy,
    Done,
}

/// All that a timeline is made from: the events, and what only orders an estimate.
struct Graph {
    events: usize,
    components: usize,
    edges: Vec<Vec<Edge>>,
    waits: Vec<Wait>,
    /// Edges that bind: what they lead to never happening, neither does their beginning.
    binds: Vec<(usize, usize)>,
}

impl Graph {
    fn new(cluster: &Cluster, links: &Links, events: &Events) -> Self {
        let components = cluster.components.len();
        let nodes = events.len() + components + 1;
        let mut graph = Self {
            events: events.len(),
            components,
            edges: vec![Vec::new(); nodes],
            waits: Vec::new(),
            binds: Vec::new(),
        };
        let mut opaque = Vec::new();
        // Nothing of a bootstrap waits for what Flux brings later: it fails, or does without.
        let is_early = |event: Event| {
            events.component_of(event).is_some_and(|(id, _)| cluster.component(id).stage == Stage::Bootstrap)
        };
        for node in 0..events.len() {
            let starts_early = is_early(Event(source::to_u32(node)));
            for (to, because) in events.implied(Event(source::to_u32(node))) {
                if starts_early && !is_early(*to) {
                    continue;
                }
                let edge = Edge { to: to.0 as usize, why: Self::why(cluster, *because) };
                if events.binds(*because) { graph.bind(node, edge) } else { opaque.push((node, edge)) }
            }
        }
        graph.add_lives(cluster);
        let stages = graph.stages(cluster);
        let happens = graph.happening();
        let is_never = |id: ComponentId| !happens[Events::of(id, Moment::Done).0 as usize];
        let waits = waits::all(cluster, links, events, is_never);
        graph.settle(cluster, &happens, &[stages, opaque].concat(), waits);
        graph
    }

    fn why(cluster: &Cluster, because: Because) -> Why {
        match because {
            Because::Tie(tie) if cluster.component(cluster.ties[tie].from).behaviour.order == Order::Asks => {
                Why::Polled(tie)
            }
            other => Why::Event(other),
        }
    }

    fn bind(&mut self, from: usize, edge: Edge) {
        self.edges[from].push(edge);
        self.binds.push((from, edge.to));
    }

    fn healthy(&self, id: ComponentId) -> usize {
        self.events + id.index()
    }

    fn flux(&self) -> usize {
        self.events + self.components
    }

    fn node(&self, instant: Instant) -> usize {
        match instant {
            Instant::Event(event) => event.0 as usize,
            Instant::Healthy(id) => self.healthy(id),
        }
    }

    /// The component of a node, and where in its life; nothing for the meeting of a need and for Flux's start.
    fn instant(&self, events: &Events, node: usize) -> Option<(ComponentId, Life)> {
        if node >= self.events {
            let id = ComponentId(source::to_u32(node - self.events));
            return (node < self.flux()).then_some((id, Life::Healthy));
        }
        let (id, moment) = events.component_of(Event(source::to_u32(node)))?;
        let life = match moment {
            Moment::Start => Life::Start,
            Moment::Defined => Life::Defined,
            Moment::Applied => Life::Applied,
            Moment::Done => Life::Done,
        };
        Some((id, life))
    }

    fn add_lives(&mut self, cluster: &Cluster) {
        for id in cluster.ids() {
            let component = cluster.component(id);
            let (healthy, done) = (self.healthy(id), Events::of(id, Moment::Done).0 as usize);
            self.bind(healthy, Edge { to: Events::of(id, Moment::Applied).0 as usize, why: Why::Own });
            if waits_for_health(component) {
                self.bind(done, Edge { to: healthy, why: Why::Own });
            }
        }
        // Custom resources of charts that a gate names.
        let by_resource: BTreeMap<_, _> =
            cluster.ids().filter_map(|id| Some((cluster.component(id).resource.as_ref()?, id))).collect();
        for id in cluster.ids() {
            let Gate::Listed(objects) = &cluster.component(id).gate else { continue };
            for release in objects.iter().filter_map(|object| by_resource.get(object)) {
                let done = Events::of(id, Moment::Done).0 as usize;
                self.bind(done, Edge { to: self.healthy(*release), why: Why::Event(Because::Gate) });
            }
        }
    }

    /// The bootstrap before Flux, and its own parts in their order. What Flux starts from binds; the rest is how people do it, and gives
    /// way to what is declared.
    fn stages(&mut self, cluster: &Cluster) -> Vec<(usize, Edge)> {
        let start = |id: ComponentId| Events::of(id, Moment::Start).0 as usize;
        let after = |id: ComponentId| Edge { to: Events::of(id, Moment::Done).0 as usize, why: Why::Stage };
        let (parts, again) = (early_parts(cluster), repeated(cluster));
        let of = |wanted: EarlyPart| -> Vec<ComponentId> {
            cluster.ids().filter(|id| parts[id.index()] == Some(wanted)).collect()
        };
        let (flux, network) = (self.flux(), of(EarlyPart::Network));
        let mut order = Vec::new();
        for id in cluster.ids() {
            match parts[id.index()] {
                Some(_) if again.contains(&id) => {}
                Some(part) => {
                    self.bind(flux, after(id));
                    if matches!(part, EarlyPart::Release | EarlyPart::Flux) {
                        order.extend(network.iter().map(|network| (start(id), after(*network))));
                    }
                }
                None if cluster.component(id).parent.is_none() => {
                    // Flux itself is no tier: what it starts with follows the last of the bootstrap.
                    self.bind(start(id), Edge { to: flux, why: Why::Own });
                }
                None => {}
            }
        }
        for last in of(EarlyPart::Flux) {
            let early = [EarlyPart::Seed, EarlyPart::Network, EarlyPart::Release].into_iter().flat_map(of);
            order.extend(early.map(|id| (start(last), after(id))));
        }
        order
    }

    /// Adds what may close a circle, as long as it closes none.
    fn settle(&mut self, cluster: &Cluster, happens: &[bool], order: &[(usize, Edge)], waits: Vec<Wait>) {
        let ends = |wait: &Wait| {
            let (from, to) = wait.ends(cluster);
            (self.node(from), self.node(to))
        };
        let is_open = |(from, to): &(usize, usize)| happens[*from] && happens[*to];
        let fixed: Vec<(usize, usize)> = self.binds.iter().copied().filter(is_open).collect();
        let ordered = order.iter().map(|(from, edge)| (*from, edge.to));
        let all: Vec<(usize, usize)> = fixed.iter().copied().chain(ordered).chain(waits.iter().map(ends)).collect();
        let kept = settled(self.edges.len(), &all, fixed.len());
        let kept = &kept[fixed.len()..];
        for ((from, edge), kept) in order.iter().zip(kept) {
            if *kept {
                self.edges[*from].push(*edge);
            }
        }
        for (wait, kept) in waits.into_iter().zip(&kept[order.len()..]) {
            if *kept && wait.strength != Strength::Later {
                let (from, to) = wait.ends(cluster);
                let (from, to) = (self.node(from), self.node(to));
                self.edges[from].push(Edge { to, why: Why::Wait });
                if wait.strength == Strength::Hard {
                    self.binds.push((from, to));
                }
                self.waits.push(wait);
            }
        }
    }

    /// For every node whether it ever happens: not in a circle, nor after one.
    fn happening(&self) -> Vec<bool> {
        let count = self.edges.len();
        let mut unmet = vec![0_usize; count];
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (from, to) in &self.binds {
            unmet[*from] += 1;
            after[*to].push(*from);
        }
        let mut next: Vec<usize> = (0..count).filter(|at| unmet[*at] == 0).collect();
        let mut happens = vec![false; count];
        while let Some(at) = next.pop() {
            happens[at] = true;
            for later in &after[at] {
                unmet[*later] -= 1;
                if unmet[*later] == 0 {
                    next.push(*later);
                }
            }
        }
        happens
    }
}
