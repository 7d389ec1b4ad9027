//! What a run took, against what it was expected to take; and what is still ahead.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::event::{Event, Line};
use crate::machine::{Machine, State};
use crate::plan::{Layer, Plan, StepId};

/// One step in a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    pub step: StepId,
    pub key: String,
    pub layer: Layer,
    /// When its needs were proved.
    pub from: Duration,
    /// When it was; none if it never was.
    pub until: Option<Duration>,
    pub expected_from: Duration,
    pub expected_until: Duration,
    pub is_critical: bool,
}

#[derive(Clone, Debug)]
pub struct Timeline {
    /// It happened in no real world.
    pub is_simulated: bool,
    /// Those that could begin, in the order in which they could.
    pub bars: Vec<Bar>,
    /// Steps whose needs were never all proved.
    pub absent: usize,
    /// From the start of the run to its last line.
    pub took: Duration,
    pub expected: Duration,
}

impl Timeline {
    /// Of one run, from what its journal tells.
    pub fn new(plan: &Plan, lines: &[Line]) -> Self {
        let start = lines.first().map(Line::time).unwrap_or_default();
        let took = lines.last().map(Line::time).unwrap_or_default().saturating_sub(start);
        let ends = ends(lines, start);
        let until = |id: StepId| ends.get(plan.step(id).key.as_str()).copied();
        let is_left = |id: StepId| until(id).is_some_and(|end| end.is_left);
        let mut met: Vec<Option<Duration>> = Vec::with_capacity(plan.steps.len());
        let from = |met: &[Option<Duration>], id: StepId| {
            let needs = plan.step(id).needs.iter();
            needs.map(|need| met[need.step.index()]).try_fold(Duration::ZERO, |last, at| at.map(|at| last.max(at)))
        };
        for id in plan.ids() {
            // What nobody wanted is taken as done when its own needs are.
            let proved = until(id).filter(|end| !end.is_failed).map(|end| end.at);
            met.push(if is_left(id) { from(&met, id) } else { proved });
        }
        let from = |id: StepId| from(&met, id);
        let met = |id: StepId| met[id.index()];
        // What was in place when the run began takes no time of it: a part is compared with that part.
        let was_there = |id: StepId| until(id).is_some_and(|end| !end.is_failed && end.at.is_zero());
        let expected = plan.expected(|id| is_left(id) || was_there(id));
        // Whoever has begun, is not done and was not given up is what the run ended with.
        let gone_on = |id: StepId| until(id).filter(|end| end.is_failed).map_or(took, |end| end.at);
        let last = |id: StepId| met(id).or(from(id).map(|_| gone_on(id))).unwrap_or_default();
        let times: Vec<Duration> = plan.ids().map(last).collect();
        let critical: BTreeSet<StepId> = plan.critical_path(&times).into_iter().collect();
        let bar = |id: StepId| {
            let step = plan.step(id);
            let from = from(id).filter(|_| !is_left(id))?;
            Some(Bar {
                step: id,
                key: step.key.clone(),
                layer: step.layer,
                from,
                until: met(id),
                expected_from: expected[id.index()].saturating_sub(if was_there(id) {
                    Duration::ZERO
                } else {
                    step.expected
                }),
                expected_until: expected[id.index()],
                is_critical: critical.contains(&id),
            })
        };
        let mut bars: Vec<Bar> = plan.ids().filter_map(bar).collect();
        bars.sort_by_key(|bar| (bar.from, bar.until, bar.step));
        let absent = plan.ids().filter(|id| !is_left(*id)).count() - bars.len();
        let is_simulated =
            lines.iter().any(|line| matches!(&line.event, Event::Began { world, .. } if world.is_simulated()));
        Self { is_simulated, bars, absent, took, expected: expected.iter().max().copied().unwrap_or_default() }
    }
}

/// How a step ended.
#[derive(Clone, Copy)]
struct End {
    at: Duration,
    is_left: bool,
    is_failed: bool,
}

fn ends(lines: &[Line], start: Duration) -> BTreeMap<&str, End> {
    let ended = |line: &'_ Line| {
        let is_failed = matches!(line.event, Event::Failed { .. });
        let is_left = matches!(line.event, Event::Left { .. });
        let is_end = is_failed || is_left || matches!(line.event, Event::Proved { .. });
        is_end.then(|| End { at: line.time().saturating_sub(start), is_left, is_failed })
    };
    lines.iter().filter_map(|line| Some((line.event.step()?, ended(line)?))).collect()
}

/// How long it will still take, if everything takes as long as expected from here on. What takes longer than that
/// already may be done at any moment.
pub fn remaining(plan: &Plan, machine: &Machine<'_>, now: Duration) -> Duration {
    let mut at: Vec<Duration> = Vec::with_capacity(plan.steps.len());
    for id in plan.ids() {
        let step = plan.step(id);
        let ready = || step.needs.iter().map(|need| at[need.step.index()]).max().unwrap_or(now).max(now);
        at.push(match machine.state(id) {
            State::Proved { .. } | State::Left | State::Failed { .. } | State::Blocked { .. } => now,
            State::Waiting if machine.is_left(id) => ready(),
            State::Waiting => ready() + step.expected,
            State::Looking | State::Acting | State::Proving { .. } | State::Pausing { .. } => {
                (machine.began(id) + step.expected).max(now)
            }
        });
    }
    at.into_iter().max().unwrap_or(now).saturating_sub(now)
}
