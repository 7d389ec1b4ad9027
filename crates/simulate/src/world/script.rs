//! Somebody who brings the cluster up as the repository's own scripts do, with the same actions as everybody else: machines, the
//! key, seeded objects, then a helmfile that starts a release when those it needs are done and stops at the first failure, then Flux.
//!
//! Whole boots have it; a world that is driven from outside does not.

use super::World;
use super::installs::Install;
use crate::event::{Reason, What};
use crate::outcome::Verdict;
use crate::stage::Action;
use crate::steps::Deed;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Script {
    failed: Option<Reason>,
    is_done: bool,
}

impl World<'_> {
    pub(super) fn run_script(&mut self) {
        self.script = Some(Script::default());
        if let Some(machines) = self.blueprint.machines() {
            self.runs.fill(true);
            let _ = self.perform(Action::MakeSecrets);
            // Who switches them on is the first who does anything.
            let is_told = self.blueprint.steps.any(|does| does == Deed::PowersOn);
            for machine in (0..machines.control_planes + machines.workers).filter(|_| !is_told) {
                let _ = self.perform(Action::PowerOn(machine));
            }
        } else if !self.blueprint.runs_bootstrap {
            self.bring_at_once();
            self.script = Some(Script { failed: None, is_done: true });
        }
    }

    /// Does what can be done at this moment.
    pub(super) fn follow_script(&mut self) {
        let Some(script) = self.script else { return };
        if script.failed.is_some() {
            return;
        }
        if script.is_done {
            // What nothing orders before Flux goes on beside it.
            self.follow_steps();
            return;
        }
        let steps = &self.blueprint.steps;
        while let Some(machine) = self.unconfigured().filter(|_| !steps.any(|does| does == Deed::Configures)) {
            if self.perform(Action::Configure(machine)).is_err() {
                return;
            }
        }
        if let Some(machine) = self.first_member().filter(|_| !steps.any(|does| does == Deed::BootstrapsEtcd)) {
            let _ = self.perform(Action::BootstrapEtcd(machine));
        }
        let is_up = self.lacks_api().is_none();
        if is_up && self.are_seeds_withheld() {
            self.script = Some(Script { failed: Some(Reason::FluxNotStarted), is_done: false });
            return;
        }
        if !steps.is_empty() && !self.has_followed_steps() || self.lacks_api().is_some() {
            return;
        }
        if self.blueprint.runs_bootstrap {
            self.script_seeds();
            self.script_installs();
        } else if self.is_raised() {
            self.bring_at_once();
            self.script = Some(Script { failed: None, is_done: true });
        }
    }

    /// Whether the steps that files tell are all done, and there is something left to do.
    fn has_followed_steps(&mut self) -> bool {
        if self.lacks_api().is_none() {
            self.script_seeds();
        }
        self.follow_steps();
        if let Some(reason) = self.stopped_step().filter(|_| !self.has_flux) {
            self.script = Some(Script { failed: Some(reason), is_done: false });
            self.note(None, What::BootstrapFailed(reason));
            return false;
        }
        if self.has_flux {
            self.script = Some(Script { failed: None, is_done: true });
        }
        !self.has_flux && self.are_steps_done()
    }

    pub(super) fn script_seeds(&mut self) {
        let blueprint = self.blueprint;
        let is_stored_by_step = blueprint.steps.any(|does| does == Deed::StoresKey);
        if blueprint.has_sealing_key && !is_stored_by_step && self.key == super::act::Key::None {
            let _ = self.perform(Action::RestoreKey);
        }
        for id in &blueprint.seeded {
            // What is refused is tried again when something has changed.
            if !self.exists(*id) && self.admit(*id).is_ok() {
                let _ = self.perform(Action::Apply(*id));
            }
        }
    }

    pub(super) fn script_installs(&mut self) {
        let blueprint = self.blueprint;
        let mut has_begun = true;
        while has_begun {
            has_begun = false;
            for (at, it) in blueprint.early.iter().enumerate() {
                let can_begin = self.installs[at] == Install::Absent
                    && it.needs.iter().all(|need| self.installs[*need] == Install::Done);
                if can_begin {
                    has_begun = true;
                    let _ = self.perform(Action::Install(source::to_u32(at)));
                }
            }
            self.judge_installs();
        }
        let failed = self.installs.iter().find_map(|state| match state {
            Install::Failed(reason) => Some(*reason),
            _ => None,
        });
        if let Some(reason) = failed {
            self.script = Some(Script { failed: Some(reason), is_done: false });
            self.note(None, What::BootstrapFailed(reason));
        } else if self.installs.iter().all(|state| *state == Install::Done) && self.perform(Action::StartFlux).is_ok() {
            self.script = Some(Script { failed: None, is_done: true });
        }
    }

    /// Somebody starts the bootstrap again, after it has failed.
    pub fn bootstrap_again(&mut self) {
        for state in &mut self.installs {
            if matches!(state, Install::Failed(_)) {
                *state = Install::Absent;
            }
        }
        for state in &mut self.steps {
            if matches!(state, super::steps::StepState::Failed(_)) {
                *state = super::steps::StepState::Absent;
            }
        }
        self.script = self.script.map(|script| Script { failed: None, ..script });
        self.is_over = None;
        self.settle();
    }

    pub(crate) fn bootstrap_failed(&self) -> Option<Reason> {
        let script = self.script?;
        let has_ended = self.is_over == Some(Verdict::Stuck) && !script.is_done;
        script.failed.or_else(|| self.lacks_etcd().filter(|_| has_ended))
    }
}
