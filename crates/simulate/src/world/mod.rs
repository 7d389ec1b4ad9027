//! A world with a virtual clock: an API server in small, and the controllers that act on it.
//!
//! Event-driven throughout: nobody polls in vain. Where a real controller polls, the next moment at which it would have looked is
//! worked out when what it waits for has changed. The same seed gives the same events.

mod act;
mod api;
mod helm;
mod idle;
mod installs;
mod kustomize;
mod limits;
mod look;
mod machines;
mod operators;
mod pods;
mod progress;
mod script;
mod steps;
mod trace;
mod withheld;

use std::collections::BTreeMap;

use crate::blueprint::{Blueprint, Id, Millis, Prerequisite, ThingRole};
use crate::event::{BootEvent, Lack, Reason, What};
use crate::fault::{Disturbance, Fault};
use crate::outcome::{BootOutcome, FluxOutcome, Verdict};
use crate::queue::{Queue, QueuedAlarm, WorldAlarm};
use crate::random;
use crate::stage::Act;
use helm::ReleaseState;
use kustomize::KustomizationState;
use limits::Limits;
use pods::PodState;
use progress::Progress;

const EXISTS: u8 = 1;
const READY: u8 = 2;
/// Its controller has said something about it.
const REPORTED: u8 = 4;
/// A chart was rendered without it.
const LEFT_OUT: u8 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alarm {
    None,
    /// Something will be different after it.
    Busy,
    /// A look that may well change nothing.
    Poll,
}

/// One world, to be booted as often as one likes.
#[derive(Clone, Debug)]
pub struct World<'b> {
    blueprint: &'b Blueprint,
    seed: u64,
    now: Millis,
    queue: Queue,
    flags: Vec<u8>,
    created: Vec<Millis>,
    tokens: Vec<u32>,
    alarms: Vec<Alarm>,
    busy: usize,
    /// Things that have to look again at this moment.
    wake: Vec<Id>,
    /// Kustomizations whose reconciles change nothing.
    idle: idle::Idle,
    /// Counts changes that others could notice.
    epoch: u32,
    missing: usize,
    events: u64,
    /// The component that could still change something when it was last looked for one.
    unsettled: usize,
    revision: u32,
    newest: u32,
    kustomizations: Vec<KustomizationState>,
    releases: Vec<ReleaseState>,
    pods: Vec<PodState>,
    hardware: machines::Hardware,
    key: act::Key,
    installs: Vec<installs::Install>,
    /// How many installs are waited for.
    running: usize,
    has_flux: bool,
    /// How far each step before Flux is, and which of what runs them was begun.
    steps: Vec<steps::StepState>,
    runs: Vec<bool>,
    /// A step has brought the pod network.
    has_network: bool,
    /// What the cluster lacked when Flux was started.
    started_without: Option<Lack>,
    /// Who brings the cluster up, where nobody outside does.
    script: Option<script::Script>,
    acts: Vec<Act>,
    disturbance: Disturbance,
    left_out: Vec<Id>,
    /// Releases that gave up, each with the reason and those behind it at that moment.
    stalled: BTreeMap<Id, Vec<Reason>>,
    /// How often one did.
    stalls: usize,
    /// What machines are called; empty where nobody said.
    names: Vec<String>,
    trace: Option<Vec<BootEvent>>,
    is_over: Option<Verdict>,
    limits: Limits,
    withheld: withheld::Withheld,
}

impl<'b> World<'b> {
    pub fn new(blueprint: &'b Blueprint) -> Self {
        let things = blueprint.things.len();
        Self {
            blueprint,
            seed: 0,
            now: 0,
            queue: Queue::default(),
            flags: vec![0; things],
            created: vec![0; things],
            tokens: vec![0; things],
            alarms: vec![Alarm::None; things],
            busy: 0,
            wake: Vec::new(),
            idle: idle::Idle::default(),
            epoch: 0,
            missing: 0,
            events: 0,
            unsettled: 0,
            revision: 0,
            newest: 0,
            kustomizations: vec![KustomizationState::default(); blueprint.kustomizations.len()],
            releases: vec![ReleaseState::default(); blueprint.releases.len()],
            pods: vec![PodState::default(); blueprint.workloads.len()],
            hardware: machines::Hardware::default(),
            key: act::Key::None,
            installs: vec![installs::Install::Absent; blueprint.early.len()],
            running: 0,
            has_flux: false,
            steps: vec![steps::StepState::default(); blueprint.steps.all.len()],
            runs: vec![false; blueprint.steps.runs.len()],
            has_network: false,
            started_without: None,
            script: None,
            acts: Vec::new(),
            disturbance: Disturbance::default(),
            left_out: Vec::new(),
            stalled: BTreeMap::new(),
            stalls: 0,
            names: Vec::new(),
            trace: None,
            is_over: None,
            limits: Limits::of(blueprint),
            withheld: withheld::Withheld::default(),
        }
    }

    /// Boots from nothing until all is ready, or nothing will change any more.
    pub fn boot(&mut self, seed: u64, faults: &[Fault]) -> BootOutcome {
        self.start_by_script(seed, faults);
        while self.is_over.is_none() && self.step() {}
        self.outcome()
    }

    /// The same, keeping everything that happens.
    pub fn boot_traced(&mut self, seed: u64, faults: &[Fault]) -> (BootOutcome, Vec<BootEvent>) {
        self.trace = Some(Vec::new());
        let outcome = self.boot(seed, faults);
        (outcome, self.trace.take().unwrap_or_default())
    }

    /// Begins a boot that is then run in pieces.
    pub fn start_traced(&mut self, seed: u64, faults: &[Fault]) {
        self.trace = Some(Vec::new());
        self.start_by_script(seed, faults);
    }

    fn start_by_script(&mut self, seed: u64, faults: &[Fault]) {
        self.start(seed, faults);
        self.run_script();
        self.settle();
    }

    fn start(&mut self, seed: u64, faults: &[Fault]) {
        self.seed = seed;
        self.now = 0;
        self.queue.clear();
        self.flags.fill(0);
        self.created.fill(0);
        self.tokens.fill(0);
        self.alarms.fill(Alarm::None);
        self.busy = 0;
        self.wake.clear();
        self.idle.clear();
        self.epoch = 1;
        self.missing = self.blueprint.expected;
        self.events = 0;
        self.unsettled = 0;
        self.revision = 0;
        self.newest = 0;
        self.kustomizations.fill(KustomizationState::default());
        self.releases.fill(ReleaseState::default());
        self.pods.fill(PodState::default());
        self.left_out.clear();
        self.stalled.clear();
        self.stalls = 0;
        self.is_over = None;
        self.key = act::Key::None;
        self.installs.fill(installs::Install::Absent);
        self.running = 0;
        self.has_flux = false;
        self.steps.fill(steps::StepState::default());
        self.runs.fill(false);
        self.has_network = false;
        self.started_without = None;
        self.script = None;
        self.acts.clear();
        self.disturbance = Disturbance::draw(self.blueprint, seed, faults);
        if let Some((from, to)) = self.disturbance.api_down {
            self.queue.push_world(from, WorldAlarm::ApiDown);
            self.queue.push_world(to, WorldAlarm::ApiUp);
        }
        if let Some((machine, at)) = self.disturbance.lost_member {
            self.queue.push_world(at, WorldAlarm::MemberLost(machine));
        }
        if let Some((node, at)) = self.disturbance.dead_node {
            self.queue.push_world(at, WorldAlarm::NodeDies(node));
        }
        if self.disturbance.webhooks_answer_at() > 0 {
            self.queue.push_world(self.disturbance.webhooks_answer_at(), WorldAlarm::WebhooksAnswer);
        }
        for id in &self.blueprint.given {
            self.give(*id);
        }
        self.rack();
    }

    /// Runs until this moment, also beyond the point where all is ready.
    pub fn advance(&mut self, at: Millis) {
        while self.queue.next_at().is_some_and(|next| next <= at) && self.step() {}
        self.now = self.now.max(at);
    }

    /// One event; whether there was any.
    pub fn step(&mut self) -> bool {
        let Some(due) = self.queue.pop() else {
            // Somebody outside may still do something.
            if self.script.is_some() || self.has_flux {
                self.end(Verdict::Stuck);
            }
            return false;
        };
        self.now = due.at;
        self.events += 1;
        if let Some(limit) = self.limits.reached(self.now, self.events) {
            // Without an API server nothing can happen any more.
            self.end(if self.lacks_api().is_some() { Verdict::Stuck } else { Verdict::Unfinished(limit) });
            return false;
        }
        let (id, token) = match due.alarm {
            QueuedAlarm::Thing { id, token } => (id, token),
            QueuedAlarm::World(alarm) => {
                self.control(alarm);
                self.settle();
                return true;
            }
        };
        if self.tokens[id.index()] != token {
            return true;
        }
        if let Some(until) = self.disturbance.api_is_down_until(self.now) {
            // Nobody can write or see anything meanwhile.
            let was = self.alarms[id.index()];
            self.schedule(id, until + self.latency(id, 90, 1_000, 6_000), was == Alarm::Poll);
            return true;
        }
        self.disarm(id);
        self.fire(id);
        self.settle();
        if self.busy == 0 && self.is_over.is_none() && self.has_flux && self.nothing_can_change() {
            self.end(Verdict::Stuck);
        }
        true
    }

    /// Everybody who has to look again does.
    fn settle(&mut self) {
        while let Some(id) = self.wake.pop() {
            self.poke(id);
        }
        self.judge_installs();
        self.follow_script();
        if self.script.is_none() && self.runs.contains(&true) {
            self.follow_steps();
        }
        while let Some(id) = self.wake.pop() {
            self.poke(id);
        }
        self.end_idleness();
        if self.missing == 0 && self.is_over.is_none() && self.has_flux {
            self.end(Verdict::Converged);
        }
    }

    fn end(&mut self, verdict: Verdict) {
        if self.is_over.is_none() {
            self.is_over = Some(verdict);
        }
    }

    fn control(&mut self, alarm: WorldAlarm) {
        match alarm {
            // Everybody who waits for an install looks afterwards.
            WorldAlarm::InstallDue | WorldAlarm::StepDue => {}
            WorldAlarm::ApiDown => self.note(None, What::ApiDown),
            // It was lost for good meanwhile.
            WorldAlarm::ApiUp if self.lacks_api().is_some() => {}
            WorldAlarm::ApiUp => {
                self.note(None, What::ApiUp);
                self.fail_running_releases();
            }
            WorldAlarm::Pushed => self.announce_revision(),
            // Who was refused before has not tried since.
            WorldAlarm::WebhooksAnswer => self.epoch += 1,
            WorldAlarm::ApiReady => self.api_is_ready(),
            WorldAlarm::MachineUp(machine) => self.machine_is_up(machine),
            WorldAlarm::MemberUp(machine) => self.member_is_up(machine),
            WorldAlarm::NodeJoined(machine) => self.node_has_joined(machine),
            WorldAlarm::MemberLost(machine) => self.member_is_lost(machine),
            WorldAlarm::NodeDies(node) => self.node_dies(node),
        }
    }

    fn fire(&mut self, id: Id) {
        match self.blueprint.role(id) {
            ThingRole::Kustomization(at) => self.kustomization_alarm(at),
            ThingRole::Release(at) => self.release_alarm(at),
            ThingRole::Workload(at) => self.workload_alarm(at),
            ThingRole::Custom(at) => self.custom_alarm(at),
            ThingRole::Derived(at) => self.derived_alarm(at),
            ThingRole::Source(at) => self.source_alarm(at),
            ThingRole::Definition => self.make_ready(id),
            ThingRole::Plain | ThingRole::Webhook(_) => {}
        }
    }

    fn poke(&mut self, id: Id) {
        match self.blueprint.role(id) {
            ThingRole::Kustomization(at) => self.kustomization_looks(at),
            ThingRole::Release(at) => self.release_looks(at),
            ThingRole::Workload(at) => self.workload_looks(at),
            ThingRole::Custom(at) => self.custom_looks(at),
            ThingRole::Derived(at) => self.derived_looks(at),
            ThingRole::Source(at) => self.source_looks(at),
            ThingRole::Definition => self.definition_looks(id),
            ThingRole::Plain | ThingRole::Webhook(_) => {}
        }
    }

    fn schedule(&mut self, id: Id, at: Millis, is_poll: bool) {
        self.disarm(id);
        let index = id.index();
        self.tokens[index] += 1;
        self.alarms[index] = if is_poll { Alarm::Poll } else { Alarm::Busy };
        self.busy += usize::from(!is_poll);
        self.queue.push(at, QueuedAlarm::Thing { id, token: self.tokens[index] });
    }

    fn disarm(&mut self, id: Id) {
        let index = id.index();
        self.busy -= usize::from(self.alarms[index] == Alarm::Busy);
        self.alarms[index] = Alarm::None;
        self.tokens[index] += 1;
    }

    fn is_armed(&self, id: Id) -> bool {
        self.alarms[id.index()] != Alarm::None
    }

    pub fn exists(&self, id: Id) -> bool {
        self.flags[id.index()] & EXISTS != 0
    }

    pub fn is_ready(&self, id: Id) -> bool {
        self.flags[id.index()] & READY != 0
    }

    pub fn is_reported(&self, id: Id) -> bool {
        self.flags[id.index()] & REPORTED != 0
    }

    fn is_left_out(&self, id: Id) -> bool {
        self.flags[id.index()] & LEFT_OUT != 0
    }

    pub fn now(&self) -> Millis {
        self.now
    }

    /// What has happened so far, where a boot is traced.
    pub fn events(&self) -> &[BootEvent] {
        self.trace.as_deref().unwrap_or_default()
    }

    pub fn is_over(&self) -> Option<Verdict> {
        self.is_over
    }

    fn holds(&self, need: Prerequisite) -> bool {
        self.flags[need.id.index()] & if need.ready { READY } else { EXISTS } != 0
    }

    fn all_hold(&self, needs: &[Prerequisite]) -> bool {
        needs.iter().all(|need| self.holds(*need))
    }

    fn note(&mut self, thing: Option<Id>, what: What) {
        if let Some(trace) = &mut self.trace {
            trace.push(BootEvent { at: self.now, thing, what });
        }
    }

    fn draw(&self, id: Id, question: u32) -> f64 {
        random::draw(self.seed, id.0, question)
    }

    /// Between two bounds, drawn anew for each question.
    fn latency(&self, id: Id, question: u32, least: Millis, most: Millis) -> Millis {
        let share = self.draw(id, question);
        let slow = self.disturbance.api_factor;
        scaled(least + scaled(most - least, share), slow)
    }

    /// How it stands; an end only where [`World::is_over`] says so.
    pub fn outcome(&self) -> BootOutcome {
        BootOutcome::of(self)
    }

    /// No alarm is set that could bring anything new: whoever is not ready has tried since the last change, or only waits.
    fn nothing_can_change(&mut self) -> bool {
        if self.now < self.disturbance.webhooks_answer_at() {
            return false;
        }
        let unsettled = lagging(self.blueprint.components(), self.unsettled, |at| self.component_has_settled(at));
        self.unsettled = unsettled.unwrap_or(0);
        unsettled.is_none()
    }

    /// Kustomizations come first, then releases.
    fn component_has_settled(&self, at: usize) -> bool {
        let kustomizations = &self.blueprint.kustomizations;
        match at.checked_sub(kustomizations.len()) {
            None => self.has_settled(&kustomizations[at], &self.kustomizations[at]),
            Some(at) => self.release_has_settled(self.blueprint.releases[at].id, &self.releases[at]),
        }
    }

    /// Gives the machines their names, in their order: control planes first.
    #[must_use]
    pub fn naming(mut self, machines: Vec<String>) -> Self {
        self.names = machines;
        self
    }

    /// What machines are called, in their order.
    pub(crate) fn machine_names(&self) -> &[String] {
        &self.names
    }

    /// Why something that Flux looks after is not ready.
    pub fn reason(&self, id: Id) -> Reason {
        match self.blueprint.role(id) {
            ThingRole::Kustomization(at) => self.kustomization_reason(at),
            ThingRole::Release(at) => self.release_reason(at),
            _ => Reason::None,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "durations of a boot"
)]
fn scaled(millis: Millis, factor: f64) -> Millis {
    (millis as f64 * factor) as Millis
}

/// One of so many for which something does not hold. It is looked for from where there was one last time: what has come to hold mostly
/// stays so, and is not looked at again for every change.
fn lagging(count: usize, from: usize, holds: impl Fn(usize) -> bool) -> Option<usize> {
    let from = from.min(count);
    (from..count).chain(0..from).find(|at| !holds(*at))
}

/// What an outcome is made of.
impl World<'_> {
    pub(crate) fn blueprint(&self) -> &Blueprint {
        self.blueprint
    }

    pub(crate) fn count(&self) -> u64 {
        self.events
    }

    pub(crate) fn started_without(&self) -> Option<Reason> {
        self.started_without.map(Reason::StartedWithout)
    }

    pub(crate) fn left_out(&self) -> &[Id] {
        &self.left_out
    }

    pub(crate) fn flux_outcome(&self, id: Id) -> FluxOutcome {
        let (progress, has_stalled, is_suspended) = match self.blueprint.role(id) {
            ThingRole::Kustomization(at) => {
                let progress = self.kustomizations[at as usize].progress;
                (progress, false, progress.reason == Reason::Suspended)
            }
            ThingRole::Release(at) => {
                let state = &self.releases[at as usize];
                (state.progress, state.is_stalled(), state.is_suspended())
            }
            _ => (Progress::default(), false, false),
        };
        let is_ready = self.is_ready(id);
        let reason = if is_ready { Reason::None } else { self.reason(id) };
        FluxOutcome {
            id,
            first_ready: progress.first_ready,
            first_failure: progress.first_failure,
            ready_attempt: progress.first_began,
            is_ready,
            is_suspended,
            has_stalled,
            failures: progress.failures,
            reason,
        }
    }
}
