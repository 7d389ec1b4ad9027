//! Operators and other controllers that are not Flux: what they make of custom resources, claims, classes and sources.

use super::{World, scaled};
use crate::blueprint::{Millis, ThingRole};
use crate::event::{Reason, What};

/// A controller that waited for something looks again after this.
const LOOKS_AGAIN: (Millis, Millis) = (500, 5_000);
const FETCH: (Millis, Millis) = (300, 1_500);

impl World<'_> {
    pub(super) fn custom_looks(&mut self, at: u32) {
        let custom = &self.blueprint.customs[at as usize];
        let id = custom.id;
        if !self.exists(id) || self.is_ready(id) || self.is_armed(id) || !self.all_hold(&custom.controller) {
            return;
        }
        if !self.is_reported(id) {
            let takes = custom.takes + self.latency(id, 1, 20, 150);
            self.schedule(id, self.now + takes, false);
        } else if self.custom_can_go_on(at) {
            let (least, most) = LOOKS_AGAIN;
            let pause = scaled(self.latency(id, 2, least, most), 1.0 / self.blueprint.pace);
            self.schedule(id, self.now + pause, false);
        }
    }

    /// All that it waits for is there, and something is still to be done.
    fn custom_can_go_on(&self, at: u32) -> bool {
        let custom = &self.blueprint.customs[at as usize];
        let is_locked = custom.is_sealed && !self.has_sealing_key();
        let has_made = custom.makes.iter().all(|made| self.exists(*made));
        !is_locked && self.all_hold(&custom.needs) && (!has_made || self.made_pods_run(at))
    }

    fn made_pods_run(&self, at: u32) -> bool {
        let made = &self.blueprint.customs[at as usize].makes;
        let mut pods = made.iter().filter(|id| matches!(self.blueprint.role(**id), ThingRole::Workload(_)));
        pods.all(|id| self.is_ready(*id))
    }

    pub(super) fn has_sealing_key(&self) -> bool {
        self.key == super::act::Key::Restored && !self.disturbance.key_is_lost
    }

    pub(super) fn custom_alarm(&mut self, at: u32) {
        let blueprint = self.blueprint;
        let custom = &blueprint.customs[at as usize];
        // Whoever looks after it went away meanwhile, and looks again when it is back.
        if !self.all_hold(&custom.controller) {
            return;
        }
        if custom.is_sealed && !self.has_sealing_key() {
            self.report(custom.id);
            self.note(Some(custom.id), What::Failed(Reason::NoSealingKey));
            return;
        }
        if !self.all_hold(&custom.needs) {
            self.report(custom.id);
            return;
        }
        for made in &custom.makes {
            self.create(*made);
        }
        if self.made_pods_run(at) {
            self.make_ready(custom.id);
        } else {
            self.report(custom.id);
        }
    }

    pub(super) fn derived_looks(&mut self, at: u32) {
        let derived = &self.blueprint.derived[at as usize];
        if !self.exists(derived.id) || self.is_ready(derived.id) || self.is_armed(derived.id) || !self.is_met(at) {
            return;
        }
        if derived.takes == 0 {
            self.derive(at);
        } else {
            let more = self.latency(derived.id, 1, 0, derived.takes / 2);
            self.schedule(derived.id, self.now + derived.takes + more, false);
        }
    }

    pub(super) fn is_met(&self, at: u32) -> bool {
        let any = &self.blueprint.derived[at as usize].any;
        any.is_empty() || any.iter().any(|needs| self.all_hold(needs))
    }

    /// What rested on pods that are gone is not given any more; a claim that is bound stays so.
    pub(super) fn withdraw(&mut self) {
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for (at, derived) in (0..).zip(&self.blueprint.derived) {
                let stays = self.blueprint.thing(derived.id).kind == "PersistentVolumeClaim"
                    || self.blueprint.network == Some(derived.id);
                if !stays && self.is_ready(derived.id) && !self.is_met(at) {
                    self.unready(derived.id);
                    has_changed = true;
                }
            }
        }
    }

    pub(super) fn derived_alarm(&mut self, at: u32) {
        if self.is_met(at) {
            self.derive(at);
        }
    }

    fn derive(&mut self, at: u32) {
        let blueprint = self.blueprint;
        let derived = &blueprint.derived[at as usize];
        self.make_ready(derived.id);
        for made in &derived.makes {
            self.create(*made);
        }
    }

    pub(super) fn source_looks(&mut self, at: u32) {
        let id = self.blueprint.sources[at as usize].id;
        if self.exists(id) && !self.is_ready(id) && !self.is_armed(id) {
            let (least, most) = FETCH;
            self.schedule(id, self.now + self.latency(id, 1, least, most), false);
        }
    }

    pub(super) fn git_is_away(&self, at: u32) -> bool {
        self.blueprint.sources[at as usize].is_git && self.now < self.disturbance.git_down_until
    }

    pub(super) fn source_alarm(&mut self, at: u32) {
        let source = &self.blueprint.sources[at as usize];
        if self.git_is_away(at) {
            // Its controller tries again with growing pauses, up to a quarter of an hour; a minute is in between.
            self.schedule(source.id, self.now + source.retry, false);
            return;
        }
        self.make_ready(source.id);
    }
}
