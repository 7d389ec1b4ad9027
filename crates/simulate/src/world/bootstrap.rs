//! What is done before Flux starts. A helmfile starts a release when those it needs are done, and stops at the first failure.

use super::{API_READY, BOOTSTRAP, CONTROL, MACHINE_UP, NODES_JOINED, World};
use crate::blueprint::{Chart, Id, Millis, Role, Step};
use crate::event::{Reason, What};

/// From switched on to an operating system that answers.
const MACHINE_BOOTS: (Millis, Millis) = (40_000, 120_000);
/// A member of etcd, from the machine's start.
const MEMBER_STARTS: (Millis, Millis) = (10_000, 30_000);
const API_STARTS: (Millis, Millis) = (10_000, 30_000);
/// From an API server to a node that pods can be placed on.
const NODE_JOINS: (Millis, Millis) = (10_000, 30_000);
/// helmfile, from one release to the next.
const BETWEEN: Millis = 2_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepState {
    Pending,
    Running { until: Millis },
    Done,
    Failed,
}

#[derive(Clone, Debug, Default)]
pub(super) struct BootstrapState {
    steps: Vec<StepState>,
    is_running: bool,
    has_api: bool,
    is_done: bool,
    pub(super) failed: Option<Reason>,
}

impl BootstrapState {
    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }
}

impl World<'_> {
    pub(super) fn begin_bootstrap(&mut self) {
        let count = self.blueprint.steps.len();
        self.bootstrap.steps.clear();
        self.bootstrap.steps.resize(count, StepState::Pending);
        self.bootstrap.is_done = false;
        self.bootstrap.failed = None;
        self.bootstrap.has_api = false;
        self.bootstrap.is_running = self.blueprint.runs_bootstrap;
        if self.blueprint.machines.is_some() {
            return self.switch_on();
        }
        if self.bootstrap.is_running {
            self.queue.push(0, CONTROL, BOOTSTRAP);
            return;
        }
        self.bring_at_once();
    }

    /// All that a bootstrap brings is there, and has been for a while.
    fn bring_at_once(&mut self) {
        let blueprint = self.blueprint;
        for step in &blueprint.steps {
            match step {
                Step::Apply(objects) => {
                    for id in objects {
                        self.give(*id);
                    }
                }
                Step::Release { chart, .. } => self.install_at_once(chart),
            }
        }
        self.start_flux();
    }

    /// Machines boot, etcd finds a quorum, the API server answers, the first node joins.
    fn switch_on(&mut self) {
        let Some((machines, nodes)) = self.blueprint.machines else { return };
        let all = machines.control_planes + machines.workers;
        let mut members: Vec<Millis> = Vec::new();
        for machine in 0..all {
            let (least, most) = MACHINE_BOOTS;
            let up = least + self.share(nodes, 100 + machine, most - least);
            let Some(up) = self.disturbance.machine_up(machine, up) else { continue };
            self.queue.push(up, CONTROL, MACHINE_UP + machine);
            if machine < machines.control_planes && !self.disturbance.member_is_lost(machine) {
                let (least, most) = MEMBER_STARTS;
                members.push(up + least + self.share(nodes, 200 + machine, most - least));
            }
        }
        members.sort_unstable();
        let majority = usize::try_from(machines.control_planes / 2 + 1).unwrap_or(usize::MAX);
        let Some(quorum) = members.get(majority - 1) else {
            self.bootstrap.failed = Some(Reason::NoQuorum);
            self.note(None, What::BootstrapFailed(Reason::NoQuorum));
            return;
        };
        let (least, most) = API_STARTS;
        let up = quorum + least + self.share(nodes, 300, most - least);
        self.queue.push(up, CONTROL, API_READY);
    }

    fn share(&self, of: Id, question: u32, millis: Millis) -> Millis {
        let factor = self.disturbance.api_factor.min(3.0);
        super::scaled(millis, self.draw(of, question) * factor)
    }

    /// The API server answers for the first time.
    pub(super) fn api_is_ready(&mut self) {
        self.note(None, What::ApiUp);
        self.bootstrap.has_api = true;
        let Some((_, nodes)) = self.blueprint.machines else { return };
        let (least, most) = NODE_JOINS;
        let joins = least + self.share(nodes, 400, most - least);
        self.queue.push(self.now + joins, CONTROL, NODES_JOINED);
    }

    pub(super) fn nodes_have_joined(&mut self) {
        if let Some((_, nodes)) = self.blueprint.machines {
            self.create(nodes);
        }
        if !self.blueprint.runs_bootstrap {
            self.bring_at_once();
        }
    }

    /// A release that has been there for a while.
    fn install_at_once(&mut self, chart: &Chart) {
        for id in chart.makes_namespace.iter().chain(&chart.definitions).chain(&chart.objects) {
            self.give(*id);
            match self.blueprint.role(*id) {
                Role::Workload(at) => {
                    self.disarm(*id);
                    self.pod_runs(at);
                }
                Role::Custom(at) => {
                    self.disarm(*id);
                    let blueprint = self.blueprint;
                    let made: &[Id] = &blueprint.customs[at as usize].makes;
                    for made in made {
                        self.create(*made);
                    }
                    self.make_ready(*id);
                }
                _ => {}
            }
        }
    }

    fn start_flux(&mut self) {
        self.bootstrap.is_done = true;
        self.bootstrap.is_running = false;
        self.note(None, What::FluxStarted);
        let blueprint = self.blueprint;
        for id in &blueprint.flux {
            self.create(*id);
        }
    }

    /// Starts what can be started, ends what has ended.
    pub(super) fn advance_bootstrap(&mut self) {
        let has_api = self.blueprint.machines.is_none() || self.bootstrap.has_api;
        if !self.bootstrap.is_running || !has_api || self.bootstrap.failed.is_some() {
            return;
        }
        let blueprint = self.blueprint;
        let mut is_first_pending = true;
        for (at, step) in blueprint.steps.iter().enumerate() {
            let state = self.bootstrap.steps[at];
            match (state, step) {
                (StepState::Pending, Step::Apply(objects)) if is_first_pending => {
                    for id in objects {
                        self.create(*id);
                    }
                    self.bootstrap.steps[at] = StepState::Done;
                }
                (StepState::Pending, Step::Release { chart, needs, waits, timeout, .. }) => {
                    let before = blueprint.steps.iter().zip(&self.bootstrap.steps);
                    let applied = before.filter(|(step, _)| matches!(step, Step::Apply(_)));
                    let can_start = applied.into_iter().all(|(_, state)| *state == StepState::Done)
                        && needs.iter().all(|need| self.bootstrap.steps[*need] == StepState::Done);
                    if can_start {
                        self.start_release(at, chart, *waits, *timeout);
                    }
                }
                (StepState::Running { .. }, Step::Release { chart, .. })
                    if chart.waits_for.iter().all(|id| self.is_ready(*id)) =>
                {
                    self.bootstrap.steps[at] = StepState::Done;
                    // The next group begins a moment later.
                    self.queue.push(self.now + BETWEEN, CONTROL, BOOTSTRAP);
                }
                _ => {}
            }
            is_first_pending &= self.bootstrap.steps[at] == StepState::Done;
        }
        if self.bootstrap.steps.iter().all(|state| *state == StepState::Done) {
            self.start_flux();
        }
    }

    fn start_release(&mut self, at: usize, chart: &Chart, waits: bool, timeout: Millis) {
        for id in chart.makes_namespace.iter().chain(&chart.definitions).chain(&chart.objects) {
            self.create(*id);
        }
        if waits {
            let until = self.now + timeout;
            self.bootstrap.steps[at] = StepState::Running { until };
            self.queue.push(until, CONTROL, BOOTSTRAP);
        } else {
            self.bootstrap.steps[at] = StepState::Done;
            self.queue.push(self.now + BETWEEN, CONTROL, BOOTSTRAP);
        }
    }

    pub(super) fn bootstrap_alarm(&mut self) {
        let blueprint = self.blueprint;
        for (at, step) in blueprint.steps.iter().enumerate() {
            let Step::Release { name, chart, .. } = step else { continue };
            if let StepState::Running { until } = self.bootstrap.steps[at]
                && self.now >= until
                && chart.waits_for.iter().any(|id| !self.is_ready(*id))
            {
                self.bootstrap.steps[at] = StepState::Failed;
                let reason = Reason::BootstrapTimeout(*name);
                self.bootstrap.failed.get_or_insert(reason);
                self.note(None, What::BootstrapFailed(reason));
            }
        }
    }

    /// Somebody starts the bootstrap again, after it has failed.
    pub fn bootstrap_again(&mut self) {
        self.bootstrap.failed = None;
        for state in &mut self.bootstrap.steps {
            if matches!(state, StepState::Failed) {
                *state = StepState::Pending;
            }
        }
        self.is_over = None;
        self.queue.push(self.now, CONTROL, BOOTSTRAP);
    }

    /// Somebody applies an object by hand.
    pub fn apply_by_hand(&mut self, id: Id) {
        self.create(id);
        self.is_over = None;
        self.settle();
    }
}
