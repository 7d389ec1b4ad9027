//! The API server in small: objects come and go, definitions take a moment, admission refuses.

use super::{EXISTS, READY, REPORTED, World};
use crate::blueprint::{Id, Millis, ThingRole};
use crate::event::{Reason, What};

/// From applied to established.
const ESTABLISHED_MILLIS: (u64, u64) = (100, 400);

/// What kstatus makes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Current,
    InProgress,
    Failed,
}

/// After this long a Deployment that is not available has failed.
pub(super) const PROGRESS_DEADLINE_MILLIS: u64 = 600_000;

impl World<'_> {
    /// Something that is simply there from the start.
    pub(super) fn give(&mut self, id: Id) {
        self.create(id);
        if matches!(self.blueprint.role(id), ThingRole::Definition) || self.is_only_named(id) {
            self.disarm(id);
            self.make_ready(id);
        }
    }

    /// A Kustomization or release that no file here defines.
    fn is_only_named(&self, id: Id) -> bool {
        match self.blueprint.role(id) {
            ThingRole::Kustomization(at) => {
                self.blueprint.kustomizations[at as usize].specs.iter().all(Option::is_none)
            }
            ThingRole::Release(at) => self.blueprint.releases[at as usize].specs.iter().all(Option::is_none),
            _ => false,
        }
    }

    pub(super) fn create(&mut self, id: Id) {
        if self.exists(id) {
            return;
        }
        self.flags[id.index()] |= EXISTS;
        self.created[id.index()] = self.now;
        self.epoch += 1;
        // It may reject what was accepted before.
        if matches!(self.blueprint.role(id), ThingRole::Webhook(_)) {
            self.idle.has_worsened();
        }
        self.note(Some(id), What::Created);
        self.notify(id);
        self.poke(id);
    }

    pub(super) fn remove(&mut self, id: Id) {
        if !self.exists(id) {
            return;
        }
        self.unready(id);
        self.flags[id.index()] &= !(EXISTS | REPORTED);
        self.idle.has_worsened();
        self.disarm(id);
        self.note(Some(id), What::Removed);
        self.notify(id);
    }

    pub(super) fn make_ready(&mut self, id: Id) {
        if self.is_ready(id) {
            return;
        }
        self.flags[id.index()] |= READY | REPORTED;
        self.epoch += 1;
        if self.blueprint.thing(id).is_expected {
            self.missing -= 1;
        }
        self.note(Some(id), What::Ready);
        self.notify(id);
    }

    pub(super) fn unready(&mut self, id: Id) {
        if !self.is_ready(id) {
            return;
        }
        self.flags[id.index()] &= !READY;
        self.idle.has_worsened();
        self.note(Some(id), What::NotReady);
        if self.blueprint.thing(id).is_expected {
            self.missing += 1;
        }
    }

    pub(super) fn report(&mut self, id: Id) {
        if !self.is_reported(id) {
            self.flags[id.index()] |= REPORTED;
            self.epoch += 1;
            self.note(Some(id), What::Reported);
        }
    }

    pub(super) fn notify(&mut self, id: Id) {
        let blueprint = self.blueprint;
        self.wake.extend_from_slice(blueprint.watchers.of(id));
    }

    pub(super) fn definition_looks(&mut self, id: Id) {
        if self.exists(id) && !self.is_ready(id) && !self.is_armed(id) {
            let (least, most) = ESTABLISHED_MILLIS;
            self.schedule(id, self.now + self.latency(id, 1, least, most), false);
        }
    }

    /// Whether an object would be taken: what a dry run asks.
    pub(super) fn admit(&self, id: Id) -> Result<(), Reason> {
        let thing = self.blueprint.thing(id);
        if thing.definition.is_some_and(|definition| !self.is_ready(definition)) {
            return Err(Reason::NoMatch(id));
        }
        if thing.home.is_some_and(|home| !self.exists(home)) {
            return Err(Reason::NamespaceNotFound(id));
        }
        match thing.webhooks.iter().find(|webhook| self.exists(**webhook) && !self.answers(**webhook, id)) {
            Some(webhook) => Err(Reason::WebhookDown(id, *webhook, self.unready_server(*webhook).is_none())),
            None => Ok(()),
        }
    }

    fn answers(&self, webhook: Id, about: Id) -> bool {
        let ThingRole::Webhook(at) = self.blueprint.role(webhook) else { return true };
        let it = &self.blueprint.webhooks[at as usize];
        if it.exempt.contains(&self.blueprint.thing(about).namespace) {
            return true;
        }
        !self.disturbance.webhook_is_down(at, self.now) && self.unready_server(webhook).is_none()
    }

    /// One of those that answer for a webhook, and is not ready to.
    pub(super) fn unready_server(&self, webhook: Id) -> Option<Id> {
        let ThingRole::Webhook(at) = self.blueprint.role(webhook) else { return None };
        self.blueprint.webhooks[at as usize].servers.iter().copied().find(|server| !self.is_ready(*server))
    }

    /// What kstatus says of an object; `asked` where an expression wants its status.
    pub(super) fn status(&self, id: Id, asked: bool) -> Status {
        if !self.exists(id) {
            return Status::InProgress;
        }
        let when = |is: bool| if is { Status::Current } else { Status::InProgress };
        match self.blueprint.role(id) {
            ThingRole::Plain | ThingRole::Webhook(_) => Status::Current,
            ThingRole::Release(at) => {
                let state = &self.releases[at as usize];
                if state.is_stalled() { Status::Failed } else { when(self.is_ready(id) || state.is_suspended()) }
            }
            ThingRole::Workload(at) => {
                let has_failed = self.workload_fails_at(at).is_some_and(|fails_at| self.now >= fails_at);
                if has_failed { Status::Failed } else { when(self.is_ready(id)) }
            }
            // No status is no objection.
            ThingRole::Custom(at) => {
                let is_silent = self.blueprint.customs[at as usize].is_silent;
                when(self.is_ready(id) || (!asked && (is_silent || !self.is_reported(id))))
            }
            // A class is there, or not.
            ThingRole::Derived(_) if self.blueprint.thing(id).kind == "StorageClass" => Status::Current,
            ThingRole::Derived(_) | ThingRole::Definition | ThingRole::Source(_) | ThingRole::Kustomization(_) => {
                when(self.is_ready(id))
            }
        }
    }

    /// When an object fails for good unless it becomes ready; nothing where no time makes it fail.
    pub(super) fn fails_at(&self, id: Id) -> Option<Millis> {
        match self.blueprint.role(id) {
            ThingRole::Workload(at) if self.exists(id) => self.workload_fails_at(at),
            _ => None,
        }
    }

    /// One that has been available is not given up when it loses pods.
    fn workload_fails_at(&self, at: u32) -> Option<Millis> {
        let workload = &self.blueprint.workloads[at as usize];
        let may_fail = workload.has_deadline && !self.is_reported(workload.id);
        may_fail.then(|| self.created[workload.id.index()] + PROGRESS_DEADLINE_MILLIS)
    }
}
