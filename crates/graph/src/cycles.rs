//! Cycles that nothing can leave: strongly connected sets of events, each told as one closed walk.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::ComponentId;

use crate::events::{Because, Event, Events};

/// A closed walk of events, each waiting for the next, the last for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    pub steps: Vec<Step>,
}

/// `event` can't happen because of what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub event: Event,
    pub because: Because,
}

impl Deadlock {
    /// The components on the walk, each once, in its order.
    pub fn components(&self, events: &Events) -> Vec<ComponentId> {
        let mut seen = Vec::new();
        for (component, _) in self.steps.iter().filter_map(|step| events.component_of(step.event)) {
            if !seen.contains(&component) {
                seen.push(component);
            }
        }
        seen
    }

    pub fn needs(&self) -> impl Iterator<Item = usize> + '_ {
        self.steps.iter().filter_map(|step| match step.because {
            Because::Need(need) => Some(need),
            _ => None,
        })
    }

    pub fn offers(&self) -> impl Iterator<Item = usize> + '_ {
        self.steps.iter().filter_map(|step| match step.because {
            Because::Offer(offer) => Some(offer),
            _ => None,
        })
    }

    pub fn ties(&self) -> impl Iterator<Item = usize> + '_ {
        self.steps.iter().filter_map(|step| match step.because {
            Because::Tie(tie) => Some(tie),
            _ => None,
        })
    }
}

impl Deadlock {
    /// Whether something that it is made of would still wait for itself without one of its ties: another circle is behind it that is not
    /// told by itself.
    pub fn stands_without(&self, events: &Events, tie: usize) -> bool {
        let next = self.steps.iter().cycle().skip(1);
        let mut others = self.steps.iter().zip(next).filter(|(step, _)| {
            matches!(step.because, Because::Tie(_) | Because::Need(_)) && step.because != Because::Tie(tie)
        });
        let counts = |because: Because| events.binds(because) && because != Because::Tie(tie);
        others.any(|(step, next)| leads(events, next.event, step.event, counts))
    }
}

/// Whether one event leads to another by the edges that count.
pub(crate) fn leads(events: &Events, from: Event, to: Event, counts: impl Fn(Because) -> bool) -> bool {
    let (mut seen, mut next) = (BTreeSet::from([from]), vec![from]);
    while let Some(event) = next.pop() {
        if event == to {
            return true;
        }
        let counted = events.implied(event).iter().filter(|(_, because)| counts(*because));
        next.extend(counted.map(|(to, _)| *to).filter(|to| seen.insert(*to)));
    }
    false
}

/// All deadlocks, the simplest explanations first: needs and containment alone, then declared ties alone, then both
/// together. What an earlier circle is made of takes no part in a later one, so each mistake is told once.
pub(crate) fn find(events: &Events) -> Vec<Deadlock> {
    let mut found: Vec<Deadlock> = Vec::new();
    let mut told: BTreeSet<Because> = BTreeSet::new();
    let rounds: [fn(Because) -> bool; 3] =
        [|because| !matches!(because, Because::Tie(_)), |because| !matches!(because, Because::Need(_)), |_| true];
    for round in rounds {
        let graph = Graph { events, told: &told, round };
        let new: Vec<Deadlock> = graph.strongly_connected().iter().flat_map(|set| graph.walks(set)).collect();
        told.extend(
            new.iter()
                .flat_map(|deadlock| &deadlock.steps)
                .map(|step| step.because)
                .filter(|because| matches!(because, Because::Tie(_) | Because::Need(_))),
        );
        found.extend(new);
    }
    found
}

/// The steps of a shortest way from one event to another, which closes it.
pub(crate) fn way(events: &Events, from: Event, to: Event) -> Option<Vec<Step>> {
    let mut came: BTreeMap<Event, Step> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(event) = queue.pop_front().filter(|_| from != to && !came.contains_key(&to)) {
        for (next, because) in events.implied(event) {
            if *next != from && !came.contains_key(next) {
                came.insert(*next, Step { event, because: *because });
                queue.push_back(*next);
            }
        }
    }
    let mut steps: Vec<Step> = std::iter::successors(came.get(&to), |step| came.get(&step.event)).copied().collect();
    steps.reverse();
    let end = Step { event: to, because: Because::Life };
    (!steps.is_empty()).then(|| steps.into_iter().chain([end]).collect())
}

/// The events with the edges that count in one round.
struct Graph<'a> {
    events: &'a Events,
    told: &'a BTreeSet<Because>,
    round: fn(Because) -> bool,
}

impl Graph<'_> {
    fn counts(&self, because: Because) -> bool {
        (self.round)(because) && self.events.binds(because) && !self.told.contains(&because)
    }
    /// The shortest circle through every tie and every need inside of the set. A circle that borrows its mistake from a
    /// shorter one is left out.
    fn walks(&self, set: &BTreeSet<Event>) -> Vec<Deadlock> {
        const WALKS_MAX: usize = 16;
        const EDGES_MAX: usize = 256;
        let mut candidates: Vec<Deadlock> = Vec::new();
        for from in set {
            for (to, because) in self.events.implied(*from) {
                let starts_one = matches!(because, Because::Tie(_) | Because::Need(_));
                if !starts_one || !self.counts(*because) || !set.contains(to) || candidates.len() >= EDGES_MAX {
                    continue;
                }
                let Some(mut steps) = self.shortest(set, *to, *from) else { continue };
                steps.insert(0, Step { event: *from, because: *because });
                candidates.push(Deadlock { steps });
            }
        }
        candidates.sort_by_key(|deadlock| deadlock.steps.len());
        let mut told: BTreeSet<Because> = BTreeSet::new();
        candidates.retain(|deadlock| {
            let own = || {
                deadlock
                    .steps
                    .iter()
                    .map(|step| step.because)
                    .filter(|it| matches!(it, Because::Tie(_) | Because::Need(_)))
            };
            let is_new = own().all(|because| !told.contains(&because));
            told.extend(own());
            is_new
        });
        candidates.truncate(WALKS_MAX);
        candidates
    }

    /// The steps of a shortest way inside of the set.
    fn shortest(&self, set: &BTreeSet<Event>, from: Event, to: Event) -> Option<Vec<Step>> {
        let events = self.events;
        let mut came: BTreeMap<Event, Step> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(event) = queue.pop_front() {
            if event == to {
                let mut steps = Vec::new();
                let mut at = to;
                while at != from {
                    let step = came[&at];
                    steps.push(step);
                    at = step.event;
                }
                steps.reverse();
                return Some(steps);
            }
            for (next, because) in events.implied(event) {
                if set.contains(next) && self.counts(*because) && *next != from && !came.contains_key(next) {
                    came.insert(*next, Step { event, because: *because });
                    queue.push_back(*next);
                }
            }
        }
        None
    }

    /// Tarjan's algorithm without recursion; only sets that hold a cycle.
    fn strongly_connected(&self) -> Vec<BTreeSet<Event>> {
        const UNSEEN: u32 = u32::MAX;
        let events = self.events;
        let count = events.len();
        let (mut order, mut low, mut on_stack) = (vec![UNSEEN; count], vec![0_u32; count], vec![false; count]);
        let (mut stack, mut sets, mut next_order) = (Vec::new(), Vec::new(), 0_u32);
        for root in 0..count {
            if order[root] != UNSEEN {
                continue;
            }
            let mut work = vec![(root, 0_usize)];
            while let Some((node, edge)) = work.pop() {
                if edge == 0 {
                    order[node] = next_order;
                    low[node] = next_order;
                    next_order += 1;
                    stack.push(node);
                    on_stack[node] = true;
                }
                let implied = events.implied(Event(source::to_u32(node)));
                let mut descended = false;
                for (offset, (to, because)) in implied.iter().enumerate().skip(edge) {
                    let to = to.0 as usize;
                    if !self.counts(*because) {
                        continue;
                    }
                    if order[to] == UNSEEN {
                        work.push((node, offset + 1));
                        work.push((to, 0));
                        descended = true;
                        break;
                    }
                    if on_stack[to] {
                        low[node] = low[node].min(order[to]);
                    }
                }
                if descended {
                    continue;
                }
                if low[node] == order[node] {
                    let mut set = BTreeSet::new();
                    while let Some(member) = stack.pop() {
                        on_stack[member] = false;
                        set.insert(Event(source::to_u32(member)));
                        if member == node {
                            break;
                        }
                    }
                    if set.len() > 1 {
                        sets.push(set);
                    }
                }
                if let Some((parent, _)) = work.last() {
                    low[*parent] = low[*parent].min(low[node]);
                }
            }
        }
        sets
    }
}
