//! What can be seen of the world from outside.

use super::World;
use super::act::Key;
use crate::blueprint::{Id, Millis, Prerequisite, ThingRole};
use crate::event::Reason;
use crate::stage::{Probe, Proof};

impl World<'_> {
    /// Whether something holds now, and if not, why.
    pub fn look(&self, probe: Probe) -> Proof {
        match self.lacks(probe) {
            None => Proof { met: true, reason: Reason::None },
            Some(reason) => Proof { met: false, reason },
        }
    }

    /// When something may be different next, if nobody acts; nothing if never.
    pub fn next_event_at(&self) -> Option<Millis> {
        self.queue.next_at()
    }

    /// A fault of this boot touches the thing itself: its pods, its webhook, its key, where it is fetched from.
    pub fn is_struck(&self, id: Id) -> bool {
        match self.blueprint.role(id) {
            ThingRole::Workload(at) => self.pod_is_struck(at),
            ThingRole::Webhook(at) => self.disturbance.strikes_webhook(at),
            ThingRole::Source(at) => self.blueprint.sources[at as usize].is_git && self.disturbance.git_down_until > 0,
            ThingRole::Custom(at) => self.blueprint.customs[at as usize].is_sealed && self.disturbance.key_is_lost,
            _ => false,
        }
    }

    /// A fault of this boot touches this machine.
    pub fn is_machine_struck(&self, machine: u32) -> bool {
        self.disturbance.strikes_machine(machine)
    }

    /// A fault of this boot touches the API server, and through it everything.
    pub fn is_everything_struck(&self) -> bool {
        self.disturbance.strikes_everything()
    }

    fn lacks(&self, probe: Probe) -> Option<Reason> {
        match probe {
            Probe::Machine(machine) => self.lacks_machine(machine),
            Probe::Configured(machine) => self.lacks_configuration(machine),
            Probe::Secrets => self.lacks_secrets(),
            Probe::Bootstrapped => self.lacks_bootstrap(),
            Probe::Run(run) => self.lacks_run(run),
            Probe::Etcd => self.lacks_etcd(),
            Probe::Api => self.lacks_api(),
            // The rest is asked of the API server.
            other => self.lacks_api().or_else(|| self.lacks_in_cluster(other)),
        }
    }

    fn lacks_in_cluster(&self, probe: Probe) -> Option<Reason> {
        match probe {
            Probe::Node(machine) => self.lacks_node(machine),
            Probe::SealingKey => (self.key == Key::None).then_some(Reason::NoSealingKey),
            Probe::Exists(id) => (!self.exists(id)).then_some(Reason::NotThere(id)),
            Probe::Ready(id) => (!self.is_ready(id)).then(|| self.unready_reason(id)),
            Probe::Installed(release) => self.lacks_install(release),
            Probe::Healthy(release) => self.lacks_health(release),
            Probe::Flux => (!self.has_flux).then_some(Reason::FluxNotStarted),
            Probe::Converged => self.lacks_something(),
            Probe::Secrets
            | Probe::Machine(_)
            | Probe::Configured(_)
            | Probe::Bootstrapped
            | Probe::Run(_)
            | Probe::Etcd
            | Probe::Api => None,
        }
    }

    fn lacks_something(&self) -> Option<Reason> {
        if !self.has_flux {
            return Some(Reason::FluxNotStarted);
        }
        if self.missing == 0 {
            return None;
        }
        let lacking = |id: &Id| self.blueprint.thing(*id).is_expected && !self.is_ready(*id);
        let flux = || self.blueprint.flux_objects().filter(lacking);
        // Whoever has a reason of its own says more than those who wait for it.
        let own = flux().find(|id| self.exists(*id) && !self.reason(*id).is_wait());
        let mut all = (0..).take(self.blueprint.things.len()).map(Id);
        let first = own.or_else(|| flux().next()).or_else(|| all.find(lacking));
        first.map(|id| self.unready_reason(id))
    }

    pub(super) fn unready_reason(&self, id: Id) -> Reason {
        if !self.exists(id) {
            return Reason::NotThere(id);
        }
        let unmet = |needs: &[Prerequisite]| needs.iter().find(|need| !self.holds(**need)).map(|need| need.id);
        let waits_for = match self.blueprint.role(id) {
            ThingRole::Kustomization(_) | ThingRole::Release(_) => {
                let reason = self.reason(id);
                return if reason == Reason::None { Reason::NotReady(id) } else { reason };
            }
            ThingRole::Workload(at) => {
                let workload = &self.blueprint.workloads[at as usize];
                unmet(&workload.needs).or_else(|| unmet(&workload.crashes_without))
            }
            ThingRole::Custom(at) => {
                let custom = &self.blueprint.customs[at as usize];
                let controller = unmet(&custom.controller);
                if controller.is_none() && custom.is_sealed && !self.has_sealing_key() {
                    return Reason::NoSealingKey;
                }
                // Of what it makes it waits for pods alone.
                let is_late =
                    |made: &Id| matches!(self.blueprint.role(*made), ThingRole::Workload(_)) && !self.is_ready(*made);
                let made = || custom.makes.iter().copied().find(|made| self.exists(*made) && is_late(made));
                controller.or_else(|| unmet(&custom.needs)).or_else(made)
            }
            ThingRole::Derived(at) => self.blueprint.derived[at as usize].any.first().and_then(|needs| unmet(needs)),
            ThingRole::Plain | ThingRole::Definition | ThingRole::Source(_) | ThingRole::Webhook(_) => None,
        };
        waits_for.map_or(Reason::NotReady(id), |on| Reason::WaitsFor(id, on))
    }
}
