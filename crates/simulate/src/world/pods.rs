//! Workloads: pods that wait for what they mount, start, crash, and are ready.

use super::{World, scaled};
use crate::blueprint::{Id, Millis};

/// Start-up times vary around what the catalogue says.
const SPREAD: (f64, f64) = (0.6, 1.4);
/// One in twenty is much slower: a large image, a busy disk.
const SLOW_ONES: f64 = 0.05;
const SLOW_FACTOR: (f64, f64) = (1.5, 3.0);
/// The kubelet's pauses between crashes double from the first to the last.
const CRASH_PAUSE: (Millis, Millis) = (10_000, 300_000);
/// A container that has its image starts again in this.
const RESTART: (Millis, Millis) = (500, 3_000);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Waits,
    Starts,
    Crashes,
    Runs,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PodState {
    phase: Phase,
    /// Since when it crashes.
    since: Millis,
}

impl World<'_> {
    pub(super) fn workload_looks(&mut self, at: u32) {
        let workload = &self.blueprint.workloads[at as usize];
        let id = workload.id;
        if !self.exists(id) {
            self.pods[at as usize] = PodState::default();
            return;
        }
        match self.pods[at as usize].phase {
            Phase::Waits if self.all_hold(&workload.needs) => {
                let Some(takes) = self.startup(at) else { return };
                self.pods[at as usize].phase = Phase::Starts;
                self.schedule(id, self.now + takes, false);
            }
            Phase::Crashes if !self.is_armed(id) && self.all_hold(&workload.crashes_without) => {
                let again = self.next_start(self.pods[at as usize].since);
                let (least, most) = RESTART;
                self.schedule(id, again + self.latency(id, 3, least, most), false);
            }
            _ => {}
        }
    }

    pub(super) fn workload_alarm(&mut self, at: u32) {
        let workload = &self.blueprint.workloads[at as usize];
        let id = workload.id;
        if self.all_hold(&workload.crashes_without) {
            self.pods[at as usize].phase = Phase::Runs;
            self.make_ready(id);
        } else if self.pods[at as usize].phase == Phase::Starts {
            self.pods[at as usize] = PodState { phase: Phase::Crashes, since: self.now };
        }
    }

    /// From all it mounts to ready; nothing if never.
    fn startup(&self, at: u32) -> Option<Millis> {
        let workload = &self.blueprint.workloads[at as usize];
        let takes =
            if self.blueprint.is_steady { workload.startup } else { self.varied(workload.id, workload.startup) };
        self.disturbance.startup(at, workload, takes, self.now)
    }

    fn varied(&self, id: Id, millis: Millis) -> Millis {
        let between = |(least, most): (f64, f64), share: f64| least + (most - least) * share;
        let mut factor = between(SPREAD, self.draw(id, 1));
        if self.draw(id, 2) < SLOW_ONES {
            factor *= between(SLOW_FACTOR, self.draw(id, 4));
        }
        scaled(millis, factor)
    }

    /// The next start of a container that has crashed since a moment.
    fn next_start(&self, since: Millis) -> Millis {
        let (mut pause, most) = CRASH_PAUSE;
        let mut next = since + pause;
        while next < self.now {
            pause = (pause * 2).min(most);
            next += pause;
        }
        next
    }
}

impl World<'_> {
    /// Pods that have been running for a while.
    pub(super) fn pod_runs(&mut self, at: u32) {
        self.pods[at as usize].phase = Phase::Runs;
        self.make_ready(self.blueprint.workloads[at as usize].id);
    }
}
