//! What somebody does to the world: one place for all of it, whoever it is.

use super::World;
use crate::blueprint::{Id, Millis};
use crate::event::{Reason, What};
use crate::fault::Fault;
use crate::queue::WorldAlarm;
use crate::stage::{Act, Action, Done};

/// The sealing key, as the controller has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Key {
    #[default]
    None,
    Restored,
    /// It came when the controller had made one of its own.
    Late,
}

impl<'b> World<'b> {
    /// A world in which nobody has done anything yet, and nobody will but by [`World::act`].
    pub fn begin(blueprint: &'b crate::Blueprint, seed: u64, faults: &[Fault]) -> Self {
        let mut world = Self::new(blueprint);
        world.trace = Some(Vec::new());
        world.start(seed, faults);
        world.settle();
        world
    }

    /// The world that comes of doing the same things at the same moments: how one is kept from one process to the next.
    pub fn replay(blueprint: &'b crate::Blueprint, seed: u64, faults: &[Fault], acts: &[(Millis, Action)]) -> Self {
        let mut world = Self::begin(blueprint, seed, faults);
        for (at, action) in acts {
            // What was refused then is refused again.
            let _ = world.act(*at, *action);
        }
        world
    }

    /// Somebody does something at a moment, or now if that has passed. The error is why the world refuses.
    pub fn act(&mut self, at: Millis, action: Action) -> Result<Done, Reason> {
        self.advance(at);
        let result = self.perform(action);
        if result == Ok(Done::Begun) {
            self.is_over = None;
        }
        self.settle();
        result
    }

    /// Everything that was ever done, and what it came to.
    pub fn acts(&self) -> &[Act] {
        &self.acts
    }

    /// What must be done once and was done again.
    pub fn done_twice(&self) -> impl Iterator<Item = &Act> {
        self.acts.iter().filter(|act| act.action.is_once() && act.result == Ok(Done::Again))
    }

    pub(super) fn perform(&mut self, action: Action) -> Result<Done, Reason> {
        let result = self.carry_out(action);
        self.acts.push(Act { at: self.now, action, result });
        if result.is_ok() {
            self.note(None, What::Acted(action));
        }
        result
    }

    fn carry_out(&mut self, action: Action) -> Result<Done, Reason> {
        match action {
            Action::MakeSecrets => Ok(self.make_secrets()),
            Action::PowerOn(machine) => self.power_on(machine),
            Action::Configure(machine) => self.configure(machine),
            Action::BootstrapEtcd(machine) => self.bootstrap_etcd(machine),
            Action::Apply(id) => self.with_api()?.apply_one(id),
            Action::RestoreKey => self.with_api()?.restore_key(),
            Action::Install(release) => self.with_api()?.install(release),
            Action::Run(run) => Ok(self.begin_run(run)),
            Action::StartFlux => self.with_api()?.install_flux(),
        }
    }

    fn with_api(&mut self) -> Result<&mut Self, Reason> {
        match self.lacks_api() {
            Some(reason) => Err(reason),
            None => Ok(self),
        }
    }

    fn apply_one(&mut self, id: Id) -> Result<Done, Reason> {
        if self.exists(id) {
            return Ok(Done::Again);
        }
        self.admit(id)?;
        self.create(id);
        // A key that is applied like any other object is a key.
        if self.blueprint.sealing_keys.contains(&id) {
            self.restore_key()?;
        }
        Ok(Done::Begun)
    }

    fn restore_key(&mut self) -> Result<Done, Reason> {
        if !self.blueprint.has_sealing_key {
            return Err(Reason::NoSealingKey);
        }
        if self.key != Key::None {
            return Ok(Done::Again);
        }
        let mut sealed = self.blueprint.customs.iter().filter(|custom| custom.is_sealed);
        let is_late = sealed.any(|custom| !custom.controller.is_empty() && self.all_hold(&custom.controller));
        self.key = if is_late { Key::Late } else { Key::Restored };
        self.epoch += 1;
        Ok(Done::Begun)
    }

    fn install_flux(&mut self) -> Result<Done, Reason> {
        if self.has_flux {
            return Ok(Done::Again);
        }
        if let Some(name) = self.lacks_flux_release() {
            return Err(Reason::NotInstalled(name));
        }
        self.start_flux();
        Ok(Done::Begun)
    }

    pub(super) fn start_flux(&mut self) {
        self.started_without = if self.blueprint.has_steps() { self.shortage() } else { None };
        self.has_flux = true;
        self.note(None, What::FluxStarted);
        self.disturbance.flux_starts(self.now);
        if self.disturbance.webhooks_answer_at() > self.now {
            self.queue.push_world(self.disturbance.webhooks_answer_at(), WorldAlarm::WebhooksAnswer);
        }
        let blueprint = self.blueprint;
        for id in &blueprint.flux {
            self.create(*id);
        }
    }
}
