//! Steps and edges into a plan: which edges stay, in which order steps stand, how long each takes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use graph::{Schedule, in_circles, settled};

use super::build::{Draft, PlanError};
use super::{Layer, NeedReason, Plan, Step, StepId, StepNeed};

/// An edge between steps that have no order yet.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) why: NeedReason,
    /// Read from content, not declared: given up where it would close a circle with stronger ones.
    pub(super) is_inferred: bool,
}

impl Draft<'_> {
    /// When the timeline has each step done, counted from the Kubernetes API; nothing for what the timeline does not know.
    pub(super) fn times(&self, steps: &[usize], start: usize, schedule: &Schedule) -> Vec<Option<Duration>> {
        let mut times = vec![None; self.steps.len()];
        for (step, id) in steps.iter().zip(self.cluster.ids()) {
            let done = schedule.done(id).map(Duration::from_secs);
            // A release of two helmfiles is done when the first has installed it.
            let slot: &mut Option<Duration> = &mut times[*step];
            *slot = (*slot).or(done);
        }
        times[start] = schedule.flux_starts().map(Duration::from_secs);
        times
    }

    pub(super) fn finish(mut self, times: &[Option<Duration>]) -> Result<Plan, PlanError> {
        // What is declared is never given up.
        self.edges.sort_by_key(|edge| edge.is_inferred);
        let fixed = self.edges.iter().filter(|edge| !edge.is_inferred).count();
        let pairs: Vec<(usize, usize)> = self.edges.iter().map(|edge| (edge.from, edge.to)).collect();
        let circles = in_circles(self.steps.len(), &pairs[..fixed]);
        if let Some(circle) = walk(&circles, &pairs[..fixed]) {
            return Err(PlanError::Circle(circle.iter().map(|step| self.steps[*step].key.clone()).collect()));
        }
        let kept = settled(self.steps.len(), &pairs, fixed);
        let mut kept = kept.into_iter();
        self.edges.retain(|_| kept.next() == Some(true));
        let order = order(&self.steps, &self.edges);
        let mut place = vec![0; order.len()];
        for (at, step) in order.iter().enumerate() {
            place[*step] = at;
        }
        let mut slots: Vec<Option<Step>> = self.steps.into_iter().map(Some).collect();
        let mut steps: Vec<Step> = order.iter().filter_map(|step| slots[*step].take()).collect();
        let mut known = BTreeSet::new();
        for edge in self.edges {
            let (from, to) = (place[edge.from], place[edge.to]);
            if known.insert((from, to)) {
                let step = StepId(source::to_u32(to));
                steps[from].needs.push(StepNeed { step, why: edge.why });
            }
        }
        for step in &mut steps {
            step.needs.sort_by_key(|need| need.step);
        }
        let times: Vec<Option<Duration>> = order.iter().map(|step| times[*step]).collect();
        expect(&mut steps, &times);
        Ok(Plan { steps, notes: self.notes })
    }
}

/// How long each takes after the last of its needs, so that all together come to what the timeline says.
fn expect(steps: &mut [Step], times: &[Option<Duration>]) {
    let mut done: Vec<Duration> = Vec::with_capacity(steps.len());
    let mut api = Duration::ZERO;
    for (at, step) in steps.iter_mut().enumerate() {
        let needs = step.needs.iter().map(|need| done[need.step.index()]).max().unwrap_or_default();
        if let Some(time) = times[at] {
            step.expected = (api + time).saturating_sub(needs);
        }
        done.push(needs + step.expected);
        // The timeline counts from the API server, wherever that is first reached.
        if step.layer == Layer::Api && api.is_zero() {
            api = done[at];
        }
    }
}

/// Steps in an order in which none comes before what it needs; among those that could come next, by layer.
fn order(steps: &[Step], edges: &[Edge]) -> Vec<usize> {
    let mut unmet = vec![0_usize; steps.len()];
    let mut dependents = vec![Vec::new(); steps.len()];
    for edge in edges {
        unmet[edge.from] += 1;
        dependents[edge.to].push(edge.from);
    }
    let mut next: BTreeSet<(Layer, usize)> =
        (0..steps.len()).filter(|step| unmet[*step] == 0).map(|step| (steps[step].layer, step)).collect();
    let mut order = Vec::with_capacity(steps.len());
    while let Some((_, step)) = next.pop_first() {
        order.push(step);
        for dependent in &dependents[step] {
            unmet[*dependent] -= 1;
            if unmet[*dependent] == 0 {
                next.insert((steps[*dependent].layer, *dependent));
            }
        }
    }
    order
}

/// One circle among steps of which each needs another.
fn walk(among: &[bool], edges: &[(usize, usize)]) -> Option<Vec<usize>> {
    let next: BTreeMap<usize, usize> = edges.iter().copied().filter(|(from, to)| among[*from] && among[*to]).collect();
    let mut path: Vec<usize> = Vec::new();
    let mut at = among.iter().position(|is_in| *is_in)?;
    loop {
        if let Some(begin) = path.iter().position(|step| *step == at) {
            return Some(path.split_off(begin));
        }
        path.push(at);
        at = *next.get(&at)?;
    }
}
