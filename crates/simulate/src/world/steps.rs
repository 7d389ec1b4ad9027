//! The boot before GitOps as files have it: each step begins when those that it comes after are done, waits for what it waits for, and
//! stops its run where that does not come in time. A wait whose failure stops nothing lets the boot go on.

use model::{Extent, Fact};

use super::World;
use super::installs::Install;
use crate::blueprint::Millis;
use crate::event::{Lack, Reason};
use crate::queue::WorldAlarm;
use crate::stage::{Action, Done};
use crate::steps::{Deed, Step};

/// How long a step waits for what it waits for, as the provider of Talos retries; of most scripts it is the same.
const WAIT_MAX: Millis = 600_000;
/// What Helm gives a release that says nothing else.
const INSTALL_MAX: Millis = 300_000;
/// How long something that speaks to the API server and finds none is borne.
const API_PATIENCE: Millis = 120_000;
/// A chart that is not known.
const INSTALL_TAKES: (Millis, Millis) = (30_000, 90_000);
/// Draws of steps begin here.
const QUESTION: u32 = 1_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StepState {
    #[default]
    Absent,
    Running {
        since: Millis,
        /// Since when it has what it speaks to.
        acts: Option<Millis>,
    },
    Done,
    Failed(Reason),
}

/// What one look at a running step shows.
enum Seen {
    Done,
    /// What it lacks, how long it waits for that, and whether it stops where that does not come.
    Lacks {
        lack: Lack,
        most: Millis,
        stops: bool,
    },
    /// It takes its time.
    Busy,
}

impl World<'_> {
    /// Does what can be done at this moment.
    pub(super) fn follow_steps(&mut self) {
        let mut has_moved = true;
        while has_moved {
            has_moved = false;
            for at in 0..self.blueprint.steps.all.len() {
                let was = self.steps[at];
                match was {
                    StepState::Absent if self.can_begin(at) => self.begin_step(at),
                    StepState::Running { since, acts } => self.go_on(at, since, acts),
                    _ => {}
                }
                has_moved |= self.steps[at] != was;
            }
        }
    }

    /// A run that nothing orders is started by a person, once there is something to speak to and the runs that make the cluster are through.
    fn can_begin(&self, at: usize) -> bool {
        let step = &self.blueprint.steps.all[at];
        let is_begun = self.runs.get(step.run as usize) == Some(&true);
        let is_behind = |on: &usize| {
            // A run that somebody else has to begin is somebody else's to order.
            let is_other = self.script.is_none() && !self.runs[self.blueprint.steps.all[*on].run as usize];
            is_other || self.steps[*on] == StepState::Done
        };
        let is_ready = step.after.iter().all(is_behind);
        let asks_api = step.does.needs_api() || step.waits.iter().any(|(fact, _)| !matches!(fact, Fact::EtcdRuns));
        let is_started =
            !step.after.is_empty() || !asks_api || self.lacks_api().is_none() && self.is_cluster_made(step.run);
        is_begun && !step.is_late && is_ready && is_started
    }

    /// Whether the runs that make the cluster, this one aside, are through.
    fn is_cluster_made(&self, run: u32) -> bool {
        let steps = &self.blueprint.steps;
        let makes = |of: u32| steps.all.iter().any(|step| step.run == of && step.does.is_of_machines());
        let others = steps.all.iter().zip(&self.steps).filter(|(step, _)| step.run != run && !step.is_late);
        let is_begun = |of: u32| self.runs.get(of as usize) == Some(&true);
        let mut open = others.filter(|(_, state)| **state != StepState::Done);
        makes(run) || !open.any(|(step, _)| is_begun(step.run) && makes(step.run))
    }

    fn begin_step(&mut self, at: usize) {
        self.steps[at] = StepState::Running { since: self.now, acts: None };
        if self.blueprint.steps.all[at].does == Deed::PowersOn {
            for machine in (0..).take(self.machine_count()) {
                let _ = self.perform(Action::PowerOn(machine));
            }
        }
        for most in [API_PATIENCE, WAIT_MAX] {
            self.queue.push_world(self.now + most, WorldAlarm::StepDue);
        }
        self.go_on(at, self.now, None);
    }

    fn go_on(&mut self, at: usize, since: Millis, acts: Option<Millis>) {
        let (acts, seen) = self.see(at, acts);
        // The time that something is waited for begins when it can be waited for.
        let begun = acts.unwrap_or(since);
        self.steps[at] = match seen {
            Seen::Done => StepState::Done,
            Seen::Lacks { lack, most, stops: true } if self.now >= begun + most => {
                StepState::Failed(Reason::StepStopped(source::to_u32(at), lack))
            }
            Seen::Lacks { most, stops: false, .. } if self.now >= begun + most => StepState::Done,
            Seen::Lacks { .. } | Seen::Busy => StepState::Running { since, acts },
        };
    }

    /// Since when it acts, and what a look at it shows.
    fn see(&mut self, at: usize, acts: Option<Millis>) -> (Option<Millis>, Seen) {
        let step = &self.blueprint.steps.all[at];
        if step.reaches_shared_address && self.lacks_etcd().is_some() {
            return (acts, Seen::Lacks { lack: Lack::Etcd, most: WAIT_MAX, stops: true });
        }
        if acts.is_none() && step.does.needs_api() && self.lacks_api().is_some() {
            return (acts, Seen::Lacks { lack: Lack::Api, most: API_PATIENCE, stops: true });
        }
        let since = acts.unwrap_or_else(|| {
            for most in [INSTALL_MAX, WAIT_MAX] {
                self.queue.push_world(self.now + most, WorldAlarm::StepDue);
            }
            self.now
        });
        let seen = match self.do_step(at, since) {
            Seen::Done => self.waits_of(step),
            other => other,
        };
        (Some(since), seen)
    }

    fn do_step(&mut self, at: usize, since: Millis) -> Seen {
        match self.blueprint.steps.all[at].does {
            Deed::PowersOn | Deed::Other => Seen::Done,
            Deed::Configures => self.configure_all(),
            Deed::BootstrapsEtcd => {
                if let Some(machine) = self.first_member() {
                    let _ = self.perform(Action::BootstrapEtcd(machine));
                }
                let lacks = self.lacks_bootstrap().is_some();
                if lacks { Seen::Lacks { lack: Lack::Etcd, most: WAIT_MAX, stops: true } } else { Seen::Done }
            }
            Deed::InstallsNetwork { release, unavailable_max } => {
                self.install_network(at, since, release, unavailable_max)
            }
            Deed::Installs { release: Some(release) } => self.install_known(release),
            Deed::Installs { release: None } => self.install_unknown(at, since),
            Deed::StoresKey => {
                // Without a key that was kept, there is nothing to do.
                let _ = self.perform(Action::RestoreKey);
                Seen::Done
            }
            Deed::StartsFlux => self.start_flux_by_step(),
        }
    }

    fn configure_all(&mut self) -> Seen {
        if self.lacks_secrets().is_some() {
            let _ = self.perform(Action::MakeSecrets);
        }
        while let Some(machine) = self.unconfigured() {
            if self.perform(Action::Configure(machine)).is_err() {
                break;
            }
        }
        let lacking = (0..).take(self.machine_count()).find(|machine| self.lacks_configuration(*machine).is_some());
        match lacking {
            Some(machine) => Seen::Lacks { lack: Lack::Answer(machine), most: WAIT_MAX, stops: true },
            None => Seen::Done,
        }
    }

    fn install_known(&mut self, release: u32) -> Seen {
        if self.installs[release as usize] == Install::Absent {
            let _ = self.perform(Action::Install(release));
        }
        match self.installs[release as usize] {
            Install::Done => Seen::Done,
            Install::Failed(_) => Seen::Lacks { lack: Lack::Release(release), most: 0, stops: true },
            Install::Absent | Install::Running { .. } => Seen::Busy,
        }
    }

    /// Of a chart that nothing is known of: it takes a while.
    fn install_unknown(&mut self, at: usize, since: Millis) -> Seen {
        let done = since + self.between(INSTALL_TAKES, QUESTION + source::to_u32(at));
        if self.now >= done {
            return Seen::Done;
        }
        self.queue.push_world(done, WorldAlarm::StepDue);
        Seen::Busy
    }

    /// Helm counts the DaemonSet of a network as ready with some of its pods missing, of the nodes that have joined by then.
    fn install_network(
        &mut self,
        at: usize,
        since: Millis,
        release: Option<u32>,
        unavailable_max: Option<u32>,
    ) -> Seen {
        let is_in = match release {
            Some(release) => {
                let seen = self.install_known(release);
                let network = self.blueprint.network;
                matches!(seen, Seen::Done) || network.is_some_and(|network| self.is_ready(network))
            }
            None => matches!(self.install_unknown(at, since), Seen::Done),
        };
        if is_in {
            self.has_network = true;
        }
        let Some(most) = unavailable_max else {
            return if is_in || release.is_some() { Seen::Done } else { Seen::Busy };
        };
        let without = self.nodes().filter(|node| self.disturbance.mute_node == Some(*node)).count();
        let is_enough = is_in && self.nodes().next().is_some() && without <= most as usize;
        match (is_enough, release) {
            (true, Some(release)) => {
                self.accept_install(release);
                Seen::Done
            }
            (true, None) => Seen::Done,
            (false, _) if !is_in => Seen::Lacks { lack: Lack::Network, most: INSTALL_MAX, stops: true },
            (false, _) => {
                let lack = self.disturbance.mute_node.map_or(Lack::Network, Lack::Agent);
                Seen::Lacks { lack, most: INSTALL_MAX, stops: true }
            }
        }
    }

    /// Flux is started once, by the last of the steps that start it, with all that the bootstrap brings before.
    fn start_flux_by_step(&mut self) -> Seen {
        let blueprint = self.blueprint;
        let starts = blueprint.steps.all.iter().zip(&self.steps).filter(|(step, _)| step.does == Deed::StartsFlux);
        let is_last = starts.into_iter().all(|(step, state)| step.is_late || *state != StepState::Absent);
        if is_last && self.script.is_some() && !self.has_flux {
            self.script_seeds();
            self.script_installs();
        } else if is_last && !self.has_flux {
            let _ = self.perform(Action::StartFlux);
        }
        if self.has_flux { Seen::Done } else { Seen::Busy }
    }
}

/// What steps wait for.
impl World<'_> {
    fn waits_of(&self, step: &Step) -> Seen {
        // What Helm waits for is seen to where it is installed.
        let waits = step.waits.iter().filter(|_| !step.does.is_network());
        let mut lenient = None;
        for (fact, of) in waits {
            let (stops, of) = if *of == Extent::Unchecked { (false, Extent::Existing) } else { (true, *of) };
            let Some(lack) = self.lacks_fact(*fact, of) else { continue };
            let seen = Seen::Lacks { lack, most: WAIT_MAX, stops };
            if stops {
                return seen;
            }
            lenient = Some(seen);
        }
        lenient.unwrap_or(Seen::Done)
    }

    fn lacks_fact(&self, fact: Fact, of: Extent) -> Option<Lack> {
        let api = self.lacks_api().map(|_| Lack::Api);
        match fact {
            Fact::EtcdRuns => self.lacks_etcd().map(|_| Lack::Etcd),
            Fact::ApiAnswers => api,
            // There is nothing to look at before Flux, and a step sees to what it makes itself.
            Fact::MachineStarted | Fact::StorageRuns | Fact::WorkloadsRun | Fact::ObjectExists | Fact::GitOpsRuns => {
                None
            }
            Fact::KubeletsRun => self.first_lacking(of, &|machine| self.lacks_kubelet(machine)),
            Fact::NodesJoined => api.or_else(|| self.first_lacking(of, &|machine| self.lacks_joined(machine))),
            Fact::NodesReady => api.or_else(|| self.first_lacking(of, &|machine| self.lacks_ready(machine))),
            Fact::NetworkRuns => api.or_else(|| self.first_lacking(of, &|machine| self.lacks_agent(machine))),
        }
    }

    /// The first of the machines that are looked at which lacks something. Where none is there to be looked at, one is missing.
    fn first_lacking(&self, of: Extent, lacks: &dyn Fn(u32) -> Option<Lack>) -> Option<Lack> {
        let all = || (0..).take(self.machine_count());
        match of {
            Extent::Expected => all().find_map(lacks),
            Extent::ControlPlanes => all().filter(|machine| self.is_control_plane(*machine)).find_map(lacks),
            Extent::Existing => {
                let mut nodes = self.nodes().peekable();
                if nodes.peek().is_none() { Some(Lack::Joined(0)) } else { nodes.find_map(lacks) }
            }
            Extent::Some | Extent::Unchecked => {
                let is_met = all().any(|machine| lacks(machine).is_none());
                if is_met { None } else { all().find_map(lacks) }
            }
        }
    }

    fn lacks_kubelet(&self, machine: u32) -> Option<Lack> {
        let is_idle = self.lacks_configuration(machine).is_some();
        (is_idle || self.disturbance.kubelet_waits == Some(machine)).then_some(Lack::Kubelet(machine))
    }

    fn lacks_joined(&self, machine: u32) -> Option<Lack> {
        let waits = self.disturbance.kubelet_waits == Some(machine);
        let lack = if waits { Lack::Kubelet(machine) } else { Lack::Joined(machine) };
        self.lacks_node(machine).map(|_| lack)
    }

    fn lacks_agent(&self, machine: u32) -> Option<Lack> {
        let is_mute = self.disturbance.mute_node == Some(machine);
        self.lacks_joined(machine).or_else(|| self.lacks_network()).or_else(|| is_mute.then_some(Lack::Agent(machine)))
    }

    /// A node is ready once its kubelet runs and an agent has set up its network.
    fn lacks_ready(&self, machine: u32) -> Option<Lack> {
        self.lacks_agent(machine)
    }

    /// Where no step installs it, it is not known where it comes from, and it is there.
    fn lacks_network(&self) -> Option<Lack> {
        let steps = &self.blueprint.steps;
        let is_brought = steps.lacks_network && steps.any(Deed::is_network);
        (is_brought && !self.has_network).then_some(Lack::Network)
    }

    fn machine_count(&self) -> usize {
        self.blueprint.machines.map_or(0, |(machines, _)| (machines.control_planes + machines.workers) as usize)
    }

    /// What the cluster lacks at this moment of what it is to be.
    pub(super) fn shortage(&self) -> Option<Lack> {
        (0..).take(self.machine_count()).find_map(|machine| self.lacks_ready(machine))
    }
}

/// Runs that somebody begins one by one.
impl World<'_> {
    /// What failed of it is tried again.
    pub(super) fn begin_run(&mut self, run: u32) -> Done {
        let Some(begun) = self.runs.get_mut(run as usize) else { return Done::Again };
        let was_begun = std::mem::replace(begun, true);
        let mut is_again = was_begun;
        for (step, state) in self.blueprint.steps.all.iter().zip(&mut self.steps) {
            if step.run == run && matches!(state, StepState::Failed(_)) {
                *state = StepState::Absent;
                is_again = false;
            }
        }
        if is_again { Done::Again } else { Done::Begun }
    }

    pub(super) fn lacks_run(&self, run: u32) -> Option<Reason> {
        let own = self.blueprint.steps.all.iter().zip(&self.steps).filter(|(step, _)| step.run == run && !step.is_late);
        let failed = own.clone().find_map(|(_, state)| match state {
            StepState::Failed(reason) => Some(*reason),
            _ => None,
        });
        let is_done = own.clone().all(|(_, state)| *state == StepState::Done);
        failed.or_else(|| (!is_done).then_some(Reason::None))
    }

    /// A step of the run has stopped it.
    pub fn run_has_failed(&self, run: u32) -> bool {
        let own = self.blueprint.steps.all.iter().zip(&self.steps).filter(|(step, _)| step.run == run);
        own.into_iter().any(|(_, state)| matches!(state, StepState::Failed(_)))
    }
}

/// How a boot by steps stands.
impl World<'_> {
    /// A step that stopped, where no other goes on.
    pub(super) fn stopped_step(&self) -> Option<Reason> {
        let is_running = self.steps.iter().any(|state| matches!(state, StepState::Running { .. }));
        let failed = self.steps.iter().find_map(|state| match state {
            StepState::Failed(reason) => Some(*reason),
            _ => None,
        });
        failed.filter(|_| !is_running || self.is_stuck_before_flux())
    }

    /// What still runs is a start of Flux that waits for another one.
    fn is_stuck_before_flux(&self) -> bool {
        let running = self.blueprint.steps.all.iter().zip(&self.steps);
        let mut running = running.filter(|(_, state)| matches!(state, StepState::Running { .. }));
        running.all(|(step, _)| step.does == Deed::StartsFlux)
    }

    pub(super) fn are_steps_done(&self) -> bool {
        self.blueprint.steps.all.iter().zip(&self.steps).all(|(step, state)| step.is_late || *state == StepState::Done)
    }
}
