//! When things would happen in an ordinary cold start: estimates, tiers and the critical path.
//!
//! The times are the catalogue's usual start-up times added up along what waits for what. They are good for comparing a
//! wait with a timeout, not for setting a watch.

use model::{Arrival, Cluster, ComponentId, Gate, Offer, Role};

use crate::events::{Because, Event, Events, Moment};

/// Accepting the objects of one component.
const APPLY_SECONDS: u64 = 2;
/// Flux looks at a dependency every 30 s: half of that on average.
const TIE_POLL_SECONDS: u64 = 15;

#[derive(Debug)]
pub struct Schedule {
    at_seconds: Vec<u64>,
    tier: Vec<u32>,
    /// Components by tier: tier 0 waits for nothing.
    pub tiers: Vec<Vec<ComponentId>>,
    /// The chain of components that decides when the last one is done.
    pub critical_path: Vec<ComponentId>,
}

impl Schedule {
    pub fn new(cluster: &Cluster, events: &Events) -> Self {
        let mut schedule = Self {
            at_seconds: vec![0; events.len()],
            tier: vec![0; events.len()],
            tiers: Vec::new(),
            critical_path: Vec::new(),
        };
        for event in in_order(events) {
            schedule.place(cluster, events, event);
        }
        schedule.fill_tiers(cluster);
        schedule.critical_path = schedule.longest_chain(cluster, events);
        schedule
    }

    pub fn seconds(&self, component: ComponentId, moment: Moment) -> u64 {
        self.at_seconds[Events::of(component, moment).0 as usize]
    }

    pub fn tier(&self, component: ComponentId) -> u32 {
        self.tier[Events::of(component, Moment::Start).0 as usize]
    }

    /// When an offer would be there.
    pub fn offered_at(&self, cluster: &Cluster, offer: &Offer) -> u64 {
        let applied = self.seconds(offer.by, Moment::Applied);
        let by = cluster.component(offer.by);
        match offer.arrival {
            Arrival::Applied | Arrival::Installed => applied,
            _ if by.role == Role::HelmRelease && by.resource.is_none() => self.seconds(offer.by, Moment::Done),
            _ => applied + by.startup_seconds,
        }
    }

    fn place(&mut self, cluster: &Cluster, events: &Events, event: Event) {
        let mut at = 0;
        let mut tier = 0;
        for (to, because) in events.implied(event) {
            let (delay, hop) = match because {
                Because::Tie(_) => (TIE_POLL_SECONDS, 1),
                _ => (0, 0),
            };
            at = at.max(self.at_seconds[to.0 as usize] + delay);
            tier = tier.max(self.tier[to.0 as usize] + hop);
        }
        at += match events.component_of(event) {
            Some((_, Moment::Applied)) => APPLY_SECONDS,
            Some((id, Moment::Done)) => {
                let component = cluster.component(id);
                let waits = match component.role {
                    Role::HelmRelease => component.resource.is_none(),
                    _ => component.gate == Gate::Healthy,
                };
                let own = self.seconds(id, Moment::Applied) + if waits { component.startup_seconds } else { 0 };
                own.max(self.named_resources(cluster, &component.gate)).saturating_sub(at)
            }
            _ => 0,
        };
        self.at_seconds[event.0 as usize] = at;
        self.tier[event.0 as usize] = tier;
    }

    /// When the custom resources of charts are there that a gate names.
    fn named_resources(&self, cluster: &Cluster, gate: &Gate) -> u64 {
        let Gate::Listed(objects) = gate else { return 0 };
        let names = |id: &ComponentId| {
            cluster.component(*id).resource.as_ref().is_some_and(|resource| objects.contains(resource))
        };
        let there = |id: ComponentId| self.seconds(id, Moment::Applied) + cluster.component(id).startup_seconds;
        cluster.ids().filter(names).map(there).max().unwrap_or(0)
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
    fn longest_chain(&self, cluster: &Cluster, events: &Events) -> Vec<ComponentId> {
        let happens = happening(events);
        let comes_up = |id: &ComponentId| happens[Events::of(*id, Moment::Done).0 as usize];
        let last =
            cluster.ids().filter(comes_up).max_by_key(|id| (self.seconds(*id, Moment::Done), std::cmp::Reverse(*id)));
        let Some(last) = last else { return Vec::new() };
        let mut chain = vec![last];
        let mut at = Events::of(last, Moment::Done);
        // What happens implies what happens before it, so the walk ends; the limit guards circles through ties that may wait for
        // anything.
        for _ in 0..events.len() {
            let next =
                events.implied(at).iter().filter(|(to, _)| happens[to.0 as usize]).max_by_key(|(to, because)| {
                    let delay = if matches!(because, Because::Tie(_)) { TIE_POLL_SECONDS } else { 0 };
                    (self.at_seconds[to.0 as usize] + delay, std::cmp::Reverse(*to))
                });
            let Some((to, because)) = next else { break };
            at = *to;
            if let (Because::Tie(_) | Because::Gate, Some((component, _))) = (because, events.component_of(at))
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

/// For every event whether it ever happens: not in a circle, nor after one.
fn happening(events: &Events) -> Vec<bool> {
    let count = events.len();
    let event = |at: usize| Event(u32::try_from(at).unwrap_or(u32::MAX));
    let mut unmet = vec![0_usize; count];
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (at, unmet) in unmet.iter_mut().enumerate() {
        for (to, _) in events.implied(event(at)).iter().filter(|(_, because)| events.binds(*because)) {
            *unmet += 1;
            after[to.0 as usize].push(at);
        }
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

/// Every event after all that it implies; an edge that closes a cycle is passed over.
pub(crate) fn in_order(events: &Events) -> Vec<Event> {
    let count = events.len();
    let mut opened = vec![false; count];
    let mut order = Vec::with_capacity(count);
    for root in 0..count {
        if opened[root] {
            continue;
        }
        opened[root] = true;
        let mut work = vec![(root, 0_usize)];
        while let Some((node, edge)) = work.pop() {
            let event = Event(u32::try_from(node).unwrap_or(u32::MAX));
            match events.implied(event).get(edge) {
                Some((to, _)) => {
                    work.push((node, edge + 1));
                    let to = to.0 as usize;
                    if !opened[to] {
                        opened[to] = true;
                        work.push((to, 0));
                    }
                }
                None => order.push(event),
            }
        }
    }
    order
}
