//! What the world itself says of a run, from its own record: when each step's thing was really there, and what a failure
//! comes down to. Asks neither the step machine nor what it told.

use std::collections::{BTreeMap, BTreeSet};

use rehearse::Simulated;
use run::{Proof, Step};
use settings::UpSettings;
use simulate::{Action, Blueprint, Id, What};

pub(crate) struct Truth<'w, 'b> {
    world: &'w Simulated<'b>,
    blueprint: &'b Blueprint,
    machines: Vec<&'w str>,
    /// From when until when each thing was ready; the last may still be.
    ready: BTreeMap<Id, Vec<(u64, u64)>>,
    /// When each thing was made last.
    made: BTreeMap<Id, u64>,
    up: BTreeMap<u32, u64>,
    member: Option<u64>,
    /// From when until when the API server answered; the last may still go on.
    api: Vec<(u64, u64)>,
    flux: Option<u64>,
    last: u64,
}

impl<'w, 'b> Truth<'w, 'b> {
    pub(crate) fn new(world: &'w Simulated<'b>, blueprint: &'b Blueprint, settings: &'w UpSettings) -> Self {
        let machines = settings.control_planes.iter().chain(&settings.workers).map(String::as_str).collect();
        let mut truth = Self {
            world,
            blueprint,
            machines,
            ready: BTreeMap::new(),
            made: BTreeMap::new(),
            up: BTreeMap::new(),
            member: None,
            api: Vec::new(),
            flux: None,
            last: 0,
        };
        for event in world.inner().events() {
            match (event.what, event.thing) {
                (What::Ready, Some(id)) => {
                    truth.ready.entry(id).or_default().push((event.at, u64::MAX));
                    truth.last = event.at;
                }
                (What::Created, Some(id)) => _ = truth.made.insert(id, event.at),
                (What::NotReady, Some(id)) => {
                    if let Some((_, until)) = truth.ready.get_mut(&id).and_then(|times| times.last_mut()) {
                        *until = event.at.min(*until);
                    }
                }
                (What::MachineUp(machine), _) => _ = truth.up.entry(machine).or_insert(event.at),
                (What::MemberJoined(_), _) => _ = truth.member.get_or_insert(event.at),
                (What::ApiUp, _) => truth.api.push((event.at, u64::MAX)),
                (What::ApiDown, _) => {
                    if let Some((_, until)) = truth.api.last_mut() {
                        *until = event.at.min(*until);
                    }
                }
                (What::FluxStarted, _) => _ = truth.flux.get_or_insert(event.at),
                _ => {}
            }
        }
        truth
    }

    /// When a thing was ready first.
    fn ready_at(&self, id: Id) -> Option<u64> {
        self.ready.get(&id)?.first().map(|(from, _)| *from)
    }

    /// Whether these were all ready, and anybody could see it, at one moment between two.
    fn were_ready(&self, all: &[Id], began: u64, limit: u64) -> bool {
        let times = |id: &Id| self.ready.get(id).map(Vec::as_slice).unwrap_or_default();
        let holds = |times: &[(u64, u64)], at: u64| times.iter().any(|(from, until)| *from <= at && at < *until);
        let is_seen = |at: u64| self.api.is_empty() || holds(&self.api, at);
        let mut moments = all.iter().flat_map(times).chain(&self.api).map(|(from, _)| (*from).max(began));
        moments.any(|at| at <= limit && is_seen(at) && all.iter().all(|id| holds(times(id), at)))
    }

    fn machine(&self, name: &str) -> Option<u32> {
        u32::try_from(self.machines.iter().position(|machine| *machine == name)?).ok()
    }

    /// When somebody did something that the world took.
    fn acted(&self, wanted: impl Fn(Action) -> bool) -> Option<u64> {
        let all = self.world.inner().acts();
        all.iter().find(|act| wanted(act.action) && act.result.is_ok()).map(|act| act.at)
    }

    /// When it was done that a step does; nothing for a step that is only watched.
    pub(crate) fn begun_at(&self, step: &Step) -> Option<u64> {
        match &step.action {
            run::Action::PowerOn { machine } => {
                let machine = self.machine(machine)?;
                self.acted(|action| action == Action::PowerOn(machine))
            }
            run::Action::MakeSecrets | run::Action::RestoreSecrets { .. } => {
                self.acted(|action| action == Action::MakeSecrets)
            }
            run::Action::Configure { machine } => {
                let machine = self.machine(machine)?;
                self.acted(|action| action == Action::Configure(machine))
            }
            run::Action::BootstrapEtcd { .. } => self.acted(|action| matches!(action, Action::BootstrapEtcd(_))),
            run::Action::Install { release } => {
                let release = self.blueprint.early_named(release)?;
                self.acted(|action| action == Action::Install(release))
            }
            run::Action::Seed { component, .. } => self.seeded_at(component),
            run::Action::StartFlux => self.acted(|action| action == Action::StartFlux),
            run::Action::Terraform { .. } | run::Action::Watch => None,
        }
    }

    fn seeded_at(&self, component: &str) -> Option<u64> {
        if let Some(release) = self.blueprint.early_named(component) {
            return self.acted(|action| action == Action::Install(release));
        }
        // The key alone, or everything that is applied.
        self.acted(|action| matches!(action, Action::Apply(_)))
            .or_else(|| self.acted(|action| action == Action::RestoreKey))
    }

    /// When what a step wants was there, whether anybody looked or not.
    pub(crate) fn done_at(&self, step: &Step) -> Option<u64> {
        match &step.proof {
            Proof::Maintenance { machine } => self.up.get(&self.machine(machine)?).copied(),
            Proof::SecretsKept | Proof::TalosRuns { .. } | Proof::Seeded { .. } => self.begun_at(step),
            Proof::EtcdMembers { .. } => self.member,
            Proof::ApiAnswers { .. } => self.api.first().map(|(from, _)| *from),
            Proof::ReleaseHealthy { release } => {
                let parts = self.blueprint.early_parts(self.blueprint.early_named(release)?);
                let times: Option<Vec<u64>> = parts.iter().map(|id| self.ready_at(*id)).collect();
                times?.into_iter().max().max(self.begun_at(step))
            }
            Proof::FluxRuns => self.flux,
            Proof::Ready { kind, namespace, name } => self.ready_at(self.blueprint.find(kind, namespace, name)?),
            Proof::Answers { .. } => world_converged(self.world).then_some(self.last),
            Proof::NothingToApply { .. } => None,
        }
    }

    /// Whether what a step wants was there at some moment between two.
    pub(crate) fn was_done_between(&self, step: &Step, began: u64, limit: u64) -> bool {
        match &step.proof {
            // These can go away again.
            Proof::ApiAnswers { .. } => self.api.iter().any(|(from, until)| *from <= limit && *until > began),
            Proof::ReleaseHealthy { release } => {
                let release = self.blueprint.early_named(release);
                release.is_some_and(|release| self.were_ready(self.blueprint.early_parts(release), began, limit))
            }
            Proof::Ready { kind, namespace, name } => {
                let id = self.blueprint.find(kind, namespace, name);
                id.is_some_and(|id| self.were_ready(&[id], began, limit))
            }
            _ => self.done_at(step).is_some_and(|done| done <= limit),
        }
    }

    /// Whether a fault of this world touches what kept a step from being proved, which had all it needs at `began`.
    pub(crate) fn is_struck(&self, step: &Step, began: u64) -> bool {
        let world = self.world.inner();
        if world.is_everything_struck() {
            return true;
        }
        let machine = |name: &str| self.machine(name).is_some_and(|machine| world.is_machine_struck(machine));
        let start: Vec<Id> = match &step.proof {
            Proof::Maintenance { machine: name } | Proof::TalosRuns { machine: name } => return machine(name),
            Proof::EtcdMembers { .. } | Proof::ApiAnswers { .. } => {
                return (0..).take(self.machines.len()).any(|machine| world.is_machine_struck(machine));
            }
            Proof::ReleaseHealthy { release } | Proof::Seeded { component: release, .. } => {
                let release = self.blueprint.early_named(release);
                release.map(|release| self.blueprint.early_parts(release).to_vec()).unwrap_or_default()
            }
            Proof::Ready { kind, namespace, name } => {
                let id = self.blueprint.find(kind, namespace, name);
                id.into_iter().chain(id.and_then(|id| world.reason(id).about())).collect()
            }
            // Whatever is not ready keeps the way in closed.
            Proof::Answers { .. } => {
                let outcome = world.outcome();
                outcome.waiting.into_iter().chain(outcome.causes.iter().map(|cause| cause.id)).collect()
            }
            _ => Vec::new(),
        };
        self.leads_to_struck(start, began)
    }

    /// From things that are not ready down to what they depend on, past everything that was ready when the step began and stayed
    /// so: that is not what it waited for.
    fn leads_to_struck(&self, start: Vec<Id>, began: u64) -> bool {
        let world = self.world.inner();
        let mut seen: BTreeSet<Id> = start.iter().copied().collect();
        let mut next = start;
        while let Some(id) = next.pop() {
            if world.is_struck(id) {
                return true;
            }
            let last = self.ready.get(&id).and_then(|times| times.last());
            if last.is_some_and(|(from, until)| *from < began && *until == u64::MAX) {
                continue;
            }
            // What an operator made too late may be there by now.
            let is_late = |maker: Id| {
                let by_flux = self.blueprint.flux_objects().any(|flux| flux == maker);
                !by_flux && self.made.get(&id).is_some_and(|at| *at >= began)
            };
            let maker = self.blueprint.maker(id).filter(|maker| !world.exists(id) || is_late(*maker));
            for on in self.blueprint.prerequisites(id).into_iter().chain(maker) {
                if seen.insert(on) {
                    next.push(on);
                }
            }
        }
        false
    }
}

fn world_converged(world: &Simulated<'_>) -> bool {
    world.inner().outcome().converged()
}
