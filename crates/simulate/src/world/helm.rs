//! helm-controller: dependencies, chart, values, install or upgrade, wait, and what follows a failure.

use super::kustomize::{next_look, outdated, seconds};
use super::progress::Progress;
use super::{LEFT_OUT, World};
use crate::blueprint::{Action, Id, Millis, OnFailure, ReleaseSpec, ThingRole};
use crate::event::{Reason, What};

const REACTS: (Millis, Millis) = (10, 60);
/// Pauses after an attempt that does not count as a failed release double up to the last.
const BACKOFF: (Millis, Millis) = (750, 900_000);
/// Helm looks at what it waits for this often.
const WAIT_POLL: Millis = 2_000;
/// From the chart's definitions to the rest.
const DEFINITIONS_POLL: Millis = 1_000;
/// Rendering and applying.
const APPLIES: (Millis, Millis) = (300, 1_200);
/// Taking a failed release away.
const UNINSTALLS: Millis = 5_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Absent,
    Called,
    WaitsForSource,
    WaitsForDependencies,
    /// After an attempt that does not count.
    BacksOff,
    Definitions,
    Applying,
    Waiting,
    /// Until the pause after a failed release is over.
    Retries,
    Uninstalling,
    Stalled,
    Suspended,
    Done,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReleaseState {
    phase: Phase,
    spec: u32,
    pub(super) progress: Progress,
    /// A release is stored: the next attempt is an upgrade.
    is_stored: bool,
    /// The attempt under way is one.
    is_upgrade: bool,
    /// Failed installs and failed upgrades under the current specification.
    counted: [u32; 2],
    pauses: u32,
    looked: Millis,
    deadline: Millis,
    wait_began: Millis,
    began_epoch: u32,
    settled_epoch: u32,
    /// The dependency that was not met when it was last looked for one.
    lagging: usize,
}

impl ReleaseState {
    pub(super) fn is_stalled(&self) -> bool {
        self.phase == Phase::Stalled
    }

    pub(super) fn is_suspended(&self) -> bool {
        self.phase == Phase::Suspended
    }
}

impl<'b> World<'b> {
    fn release_spec(&self, at: u32) -> Option<&'b ReleaseSpec> {
        let spec = self.releases[at as usize].spec;
        self.blueprint.releases[at as usize].specs.get(spec as usize)?.as_ref()
    }

    pub(super) fn release_looks(&mut self, at: u32) {
        let id = self.blueprint.releases[at as usize].id;
        if !self.exists(id) {
            return;
        }
        match self.releases[at as usize].phase {
            Phase::Absent => {
                self.releases[at as usize].spec = self.revision;
                if self.is_withheld(id) {
                    self.releases[at as usize].phase = Phase::Stalled;
                    return;
                }
                let is_suspended = self.release_spec(at).is_some_and(|spec| spec.suspended);
                if is_suspended {
                    self.releases[at as usize].phase = Phase::Suspended;
                    self.releases[at as usize].progress.reason = Reason::Suspended;
                } else {
                    self.call_release(at);
                }
            }
            Phase::WaitsForSource => {
                let source = self.release_spec(at).and_then(|spec| spec.source);
                if source.is_some_and(|source| self.is_ready(source)) {
                    self.call_release(at);
                }
            }
            Phase::WaitsForDependencies => {
                let Some(spec) = self.release_spec(at) else { return };
                let lagging = self.lagging_dependency(&spec.depends_on, self.releases[at as usize].lagging);
                self.releases[at as usize].lagging = lagging.unwrap_or(0);
                if !self.is_armed(id) && lagging.is_none() {
                    let looked = self.releases[at as usize].looked;
                    self.schedule(id, next_look(looked, spec.requeue, self.now), false);
                }
            }
            Phase::Waiting => {
                let state = self.releases[at as usize];
                if self.unready_part(at).is_none() {
                    let tick = next_look(state.wait_began, WAIT_POLL, self.now);
                    if tick < state.deadline {
                        self.schedule(id, tick, false);
                    }
                }
            }
            _ => {}
        }
    }

    fn call_release(&mut self, at: u32) {
        let id = self.blueprint.releases[at as usize].id;
        self.releases[at as usize].phase = Phase::Called;
        let (least, most) = REACTS;
        let question = 10 + self.releases[at as usize].progress.failures;
        self.schedule(id, self.now + self.latency(id, question, least, most), false);
    }

    /// Its Kustomization has applied it anew.
    pub(super) fn release_applied_again(&mut self, at: u32) {
        let text = |revision: u32| {
            let spec = self.blueprint.releases[at as usize].specs.get(revision as usize);
            spec.and_then(Option::as_ref).map(|spec| spec.text)
        };
        let has_changed = text(self.releases[at as usize].spec) != text(self.revision);
        let state = &mut self.releases[at as usize];
        state.spec = self.revision;
        if has_changed {
            state.counted = [0; 2];
            state.pauses = 0;
            self.call_release(at);
        }
    }

    pub(super) fn release_alarm(&mut self, at: u32) {
        match self.releases[at as usize].phase {
            Phase::Definitions => self.render(at),
            Phase::Applying => self.applied(at),
            Phase::Waiting => self.judge_wait(at),
            Phase::Called
            | Phase::WaitsForSource
            | Phase::WaitsForDependencies
            | Phase::BacksOff
            | Phase::Retries
            | Phase::Uninstalling => self.attempt(at),
            Phase::Absent | Phase::Stalled | Phase::Suspended | Phase::Done => {}
        }
    }

    /// Why it is not ready now: whoever only waits has not looked since.
    pub(super) fn release_reason(&self, at: u32) -> Reason {
        let state = &self.releases[at as usize];
        let last = state.progress.reason;
        let Some(spec) = self.release_spec(at) else { return last };
        match state.phase {
            Phase::WaitsForDependencies => {
                self.unmet_dependency(&spec.depends_on).unwrap_or_else(|| outdated(last, spec.requeue))
            }
            Phase::Called | Phase::Definitions | Phase::Applying => outdated(last, spec.requeue),
            // It is tried again, and the last try is what is known of it.
            Phase::Waiting if matches!(last, Reason::InstallTimeout(_)) => last,
            Phase::Waiting => match self.unready_part(at) {
                Some(part) => Reason::Installs(part, seconds(state.deadline - state.wait_began)),
                None => Reason::LooksSoon(seconds(WAIT_POLL)),
            },
            _ => last,
        }
    }

    fn wait_release(&mut self, at: u32, phase: Phase, reason: Reason) {
        let id = self.blueprint.releases[at as usize].id;
        let state = &mut self.releases[at as usize];
        state.phase = phase;
        if state.progress.waits(reason) {
            self.note(Some(id), What::Waits(reason));
        }
    }

    fn attempt(&mut self, at: u32) {
        let Some(spec) = self.release_spec(at) else { return };
        let id = self.blueprint.releases[at as usize].id;
        let state = &mut self.releases[at as usize];
        state.looked = self.now;
        state.began_epoch = self.epoch;
        if let Some(reason) = self.unmet_dependency(&spec.depends_on) {
            return self.wait_release(at, Phase::WaitsForDependencies, reason);
        }
        if let Some(source) = spec.source
            && !self.is_ready(source)
        {
            let reason =
                if self.exists(source) { Reason::SourceNotReady(source) } else { Reason::SourceNotFound(source) };
            return self.wait_release(at, Phase::WaitsForSource, reason);
        }
        let missing = spec.values_from.iter().find(|(from, optional)| !optional && !self.exists(*from));
        if let Some((from, _)) = missing {
            return self.back_off(at, Reason::ValuesNotFound(*from));
        }
        self.note(Some(id), What::Began);
        for definition in &spec.chart.definitions {
            self.create(*definition);
        }
        if spec.chart.definitions.iter().all(|definition| self.is_ready(*definition)) {
            self.render(at);
        } else {
            self.releases[at as usize].phase = Phase::Definitions;
            self.schedule(id, self.now + DEFINITIONS_POLL, false);
        }
    }

    /// Templates become objects: every kind must be known, but for those that the templates ask about.
    fn render(&mut self, at: u32) {
        let Some(spec) = self.release_spec(at) else { return };
        let id = self.blueprint.releases[at as usize].id;
        let kind_is_known = |object: Id| {
            let definition = self.blueprint.thing(object).definition;
            definition.is_none_or(|definition| self.is_ready(definition))
        };
        if let Some(unknown) = spec.chart.objects.iter().find(|object| !kind_is_known(**object)) {
            return self.back_off(at, Reason::NoMatch(*unknown));
        }
        let left_out: Vec<Id> = spec.chart.if_known.iter().copied().filter(|object| !kind_is_known(*object)).collect();
        for object in left_out {
            if !self.is_left_out(object) && !self.exists(object) {
                self.flags[object.index()] |= LEFT_OUT;
                self.left_out.push(object);
                self.note(Some(object), What::LeftOut);
            }
        }
        if let Some(namespace) = spec.chart.makes_namespace {
            self.create(namespace);
        }
        // From here on a failure is a failed release.
        self.releases[at as usize].phase = Phase::Applying;
        let (least, most) = APPLIES;
        self.schedule(id, self.now + self.latency(id, 6, least, most), false);
    }

    fn applied(&mut self, at: u32) {
        let Some(spec) = self.release_spec(at) else { return };
        let id = self.blueprint.releases[at as usize].id;
        let was_stored = self.releases[at as usize].is_stored;
        self.releases[at as usize].is_upgrade = was_stored;
        let asked = spec.chart.if_known.iter().filter(|object| !self.is_left_out(**object));
        let objects: Vec<Id> = spec.chart.objects.iter().chain(asked).copied().collect();
        if let Some(reason) = objects.iter().find_map(|object| self.admit_from_chart(*object, &spec.chart.objects)) {
            self.releases[at as usize].is_stored = true;
            return self.fail_release(at, reason);
        }
        for object in objects {
            self.create(object);
        }
        let action = if was_stored { spec.upgrade } else { spec.install };
        let state = &mut self.releases[at as usize];
        state.is_stored = true;
        if !spec.waits {
            return self.succeed_release(at);
        }
        state.phase = Phase::Waiting;
        state.wait_began = self.now;
        state.deadline = self.now + action.timeout;
        let is_endless = matches!(action.on_failure, OnFailure::RetryAfter(_)) && state.progress.failures > 1;
        let due =
            if self.unready_part(at).is_none() { self.now + WAIT_POLL } else { self.releases[at as usize].deadline };
        self.schedule(id, due, is_endless && due == self.releases[at as usize].deadline);
    }

    /// A definition among the chart's own templates is applied first, and is there for the rest by then.
    fn admit_from_chart(&self, object: Id, all: &[Id]) -> Option<Reason> {
        let reason = self.admit(object).err()?;
        let definition = self.blueprint.thing(object).definition;
        let is_own = matches!(reason, Reason::NoMatch(_)) && definition.is_some_and(|it| all.contains(&it));
        (!is_own).then_some(reason)
    }

    fn unready_part(&self, at: u32) -> Option<Id> {
        let spec = self.release_spec(at)?;
        spec.chart.waits_for.iter().copied().find(|id| !self.is_ready(*id))
    }

    fn judge_wait(&mut self, at: u32) {
        let state = self.releases[at as usize];
        let id = self.blueprint.releases[at as usize].id;
        match self.unready_part(at) {
            None => self.succeed_release(at),
            Some(part) if self.now >= state.deadline => {
                self.fail_release(at, Reason::InstallTimeout(part));
            }
            Some(_) => self.schedule(id, state.deadline, false),
        }
    }

    fn succeed_release(&mut self, at: u32) {
        let id = self.blueprint.releases[at as usize].id;
        let state = &mut self.releases[at as usize];
        state.phase = Phase::Done;
        state.progress.succeeds(self.now, state.looked);
        state.counted = [0; 2];
        state.pauses = 0;
        self.make_ready(id);
    }

    /// An attempt that does not count: it is made again after a pause that doubles.
    fn back_off(&mut self, at: u32, reason: Reason) {
        let id = self.blueprint.releases[at as usize].id;
        let (first, most) = BACKOFF;
        let state = &mut self.releases[at as usize];
        state.phase = Phase::BacksOff;
        state.progress.fails(self.now, reason);
        let pause = first.saturating_mul(1 << state.pauses.min(20)).min(most);
        state.pauses += 1;
        if state.began_epoch == self.epoch {
            state.settled_epoch = self.epoch;
        }
        self.note(Some(id), What::Failed(reason));
        self.schedule(id, self.now + pause, true);
    }

    /// A failed release: the strategy says whether there is another attempt.
    fn fail_release(&mut self, at: u32, reason: Reason) {
        let Some(spec) = self.release_spec(at) else { return };
        let id = self.blueprint.releases[at as usize].id;
        let state = &mut self.releases[at as usize];
        let was_upgrade = state.is_upgrade;
        let action: Action = if was_upgrade { spec.upgrade } else { spec.install };
        state.progress.fails(self.now, reason);
        state.counted[usize::from(was_upgrade)] += 1;
        let used = i64::from(state.counted[usize::from(was_upgrade)]) - 1;
        if state.began_epoch == self.epoch {
            state.settled_epoch = self.epoch;
        }
        self.note(Some(id), What::Failed(reason));
        match action.on_failure {
            OnFailure::RetryAfter(pause) => {
                self.releases[at as usize].phase = Phase::Retries;
                self.schedule(id, self.now + pause, true);
            }
            OnFailure::Remediate { retries } => {
                if retries < 0 || used < retries {
                    self.uninstall(at, was_upgrade, retries < 0);
                } else {
                    self.releases[at as usize].phase = Phase::Stalled;
                    let chain = self.trace(reason);
                    self.stalled.insert(id, chain);
                    self.stalls += 1;
                    if self.is_ready(id) {
                        self.idle.has_worsened();
                    }
                    self.epoch += 1;
                    self.note(Some(id), What::Stalled(reason));
                    self.notify(id);
                }
            }
        }
    }

    /// A failed install is taken away before the next; a failed upgrade is rolled back.
    fn uninstall(&mut self, at: u32, was_upgrade: bool, is_endless: bool) {
        let id = self.blueprint.releases[at as usize].id;
        if !was_upgrade && let Some(spec) = self.release_spec(at) {
            for object in &spec.chart.objects {
                let is_undone = matches!(self.blueprint.role(*object), ThingRole::Workload(_) | ThingRole::Derived(_));
                if is_undone {
                    self.remove(*object);
                }
            }
            self.releases[at as usize].is_stored = false;
        }
        self.releases[at as usize].phase = Phase::Uninstalling;
        self.schedule(id, self.now + UNINSTALLS, is_endless);
    }

    /// The API server went away in the middle of an install: Helm gives it up.
    pub(super) fn fail_running_releases(&mut self) {
        for at in 0..self.releases.len() {
            if matches!(self.releases[at].phase, Phase::Waiting | Phase::Applying) {
                let at = source::to_u32(at);
                self.releases[at as usize].is_stored = true;
                self.fail_release(at, Reason::ApiDown);
            }
        }
    }

    pub(super) fn release_has_settled(&self, id: Id, state: &ReleaseState) -> bool {
        match state.phase {
            Phase::Absent
            | Phase::Suspended
            | Phase::Stalled
            | Phase::Done
            | Phase::WaitsForSource
            | Phase::WaitsForDependencies => true,
            _ => self.is_ready(id) || state.settled_epoch == self.epoch,
        }
    }

    /// The reason for which a HelmRelease gave up, and those behind it at that moment.
    pub(crate) fn gave_up_for(&self, id: Id) -> Option<&[Reason]> {
        self.stalled.get(&id).map(Vec::as_slice).filter(|_| self.has_stalled(id))
    }

    /// A HelmRelease that has given up.
    pub fn has_stalled(&self, id: Id) -> bool {
        matches!(self.blueprint.role(id), ThingRole::Release(at) if self.releases[at as usize].is_stalled())
    }
}
