//! Which failing objects are roots, and what waits for each.
//!
//! A symptom waits for another only by an edge that was found as a fact. What waits for nothing that fails is a root; objects
//! that all wait for one another are one root, a cycle. That one layer is below another says nothing by itself.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::facts::ObjectKey;
use crate::status::{Because, Problem, State};
use crate::symptom::{Edge, Symptom};

/// Clocks of nodes and the API differ by seconds, and conditions are written late.
const SLACK: Duration = Duration::from_mins(2);

/// Symptoms and what each waits for, as far as that fails too.
pub(crate) struct Graph {
    pub(crate) symptoms: Vec<Symptom>,
    pub(crate) waits: Vec<Vec<(usize, Because)>>,
}

/// Symptoms that are one fault.
pub(crate) struct Group {
    pub(crate) members: Vec<usize>,
    pub(crate) is_cycle: bool,
}

/// Objects meet by kind, namespace and name: messages don't tell groups.
fn name(key: &ObjectKey) -> (&str, &str, &str) {
    (&key.kind, &key.namespace, &key.name)
}

fn counts(from: &Symptom, edge: &Edge, to: &Symptom) -> bool {
    // A cycle waits for itself only.
    if from.problem == Problem::DependencyCycle {
        return edge.because == Because::DependsOn && to.problem == Problem::DependencyCycle;
    }
    // These are mechanisms and not names: what failed before can't be a consequence.
    let is_on_node = edge.because == Because::Node && from.object.kind == "Pod";
    if (is_on_node || matches!(edge.because, Because::Resolves | Because::NodeNetwork))
        && let (Some(from), Some(to)) = (from.since, to.since)
    {
        return to <= from.plus(SLACK);
    }
    true
}

impl Graph {
    pub(crate) fn new(symptoms: Vec<Symptom>) -> Self {
        let mut at: BTreeMap<(&str, &str, &str), Vec<usize>> = BTreeMap::new();
        for (index, symptom) in symptoms.iter().enumerate() {
            at.entry(name(&symptom.object)).or_default().push(index);
        }
        // A pod is also reached by the name of its controller, which may have no symptom of its own.
        let mut shown: BTreeMap<(&str, &str, &str), Vec<usize>> = BTreeMap::new();
        for (index, symptom) in symptoms.iter().enumerate().filter(|(_, it)| it.shown != it.object) {
            shown.entry(name(&symptom.shown)).or_default().push(index);
        }
        let waits = symptoms
            .iter()
            .enumerate()
            .map(|(own, symptom)| {
                let targets = symptom.edges.iter().flat_map(|edge| {
                    let found = at.get(&name(&edge.to)).or_else(|| shown.get(&name(&edge.to)));
                    found.into_iter().flatten().map(move |to| (*to, edge))
                });
                let targets = targets.filter(|(to, edge)| *to != own && counts(symptom, edge, &symptoms[*to]));
                targets.map(|(to, edge)| (to, edge.because)).collect()
            })
            .collect();
        let mut graph = Self { symptoms, waits };
        graph.rouse();
        graph.settle();
        graph
    }

    /// What is on its way gets no further while what moves it on fails: its controller, or the objects whose health it waits for.
    fn rouse(&mut self) {
        loop {
            let held: Vec<usize> = (0..self.symptoms.len()).filter(|index| self.is_held(*index)).collect();
            if held.is_empty() {
                return;
            }
            for index in held {
                self.symptoms[index].state = State::Degraded;
            }
        }
    }

    fn is_held(&self, index: usize) -> bool {
        let holds = |(to, because): &(usize, Because)| match because {
            // One of several replicas is enough for a controller.
            Because::Controller => self.symptoms[*to].state == State::Failed,
            Because::HealthCheck | Because::Inventory => self.symptoms[*to].is_red(),
            _ => false,
        };
        self.symptoms[index].state == State::Progressing && self.waits[index].iter().any(holds)
    }

    /// What waits only for something that is on its way is on its way too.
    fn settle(&mut self) {
        loop {
            let going: Vec<usize> =
                (0..self.symptoms.len()).filter(|index| self.only_waits_for_progress(*index)).collect();
            if going.is_empty() {
                return;
            }
            for index in going {
                self.symptoms[index].state = State::Progressing;
            }
        }
    }

    fn only_waits_for_progress(&self, index: usize) -> bool {
        let symptom = &self.symptoms[index];
        let is_final = matches!(
            symptom.problem,
            Problem::Stalled { .. }
                | Problem::CertificateExpired { .. }
                | Problem::Suspended
                | Problem::DependencyCycle
        );
        let waits = &self.waits[index];
        symptom.is_red() && !is_final && !waits.is_empty() && waits.iter().all(|(to, _)| !self.symptoms[*to].is_red())
    }

    pub(crate) fn red_waits(&self, index: usize) -> impl Iterator<Item = (usize, Because)> + '_ {
        self.waits[index].iter().copied().filter(|(to, _)| self.symptoms[*to].is_red())
    }

    /// One group for every root.
    pub(crate) fn roots(&self) -> Vec<Group> {
        let components = self.components();
        let mut groups: BTreeMap<(ObjectKey, Kindred), Vec<usize>> = BTreeMap::new();
        let mut cycles = Vec::new();
        for members in components {
            let inside: BTreeSet<usize> = members.iter().copied().collect();
            let leaves = members.iter().any(|it| self.red_waits(*it).any(|(to, _)| !inside.contains(&to)));
            if leaves {
                continue;
            }
            if members.len() > 1 {
                cycles.push(Group { members, is_cycle: true });
            } else if let Some(only) = members.first() {
                let symptom = &self.symptoms[*only];
                groups.entry((whose(symptom), kindred(&symptom.problem))).or_default().push(*only);
            }
        }
        let single = groups.into_values().map(|members| Group { members, is_cycle: false });
        single.chain(cycles).collect()
    }

    /// Everything that fails, by what waits for each other: Tarjan's algorithm, without recursion.
    fn components(&self) -> Vec<Vec<usize>> {
        let mut search = Search::new(self.symptoms.len());
        for start in 0..self.symptoms.len() {
            if self.symptoms[start].is_red() && search.order[start].is_none() {
                search.from(self, start);
            }
        }
        search.found
    }

    /// What waits for any of these, nearest first: the symptom, the one on the way to the root, and why.
    pub(crate) fn blocked_by(&self, members: &[usize]) -> Vec<(usize, usize, Because)> {
        let mut reverse: BTreeMap<usize, Vec<(usize, Because)>> = BTreeMap::new();
        for index in (0..self.symptoms.len()).filter(|index| self.symptoms[*index].is_red()) {
            for (to, because) in self.red_waits(index) {
                reverse.entry(to).or_default().push((index, because));
            }
        }
        let mut seen: BTreeSet<usize> = members.iter().copied().collect();
        let mut open: VecDeque<usize> = members.iter().copied().collect();
        let mut blocked = Vec::new();
        while let Some(by) = open.pop_front() {
            for (index, because) in reverse.get(&by).into_iter().flatten() {
                if seen.insert(*index) {
                    blocked.push((*index, by, *because));
                    open.push_back(*index);
                }
            }
        }
        blocked
    }
}

/// Problems that are the same fault when one controller has them.
type Kindred = (String, String);

/// What a fault is gathered by: its object, or nothing where all objects have it from the one thing that is missing.
fn whose(symptom: &Symptom) -> ObjectKey {
    match symptom.problem {
        Problem::NodeUninitialized | Problem::RequestPending { .. } | Problem::AgentTaintStays => ObjectKey::default(),
        _ => symptom.shown.clone(),
    }
}

fn kindred(problem: &Problem) -> Kindred {
    let part = match problem {
        Problem::Waiting { container, reason, .. } => format!("{container} {reason}"),
        Problem::Crashing { container, .. } => container.to_string(),
        _ => String::new(),
    };
    let name = format!("{problem:?}");
    (name.split(['(', ' ', '{']).next().unwrap_or_default().to_owned(), part)
}

struct Search {
    order: Vec<Option<usize>>,
    low: Vec<usize>,
    stack: Vec<usize>,
    on_stack: Vec<bool>,
    next: usize,
    found: Vec<Vec<usize>>,
}

impl Search {
    fn new(size: usize) -> Self {
        Self {
            order: vec![None; size],
            low: vec![0; size],
            stack: Vec::new(),
            on_stack: vec![false; size],
            next: 0,
            found: Vec::new(),
        }
    }

    fn enter(&mut self, index: usize) {
        self.order[index] = Some(self.next);
        self.low[index] = self.next;
        self.next += 1;
        self.stack.push(index);
        self.on_stack[index] = true;
    }

    fn from(&mut self, graph: &Graph, start: usize) {
        let targets = |index: usize| graph.red_waits(index).map(|(to, _)| to).collect::<Vec<_>>();
        self.enter(start);
        let mut path = vec![(start, targets(start), 0)];
        while let Some((index, next, at)) = path.last_mut() {
            if let Some(to) = next.get(*at).copied() {
                *at += 1;
                let index = *index;
                match self.order[to] {
                    None => {
                        self.enter(to);
                        path.push((to, targets(to), 0));
                    }
                    Some(order) if self.on_stack[to] => self.low[index] = self.low[index].min(order),
                    Some(_) => {}
                }
                continue;
            }
            let index = *index;
            path.pop();
            if let Some((parent, ..)) = path.last() {
                self.low[*parent] = self.low[*parent].min(self.low[index]);
            }
            if Some(self.low[index]) == self.order[index] {
                self.leave(index);
            }
        }
    }

    fn leave(&mut self, index: usize) {
        let mut members = Vec::new();
        while let Some(top) = self.stack.pop() {
            self.on_stack[top] = false;
            members.push(top);
            if top == index {
                break;
            }
        }
        members.sort_unstable();
        self.found.push(members);
    }
}
