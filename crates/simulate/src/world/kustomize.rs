//! kustomize-controller: dependencies, build, staged apply with a dry run of every stage, health, retries.
//!
//! A Kustomization's life: something calls it (it was made or changed, its source has a new artifact, an interval has passed);
//! it looks at its source and its dependencies, builds, applies in stages, waits for health, and rests until it is called again.

use super::api::{PROGRESS_DEADLINE_MILLIS, Status};
use super::progress::Progress;
use super::{Alarm, World, lagging};
use crate::blueprint::{Content, Dependency, Gate, Id, Kustomization, KustomizationSpec, Millis, ThingRole};
use crate::event::{Reason, What};
use crate::queue::WorldAlarm;

/// From a call to the first look.
const REACTS: (Millis, Millis) = (10, 60);
/// Fetching, building and the dry run.
const BUILDS: (Millis, Millis) = (150, 400);
/// While definitions of the first stage are waited for, they are looked at this often.
const STAGE_POLL: Millis = 2_000;
/// Health is looked at this often.
const HEALTH_POLL: Millis = 5_000;
const HEALTH_FIRST: (Millis, Millis) = (20, 60);
/// A changed source is noticed after this.
const FETCH: Millis = 500;
const NO_REVISION: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Absent,
    /// It will look in a moment.
    Called,
    WaitsForSource,
    WaitsForDependencies,
    Builds,
    /// Between the first stage and the others.
    Staged,
    Health,
    /// Done or failed, until an interval has passed.
    Rests,
    /// Done, and the next reconciles would change nothing: none is queued until something is worse than it was.
    Idle,
    Suspended,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct KustomizationState {
    pub(super) phase: Phase,
    /// Whose version of its object it has.
    spec: u32,
    /// The revision it has applied last and found healthy.
    applied: u32,
    began: Millis,
    /// When it was last done, where it is idle.
    pub(super) done: Millis,
    began_epoch: u32,
    settled_epoch: u32,
    looked: Millis,
    deadline: Millis,
    health_began: Millis,
    pub(super) progress: Progress,
    /// Bits of the sources of variables that were there when it was built last.
    pub(super) built_with: u64,
    is_called_again: bool,
    /// Its last attempt waited for health in vain.
    has_timed_out: bool,
    /// The dependency, or the object, that was not ready when it was last looked for one.
    lagging: usize,
    /// No object of it gives up before this, unless a release does.
    none_fails_before: Millis,
    /// How many releases had given up when that was looked for.
    stalls: usize,
}

impl Default for KustomizationState {
    fn default() -> Self {
        Self {
            phase: Phase::Absent,
            spec: 0,
            applied: NO_REVISION,
            began: 0,
            done: 0,
            began_epoch: 0,
            settled_epoch: 0,
            looked: 0,
            deadline: 0,
            health_began: 0,
            progress: Progress::default(),
            built_with: 0,
            is_called_again: false,
            has_timed_out: false,
            lagging: 0,
            none_fails_before: 0,
            stalls: 0,
        }
    }
}

impl KustomizationState {
    /// A reconcile begins.
    pub(super) fn begins(&mut self, now: Millis, epoch: u32) {
        self.looked = now;
        self.began = now;
        self.began_epoch = epoch;
    }
}

impl<'b> World<'b> {
    pub(super) fn spec(&self, at: u32) -> Option<&'b KustomizationSpec> {
        let spec = self.kustomizations[at as usize].spec;
        self.blueprint.kustomizations[at as usize].specs.get(spec as usize)?.as_ref()
    }

    pub(super) fn content(&self, at: u32) -> &'b Content {
        &self.blueprint.kustomizations[at as usize].contents[self.revision as usize]
    }

    /// Something that it may wait for has changed.
    pub(super) fn kustomization_looks(&mut self, at: u32) {
        let id = self.blueprint.kustomizations[at as usize].id;
        if !self.exists(id) {
            return;
        }
        match self.kustomizations[at as usize].phase {
            Phase::Absent => {
                self.kustomizations[at as usize].spec = self.revision;
                self.call(at);
            }
            Phase::WaitsForSource => self.source_changed(at),
            Phase::Rests => {
                let lacks_source =
                    matches!(self.kustomizations[at as usize].progress.reason, Reason::SourceNotFound(_));
                if lacks_source {
                    self.source_changed(at);
                }
            }
            Phase::WaitsForDependencies => self.look_at_dependencies_in_time(at),
            Phase::Health => self.health_changed(at),
            Phase::Called | Phase::Builds | Phase::Staged | Phase::Idle | Phase::Suspended => {}
        }
    }

    /// It looks in a moment, or when it has finished what it is at.
    pub(super) fn call(&mut self, at: u32) {
        let id = self.blueprint.kustomizations[at as usize].id;
        let state = &mut self.kustomizations[at as usize];
        if matches!(state.phase, Phase::Builds | Phase::Staged | Phase::Health) {
            state.is_called_again = true;
            return;
        }
        state.phase = Phase::Called;
        let (least, most) = REACTS;
        let question = 10 + self.kustomizations[at as usize].progress.failures;
        self.schedule(id, self.now + self.latency(id, question, least, most), false);
    }

    fn source_changed(&mut self, at: u32) {
        let source = self.spec(at).and_then(|spec| spec.source);
        if source.is_some_and(|source| self.is_ready(source)) {
            self.call(at);
        }
    }

    /// Nobody tells it: it looks every so often since it last did.
    fn look_at_dependencies_in_time(&mut self, at: u32) {
        let Some(spec) = self.spec(at) else { return };
        let id = self.blueprint.kustomizations[at as usize].id;
        let unmet = self.lagging_dependency(&spec.depends_on, self.kustomizations[at as usize].lagging);
        self.kustomizations[at as usize].lagging = unmet.unwrap_or(0);
        if self.is_armed(id) || unmet.is_some() {
            return;
        }
        let looked = self.kustomizations[at as usize].looked;
        self.schedule(id, next_look(looked, spec.requeue, self.now), false);
    }

    fn health_changed(&mut self, at: u32) {
        let id = self.blueprint.kustomizations[at as usize].id;
        let state = self.kustomizations[at as usize];
        // A look that is due sooner will see it.
        let only_deadline = self.alarms[id.index()] == Alarm::Poll;
        if only_deadline && (self.has_become_healthy(at) || self.has_given_up(at)) {
            let tick = next_look(state.health_began, HEALTH_POLL, self.now);
            if tick < state.deadline {
                self.schedule(id, tick, false);
            }
        }
    }

    pub(super) fn kustomization_alarm(&mut self, at: u32) {
        match self.kustomizations[at as usize].phase {
            Phase::Builds => self.build_and_apply(at),
            Phase::Staged => self.apply_the_rest(at),
            Phase::Health => self.judge_health(at),
            Phase::Absent | Phase::Suspended => {}
            _ => self.reconcile(at),
        }
    }

    fn reconcile(&mut self, at: u32) {
        let Some(spec) = self.spec(at) else { return };
        let id = self.blueprint.kustomizations[at as usize].id;
        if self.is_withheld(id) {
            self.kustomizations[at as usize].phase = Phase::Suspended;
            return;
        }
        if spec.suspended {
            let state = &mut self.kustomizations[at as usize];
            state.phase = Phase::Suspended;
            state.progress.reason = Reason::Suspended;
            return;
        }
        self.kustomizations[at as usize].begins(self.now, self.epoch);
        if let Some(source) = spec.source {
            if !self.exists(source) {
                return self.fail(at, Reason::SourceNotFound(source));
            }
            if !self.is_ready(source) {
                return self.wait(at, Phase::WaitsForSource, Reason::SourceNotReady(source));
            }
        }
        if let Some(reason) = self.unmet_dependency(&spec.depends_on) {
            return self.wait(at, Phase::WaitsForDependencies, reason);
        }
        self.note(Some(id), What::Began);
        if self.kustomizations[at as usize].applied != self.revision {
            self.unready(id);
        }
        self.kustomizations[at as usize].phase = Phase::Builds;
        self.schedule(id, self.now + self.build_takes(at), false);
    }

    /// From the begin of a reconcile until everything is applied.
    pub(super) fn build_takes(&self, at: u32) -> Millis {
        let id = self.blueprint.kustomizations[at as usize].id;
        let (least, most) = BUILDS;
        let question = 1000 + self.kustomizations[at as usize].progress.failures;
        self.latency(id, question, least, most)
    }

    fn build_and_apply(&mut self, at: u32) {
        self.kustomizations[at as usize].began_epoch = self.epoch;
        match self.build(at) {
            Err(reason) => self.fail(at, reason),
            Ok(with) => {
                self.kustomizations[at as usize].built_with = with;
                self.apply_first(at);
            }
        }
    }

    /// Why it is not ready now: whoever only waits has not looked since.
    pub(super) fn kustomization_reason(&self, at: u32) -> Reason {
        let state = &self.kustomizations[at as usize];
        let last = state.progress.reason;
        let Some(spec) = self.spec(at) else { return last };
        match state.phase {
            Phase::WaitsForDependencies => {
                self.unmet_dependency(&spec.depends_on).unwrap_or_else(|| outdated(last, spec.requeue))
            }
            Phase::Called | Phase::Builds | Phase::Staged => outdated(last, spec.requeue),
            Phase::Health => match self.unhealthy(at) {
                Some(on) if state.has_timed_out => Reason::HealthTimeout(on),
                Some(on) => Reason::HealthChecks(on, seconds(spec.timeout)),
                None if matches!(last, Reason::HealthChecks(..)) => Reason::LooksSoon(seconds(HEALTH_POLL)),
                None => outdated(last, spec.requeue),
            },
            Phase::Absent | Phase::WaitsForSource | Phase::Rests | Phase::Idle | Phase::Suspended => last,
        }
    }

    fn wait(&mut self, at: u32, phase: Phase, reason: Reason) {
        let id = self.blueprint.kustomizations[at as usize].id;
        self.unready(id);
        let state = &mut self.kustomizations[at as usize];
        state.phase = phase;
        if state.progress.waits(reason) {
            self.note(Some(id), What::Waits(reason));
        }
    }

    /// One dependency that is not met, as [`lagging`] looks for it.
    pub(super) fn lagging_dependency(&self, depends_on: &[Dependency], from: usize) -> Option<usize> {
        lagging(depends_on.len(), from, |at| self.unmet_dependency(&depends_on[at..=at]).is_none())
    }

    /// The first dependency that is not met, of a Kustomization or a HelmRelease; the latter's never share a source.
    pub(super) fn unmet_dependency(&self, depends_on: &[Dependency]) -> Option<Reason> {
        depends_on.iter().find_map(|dependency| {
            if !self.exists(dependency.on) {
                return Some(if dependency.is_unknown {
                    Reason::DependencyNotFound(dependency.on)
                } else {
                    Reason::DependencyNotReady(dependency.on)
                });
            }
            let lags = dependency.same_source
                && matches!(self.blueprint.role(dependency.on), ThingRole::Kustomization(other)
                    if self.kustomizations[other as usize].applied != self.revision);
            let is_met = dependency.only_exists || (self.is_ready(dependency.on) && !lags);
            (!is_met).then_some(Reason::DependencyNotReady(dependency.on))
        })
    }

    /// The sources of variables that are there; why it can't be built.
    pub(super) fn build(&self, at: u32) -> Result<u64, Reason> {
        let content = self.content(at);
        if let Some(why) = content.broken {
            return Err(Reason::BuildFailed(why));
        }
        let variables = &content.variables;
        if let Some(key) = variables.key.filter(|key| !self.exists(*key)) {
            return Err(Reason::KeyNotFound(key));
        }
        let missing = variables.from.iter().find(|(id, optional)| !optional && !self.exists(*id));
        if let Some((id, _)) = missing {
            return Err(Reason::VariablesNotFound(*id));
        }
        let with = self.present_variables(content);
        // With no variable at all nothing is substituted.
        if variables.has_own || with != 0 {
            let unset = variables.used.iter().find(|(_, by)| *by != u64::MAX && by & with == 0);
            if let Some((name, _)) = unset {
                return Err(Reason::UndefinedVariable(*name));
            }
        }
        Ok(with)
    }

    fn present_variables(&self, content: &Content) -> u64 {
        let from = content.variables.from.iter().enumerate();
        from.filter(|(_, (id, _))| self.exists(*id)).fold(0, |bits, (at, _)| bits | 1 << at)
    }

    /// Definitions, Namespaces and ClusterRoles, and a wait until they are established.
    fn apply_first(&mut self, at: u32) {
        let id = self.blueprint.kustomizations[at as usize].id;
        let content = self.content(at);
        if let Err(reason) = self.apply(&content.first) {
            return self.fail(at, reason);
        }
        self.kustomizations[at as usize].phase = Phase::Staged;
        if content.first.iter().all(|object| self.status(*object, false) == Status::Current) {
            self.apply_the_rest(at);
        } else {
            self.schedule(id, self.now + STAGE_POLL, false);
        }
    }

    fn apply_the_rest(&mut self, at: u32) {
        let content = self.content(at);
        if let Err(reason) = self.apply(&content.classes).and_then(|()| self.apply(&content.rest)) {
            return self.fail(at, reason);
        }
        self.begin_health(at, self.now);
    }

    pub(super) fn begin_health(&mut self, at: u32, since: Millis) {
        let Some(spec) = self.spec(at) else { return };
        let id = self.blueprint.kustomizations[at as usize].id;
        let state = &mut self.kustomizations[at as usize];
        state.phase = Phase::Health;
        state.none_fails_before = 0;
        state.health_began = since;
        state.deadline = since + spec.timeout;
        self.schedule(id, since + self.first_health_takes(at), false);
    }

    /// From applied to the first look at health.
    pub(super) fn first_health_takes(&self, at: u32) -> Millis {
        let (least, most) = HEALTH_FIRST;
        self.latency(self.blueprint.kustomizations[at as usize].id, 5, least, most)
    }

    /// A dry run of every object, then all of them; or nothing.
    fn apply(&mut self, objects: &[Id]) -> Result<(), Reason> {
        for object in objects {
            self.admit(*object)?;
        }
        for object in objects {
            if self.exists(*object) {
                self.apply_again(*object);
            } else {
                self.create(*object);
            }
        }
        Ok(())
    }

    /// An object that is there gets the version of this revision.
    fn apply_again(&mut self, id: Id) {
        match self.blueprint.role(id) {
            ThingRole::Kustomization(at) => {
                let texts = |revision: u32| {
                    let spec = self.blueprint.kustomizations[at as usize].specs.get(revision as usize);
                    spec.and_then(Option::as_ref).map(|spec| spec.text)
                };
                let has_changed = texts(self.kustomizations[at as usize].spec) != texts(self.revision);
                self.kustomizations[at as usize].spec = self.revision;
                if has_changed {
                    if self.kustomizations[at as usize].phase == Phase::Suspended {
                        self.kustomizations[at as usize].phase = Phase::Rests;
                    }
                    self.call(at);
                }
            }
            ThingRole::Release(at) => self.release_applied_again(at),
            _ => {}
        }
    }

    /// The first object that is not healthy yet.
    fn unhealthy(&self, at: u32) -> Option<Id> {
        let health = &self.content(at).health;
        health.iter().find(|(id, asked)| self.status(*id, *asked) != Status::Current).map(|(id, _)| *id)
    }

    /// An object that has failed for good.
    fn given_up(&self, at: u32) -> Option<Id> {
        let health = &self.content(at).health;
        health.iter().find(|(id, asked)| self.status(*id, *asked) == Status::Failed).map(|(id, _)| *id)
    }

    fn has_become_healthy(&mut self, at: u32) -> bool {
        let health = &self.content(at).health;
        let late = lagging(health.len(), self.kustomizations[at as usize].lagging, |at| {
            let (id, asked) = health[at];
            self.status(id, asked) == Status::Current
        });
        self.kustomizations[at as usize].lagging = late.unwrap_or(0);
        late.is_none()
    }

    /// Whether an object has failed for good. All are looked at only when one may have.
    fn has_given_up(&mut self, at: u32) -> bool {
        let state = &self.kustomizations[at as usize];
        if self.now < state.none_fails_before && self.stalls == state.stalls {
            return false;
        }
        if self.given_up(at).is_some() {
            return true;
        }
        let health = &self.content(at).health;
        let before = health.iter().filter_map(|(id, _)| self.fails_at(*id)).min();
        let state = &mut self.kustomizations[at as usize];
        // Of what is made from now on, nothing fails any sooner.
        let at_most = self.now + PROGRESS_DEADLINE_MILLIS;
        state.none_fails_before = before.map_or(at_most, |before| before.min(at_most));
        state.stalls = self.stalls;
        false
    }

    fn judge_health(&mut self, at: u32) {
        let Some(spec) = self.spec(at) else { return };
        let id = self.blueprint.kustomizations[at as usize].id;
        let state = self.kustomizations[at as usize];
        let unhealthy = if spec.gate == Gate::Applied { None } else { self.unhealthy(at) };
        let Some(waits_for) = unhealthy else { return self.succeed(at) };
        if let Some(failed) = self.given_up(at) {
            return self.fail(at, Reason::HealthStalled(failed));
        }
        if self.now >= state.deadline {
            return self.fail(at, Reason::HealthTimeout(waits_for));
        }
        self.kustomizations[at as usize].progress.reason = Reason::HealthChecks(waits_for, seconds(spec.timeout));
        self.schedule(id, state.deadline, true);
    }

    fn succeed(&mut self, at: u32) {
        let Some(spec) = self.spec(at) else { return };
        let id = self.blueprint.kustomizations[at as usize].id;
        let state = &mut self.kustomizations[at as usize];
        let is_new = state.applied != self.revision;
        state.applied = self.revision;
        state.progress.succeeds(self.now, state.began);
        state.has_timed_out = false;
        state.phase = Phase::Rests;
        self.schedule(id, self.now + spec.interval, true);
        self.make_ready(id);
        if is_new {
            self.notify(id);
        }
        self.call_again(at);
        self.idle(at);
    }

    pub(super) fn fail(&mut self, at: u32, reason: Reason) {
        let Some(spec) = self.spec(at) else { return };
        let id = self.blueprint.kustomizations[at as usize].id;
        self.unready(id);
        let state = &mut self.kustomizations[at as usize];
        state.progress.fails(self.now, reason);
        state.has_timed_out = matches!(reason, Reason::HealthTimeout(_));
        state.phase = Phase::Rests;
        if state.began_epoch == self.epoch {
            state.settled_epoch = self.epoch;
        }
        self.note(Some(id), What::Failed(reason));
        self.schedule(id, self.now + spec.retry, true);
        self.call_again(at);
    }

    fn call_again(&mut self, at: u32) {
        if std::mem::take(&mut self.kustomizations[at as usize].is_called_again) {
            self.call(at);
        }
    }

    /// Whether nothing that it does by itself could change anything.
    pub(super) fn has_settled(&self, it: &Kustomization, state: &KustomizationState) -> bool {
        let ThingRole::Kustomization(at) = self.blueprint.role(it.id) else { return true };
        match state.phase {
            Phase::Absent | Phase::Suspended | Phase::Idle | Phase::WaitsForSource | Phase::WaitsForDependencies => {
                true
            }
            Phase::Rests if self.is_ready(it.id) => state.built_with == self.present_variables(self.content(at)),
            _ => state.settled_epoch == self.epoch,
        }
    }

    /// Somebody pushes the next revision of the repository, and tells the source.
    pub fn push_revision(&mut self) {
        let last = u32::try_from(self.blueprint.is_circular.len()).unwrap_or(0).saturating_sub(1);
        self.newest = (self.newest + 1).min(last);
        self.note(None, What::Pushed(self.newest));
        self.queue.push_world(self.now + FETCH, WorldAlarm::Pushed);
        self.is_over = None;
    }

    /// The source has a new artifact: all Kustomizations that are built from it are called, unless their dependencies go round
    /// in a circle, for then nobody is.
    pub(super) fn announce_revision(&mut self) {
        let was_circular = self.blueprint.is_circular[self.revision as usize];
        self.revision = self.newest;
        self.epoch += 1;
        self.idle.has_worsened();
        if was_circular {
            return;
        }
        for at in 0..self.kustomizations.len() {
            let id = self.blueprint.kustomizations[at].id;
            let at = source::to_u32(at);
            let has_source = self.spec(at).is_some_and(|spec| spec.source.is_some());
            let is_idle = matches!(self.kustomizations[at as usize].phase, Phase::Absent | Phase::Suspended);
            if self.exists(id) && has_source && !is_idle {
                self.call(at);
            }
        }
    }

    /// The revision that a Kustomization has applied last.
    pub fn applied_revision(&self, id: Id) -> Option<u32> {
        match self.blueprint.role(id) {
            ThingRole::Kustomization(at) => {
                Some(self.kustomizations[at as usize].applied).filter(|applied| *applied != NO_REVISION)
            }
            _ => None,
        }
    }

    /// The newest revision that was pushed.
    pub fn newest_revision(&self) -> u32 {
        self.newest
    }

    /// Which of its sources of variables (by place) a Kustomization was built with last.
    pub fn built_with(&self, id: Id) -> u64 {
        match self.blueprint.role(id) {
            ThingRole::Kustomization(at) => self.kustomizations[at as usize].built_with,
            _ => 0,
        }
    }
}

/// What was true at the last look, in words that do not say that it still is.
pub(super) fn outdated(reason: Reason, every: Millis) -> Reason {
    match reason {
        Reason::DependencyNotReady(on) | Reason::DependencyNotFound(on) => Reason::LooksAgain(on, seconds(every)),
        Reason::SourceNotFound(_) => Reason::Reconciles,
        passing if passing.is_passing() => Reason::Reconciles,
        other => other,
    }
}

pub(super) fn seconds(millis: Millis) -> u32 {
    u32::try_from(millis.div_ceil(1000)).unwrap_or(u32::MAX)
}

/// The next of the looks that are taken every so often since a moment.
pub(super) fn next_look(since: Millis, every: Millis, now: Millis) -> Millis {
    let every = every.max(1);
    let passed = now.saturating_sub(since);
    since + passed.div_ceil(every).max(1) * every
}

impl World<'_> {
    /// Kustomizations that were built without variables that are there by now.
    pub(crate) fn stale(&self) -> Vec<Id> {
        let all = self.blueprint.kustomizations.iter().zip(&self.kustomizations);
        all.filter(|(it, state)| {
            let content = &it.contents[self.revision as usize];
            self.is_ready(it.id)
                && !content.variables.from.is_empty()
                && state.built_with != self.present_variables(content)
        })
        .map(|(it, _)| it.id)
        .collect()
    }
}
