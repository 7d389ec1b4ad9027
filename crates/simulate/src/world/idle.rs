//! Kustomizations that are done: every interval they are built and applied again, which changes nothing as long as everything is as it
//! was. Such reconciles are not queued. When something is worse than it was, all of them take part again from where they would be by
//! then: between two reconciles, or in the middle of one.

use super::World;
use super::api::Status;
use super::kustomize::Phase;
use crate::blueprint::{Content, Gate, Id, Millis, ThingRole};

#[derive(Clone, Debug, Default)]
pub(super) struct Idle {
    /// By place. One that was called since is not idle any more.
    all: Vec<u32>,
    has_worsened: bool,
}

impl Idle {
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.has_worsened = false;
    }

    /// Something went away, is not ready any more, or may reject what was accepted: a reconcile may find that.
    pub(super) fn has_worsened(&mut self) {
        self.has_worsened = true;
    }
}

/// Where a Kustomization is in its rounds of an interval, a build and a look at health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// It rests, and begins at this moment.
    Rests(Millis),
    /// It has begun at this moment, and builds.
    Builds(Millis),
    /// It has begun at the first moment, and applied everything at the second.
    Health(Millis, Millis),
}

impl Round {
    /// Rounds begin at `first`, and take `builds`, `health` and `rests` each.
    fn at(now: Millis, first: Millis, [builds, health, rests]: [Millis; 3]) -> Self {
        let Some(passed) = now.checked_sub(first) else { return Self::Rests(first) };
        let whole = (builds + health + rests).max(1);
        let began = first + passed / whole * whole;
        match now - began {
            since if since < builds => Self::Builds(began),
            since if since < builds + health => Self::Health(began, began + builds),
            _ => Self::Rests(began + whole),
        }
    }
}

impl World<'_> {
    /// Takes the next reconcile of a Kustomization out of the queue, where it would change nothing.
    pub(super) fn idle(&mut self, at: u32) {
        let state = &self.kustomizations[at as usize];
        if state.phase != Phase::Rests || self.idle.has_worsened || !self.changes_nothing(at) {
            return;
        }
        self.disarm(self.blueprint.kustomizations[at as usize].id);
        let state = &mut self.kustomizations[at as usize];
        state.phase = Phase::Idle;
        state.done = self.now;
        self.idle.all.push(at);
    }

    /// Whether a reconcile would end as the last one did, now and until something is worse than it is.
    fn changes_nothing(&self, at: u32) -> bool {
        let Some(spec) = self.spec(at) else { return false };
        let content = self.content(at);
        // An outage or a webhook that is away keeps to the time, not to what is there.
        let is_disturbed = self.now < self.disturbance.webhooks_answer_at()
            || self.disturbance.api_down.is_some_and(|(_, until)| self.now < until);
        !is_disturbed
            && !spec.suspended
            && spec.source.is_none_or(|source| self.is_ready(source))
            && self.unmet_dependency(&spec.depends_on).is_none()
            && self.builds_the_same(at, content)
            && self.applies_the_same(content)
            && (spec.gate == Gate::Applied || content.health.iter().all(|(id, asked)| self.stays_healthy(*id, *asked)))
    }

    /// All of its variables are there already.
    fn builds_the_same(&self, at: u32, content: &Content) -> bool {
        let are_there = content.variables.from.iter().all(|(id, _)| self.exists(*id));
        are_there && self.build(at) == Ok(self.kustomizations[at as usize].built_with)
    }

    fn applies_the_same(&self, content: &Content) -> bool {
        let mut all = content.first.iter().chain(&content.classes).chain(&content.rest);
        all.all(|id| self.exists(*id) && self.admit(*id).is_ok())
            && content.first.iter().all(|id| self.status(*id, false) == Status::Current)
    }

    /// Healthy, and not only because its controller has not said anything yet.
    fn stays_healthy(&self, id: Id, asked: bool) -> bool {
        let is_told = match self.blueprint.role(id) {
            ThingRole::Custom(at) => self.is_ready(id) || self.blueprint.customs[at as usize].is_silent,
            _ => true,
        };
        is_told && self.status(id, asked) == Status::Current
    }

    /// Where something is worse than it was, all that are idle look again when they would have.
    pub(super) fn end_idleness(&mut self) {
        if !std::mem::take(&mut self.idle.has_worsened) {
            return;
        }
        for at in std::mem::take(&mut self.idle.all) {
            if self.kustomizations[at as usize].phase == Phase::Idle {
                self.take_part_again(at);
            }
        }
    }

    fn take_part_again(&mut self, at: u32) {
        let Some(spec) = self.spec(at) else { return };
        let id = self.blueprint.kustomizations[at as usize].id;
        let (builds, health) = (self.build_takes(at), self.first_health_takes(at));
        let first = self.kustomizations[at as usize].done + spec.interval;
        match Round::at(self.now, first, [builds, health, spec.interval]) {
            Round::Rests(until) => {
                self.kustomizations[at as usize].phase = Phase::Rests;
                self.schedule(id, until, true);
            }
            Round::Builds(began) => {
                self.kustomizations[at as usize].begins(began, self.epoch);
                self.kustomizations[at as usize].phase = Phase::Builds;
                self.schedule(id, began + builds, false);
            }
            Round::Health(began, applied) => {
                self.kustomizations[at as usize].begins(began, self.epoch);
                self.begin_health(at, applied);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Round;

    #[test]
    fn a_round_is_where_it_would_be_if_every_reconcile_had_been_queued() {
        let at = |now| Round::at(now, 100, [10, 5, 85]);
        assert_eq!(at(7), Round::Rests(100));
        assert_eq!(at(100), Round::Builds(100));
        assert_eq!(at(109), Round::Builds(100));
        assert_eq!(at(110), Round::Health(100, 110));
        assert_eq!(at(115), Round::Rests(200));
        assert_eq!(at(412), Round::Health(400, 410));
    }
}
