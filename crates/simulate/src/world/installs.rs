//! Releases of a bootstrap, as `helm install` puts them in: all of its objects at once, then a wait if it was asked for.

use super::World;
use crate::blueprint::{Chart, Id, Millis, ThingRole};
use crate::event::Reason;
use crate::queue::WorldAlarm;
use crate::stage::Done;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Install {
    #[default]
    Absent,
    Running {
        until: Millis,
    },
    Done,
    Failed(Reason),
}

impl World<'_> {
    pub(super) fn install(&mut self, release: u32) -> Result<Done, Reason> {
        let Some(it) = self.blueprint.early.get(release as usize) else { return Err(Reason::None) };
        let at = release as usize;
        if matches!(self.installs[at], Install::Running { .. } | Install::Done) {
            return Ok(Done::Again);
        }
        if self.is_release_withheld(release) {
            self.installs[at] = Install::Failed(Reason::NotInstalled(it.name));
            return Err(Reason::NotInstalled(it.name));
        }
        if let Some(reason) = self.refuses(&it.chart) {
            self.installs[at] = Install::Failed(reason);
            return Err(reason);
        }
        for id in it.chart.makes_namespace.iter().chain(&it.chart.definitions).chain(&it.chart.objects) {
            self.create(*id);
        }
        self.installs[at] = if it.waits {
            let until = self.now + it.timeout;
            self.queue.push_world(until, WorldAlarm::InstallDue);
            self.running += 1;
            Install::Running { until }
        } else {
            Install::Done
        };
        Ok(Done::Begun)
    }

    /// The first object that the API server does not take. What the chart brings itself is there in time.
    fn refuses(&self, chart: &Chart) -> Option<Reason> {
        let is_own = |id: Id| chart.definitions.contains(&id) || chart.objects.contains(&id);
        chart.objects.iter().filter(|id| !self.exists(**id)).find_map(|id| {
            let reason = self.admit(*id).err()?;
            let thing = self.blueprint.thing(*id);
            let comes = match reason {
                Reason::NoMatch(_) => thing.definition.is_some_and(is_own),
                Reason::NamespaceNotFound(_) => thing.home == chart.makes_namespace || thing.home.is_some_and(is_own),
                _ => false,
            };
            (!comes).then_some(reason)
        })
    }

    /// Waits that have ended, one way or the other.
    pub(super) fn judge_installs(&mut self) {
        if self.running == 0 {
            return;
        }
        for at in 0..self.installs.len() {
            let Install::Running { until } = self.installs[at] else { continue };
            let it = &self.blueprint.early[at];
            if it.chart.waits_for.iter().all(|id| self.is_ready(*id)) {
                self.installs[at] = Install::Done;
                self.running -= 1;
            } else if self.now >= until {
                self.installs[at] = Install::Failed(Reason::BootstrapTimeout(it.name));
                self.running -= 1;
            }
        }
    }

    /// Helm is content with less than all of it.
    pub(super) fn accept_install(&mut self, release: u32) {
        let state = &mut self.installs[release as usize];
        if matches!(state, Install::Running { .. }) {
            self.running -= 1;
        }
        if matches!(state, Install::Running { .. } | Install::Failed(Reason::BootstrapTimeout(_))) {
            *state = Install::Done;
        }
    }

    pub(super) fn lacks_install(&self, release: u32) -> Option<Reason> {
        let it = self.blueprint.early.get(release as usize)?;
        match self.installs[release as usize] {
            Install::Done => None,
            Install::Absent => Some(Reason::NotInstalled(it.name)),
            Install::Failed(reason) => Some(reason),
            Install::Running { .. } => self.lacks_health(release),
        }
    }

    pub(super) fn lacks_health(&self, release: u32) -> Option<Reason> {
        let it = self.blueprint.early.get(release as usize)?;
        match self.installs[release as usize] {
            Install::Absent => Some(Reason::NotInstalled(it.name)),
            Install::Failed(reason @ (Reason::NoMatch(_) | Reason::WebhookDown(..) | Reason::NamespaceNotFound(_))) => {
                Some(reason)
            }
            _ => it.chart.waits_for.iter().find(|id| !self.is_ready(**id)).map(|id| self.unready_reason(*id)),
        }
    }

    /// A release that brings Flux and is not in. One whose pods run is, though Helm may have given up waiting for them.
    pub(super) fn lacks_flux_release(&self) -> Option<u32> {
        let is_missing =
            |release: u32| self.installs[release as usize] != Install::Done && self.lacks_health(release).is_some();
        let mut all = (0..).zip(&self.blueprint.early);
        all.find(|(release, it)| it.is_flux && is_missing(*release)).map(|(_, it)| it.name)
    }

    /// All that a bootstrap brings is there, and has been for a while.
    pub(super) fn bring_at_once(&mut self) {
        let blueprint = self.blueprint;
        if blueprint.has_sealing_key {
            self.key = super::act::Key::Restored;
        }
        for id in &blueprint.seeded {
            self.give(*id);
        }
        for (at, it) in blueprint.early.iter().enumerate() {
            self.install_at_once(&it.chart);
            self.installs[at] = Install::Done;
        }
        self.make_at_once();
        self.start_flux();
    }

    /// What its programs make by themselves, CRDs above all, has been there for a while, too.
    fn make_at_once(&mut self) {
        let blueprint = self.blueprint;
        for (at, derived) in (0..).zip(&blueprint.derived) {
            if self.exists(derived.id) && !derived.makes.is_empty() && self.is_met(at) {
                self.disarm(derived.id);
                derived.makes.iter().for_each(|made| self.give(*made));
                self.make_ready(derived.id);
            }
        }
    }

    /// A release that has been there for a while.
    fn install_at_once(&mut self, chart: &Chart) {
        for id in chart.makes_namespace.iter().chain(&chart.definitions).chain(&chart.objects) {
            self.give(*id);
            match self.blueprint.role(*id) {
                ThingRole::Workload(at) => {
                    self.disarm(*id);
                    self.pod_runs(at);
                }
                ThingRole::Custom(at) => {
                    self.disarm(*id);
                    let blueprint = self.blueprint;
                    for made in &blueprint.customs[at as usize].makes {
                        self.create(*made);
                    }
                    self.make_ready(*id);
                }
                _ => {}
            }
        }
    }
}
