//! What a run took, against what it was expected to take.

use std::collections::BTreeSet;
use std::time::Duration;

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
    /// In the order in which they began.
    pub bars: Vec<Bar>,
    /// From the start of the run to the last proof.
    pub took: Duration,
    pub expected: Duration,
}

impl Timeline {
    /// Of a run that began at `start`.
    pub fn new(plan: &Plan, machine: &Machine<'_>, start: Duration) -> Self {
        let expected = plan.expected();
        let proved = |id: StepId| match machine.state(id) {
            State::Proved { at } => Some(at.saturating_sub(start)),
            State::Left => Some(Duration::ZERO),
            _ => None,
        };
        let times: Vec<Duration> = plan.ids().map(|id| proved(id).unwrap_or_default()).collect();
        let critical: BTreeSet<StepId> = plan.critical_path(&times).into_iter().collect();
        let bar = |id: StepId| {
            let step = plan.step(id);
            Bar {
                step: id,
                key: step.key.clone(),
                layer: step.layer,
                from: machine.began(id).saturating_sub(start),
                until: proved(id),
                expected_from: expected[id.index()].saturating_sub(step.expected),
                expected_until: expected[id.index()],
                is_critical: critical.contains(&id),
            }
        };
        let mut bars: Vec<Bar> = plan.ids().map(bar).collect();
        bars.sort_by_key(|bar| (bar.from, bar.until, bar.step));
        Self {
            bars,
            took: times.iter().max().copied().unwrap_or_default(),
            expected: expected.iter().max().copied().unwrap_or_default(),
        }
    }
}
