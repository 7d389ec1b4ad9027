//! The simulated world behind the same seam as a real one.
//!
//! It exists as long as its journal: whoever comes back replays what was begun, at the times it was begun at, and finds the same
//! world. Terraform and requests from outside are not part of `simulate`; here they take a while, and need what they speak to.

use std::collections::BTreeMap;
use std::time::Duration;

use model::Obstacle;
use run::{Action, Event, Hindrance, Layer, Line, Look, Plan, Proof, Seed, Step, World};
use settings::UpSettings;
use simulate::{Action as Act, Blueprint, Fault, Id, Probe, Reason, World as Inner};

const TERRAFORM_SECONDS: u64 = 45;

/// A world that is driven by a plan and knows nothing of it.
#[derive(Clone, Debug)]
pub struct Simulated<'b> {
    inner: Inner<'b>,
    blueprint: &'b Blueprint,
    machines: Vec<String>,
    /// When each Terraform directory will have been applied.
    applied: BTreeMap<String, Duration>,
}

impl<'b> Simulated<'b> {
    pub fn new(blueprint: &'b Blueprint, settings: &UpSettings, seed: u64, faults: &[Fault]) -> Self {
        let machines: Vec<String> = settings.control_planes.iter().chain(&settings.workers).cloned().collect();
        Self {
            inner: Inner::begin(blueprint, seed, faults).naming(machines.clone()),
            blueprint,
            machines,
            applied: BTreeMap::new(),
        }
    }

    /// Does again what a journal says was begun, and goes to where it ends. What was done then and is refused now, because the
    /// files have changed since, is owed, and done as soon as it can be.
    pub fn replay(&mut self, plan: &Plan, lines: &[Line]) {
        let mut refused: BTreeMap<&str, &Step> = BTreeMap::new();
        let mut owed: Vec<&Step> = Vec::new();
        for line in lines {
            self.advance(line.time());
            owed.retain(|step| self.act(step).is_err());
            match &line.event {
                Event::Started { step, .. } => {
                    let found = plan.find(step).map(|id| plan.step(id));
                    // Refused then, refused again.
                    refused.extend(found.filter(|step| self.act(step).is_err()).map(|found| (step.as_str(), found)));
                }
                Event::Acted { step, .. } => owed.extend(refused.remove(step.as_str())),
                Event::Tried { step, .. } | Event::Failed { step, .. } => drop(refused.remove(step.as_str())),
                _ => {}
            }
        }
    }

    pub fn inner(&self) -> &Inner<'b> {
        &self.inner
    }

    fn advance(&mut self, to: Duration) {
        if to > self.now() {
            self.inner.advance(u64::try_from(to.as_millis()).unwrap_or(u64::MAX));
        }
    }

    fn machine(&self, name: &str) -> Option<u32> {
        u32::try_from(self.machines.iter().position(|machine| machine == name)?).ok()
    }

    fn do_now(&mut self, act: Act) -> Result<(), Hindrance> {
        let now = self.inner.now();
        let done = self.inner.act(now, act);
        // What follows at once has happened when the next one acts, whoever that is: a replay comes by here, too.
        self.inner.advance(now);
        done.map(drop).map_err(|reason| self.seen(reason))
    }

    fn seed(&mut self, component: &str, seed: &Seed) -> Result<(), Hindrance> {
        match self.seeded_by(component, seed) {
            SeededBy::Act(act) => self.do_now(act),
            SeededBy::Objects(objects) => objects.into_iter().try_for_each(|object| self.do_now(Act::Apply(object))),
        }
    }

    /// How this world seeds it.
    fn seeded_by(&self, component: &str, seed: &Seed) -> SeededBy {
        let applied = |after: Option<u32>| SeededBy::Objects(self.blueprint.seeded(after).collect());
        match seed {
            Seed::SealingKey => SeededBy::Act(Act::RestoreKey),
            Seed::Crds | Seed::Foundation => match self.blueprint.early_named(component) {
                Some(release) => SeededBy::Act(Act::Install(release)),
                None => applied(None),
            },
            Seed::Resources => applied(None),
            Seed::ResourcesAfter { release } => applied(self.blueprint.early_named(release)),
        }
    }

    fn terraform(&mut self, directory: &str, step: &Step) -> Result<(), Hindrance> {
        if step.layer == Layer::Configuration && !self.inner.look(Probe::Api).met {
            return Err(Hindrance::ApiRefuses);
        }
        if let Some(run) = self.run(directory, step) {
            self.do_now(Act::Run(run))?;
        }
        let done = self.now() + Duration::from_secs(TERRAFORM_SECONDS);
        self.applied.entry(directory.to_owned()).or_insert(done);
        Ok(())
    }

    /// What a run does beside what the plan does itself, by its number.
    fn run(&self, directory: &str, step: &Step) -> Option<u32> {
        self.blueprint.run_of("Terraform", directory).filter(|_| step.by_hand.does_boot)
    }

    /// A run is through when its steps are.
    fn applied(&self, directory: &str, step: &Step) -> Look {
        let Some(run) = self.run(directory, step) else { return Look::Done };
        let proof = self.inner.look(Probe::Run(run));
        match proof.reason {
            _ if proof.met => Look::Done,
            reason if self.inner.run_has_failed(run) => Look::Failed(self.traced(reason)),
            _ => Look::UnderWay(Some(Hindrance::TerraformApplies)),
        }
    }

    /// What a probe says, for a step that somebody does and that `begun` says was begun.
    fn probed(&self, probe: Probe, begun: bool) -> Look {
        let proof = self.inner.look(probe);
        if proof.met {
            Look::Done
        } else if !begun {
            Look::Absent
        } else {
            self.under_way(proof.reason)
        }
    }

    /// A reason alone: what was refused was refused for that.
    fn seen(&self, reason: Reason) -> Hindrance {
        Hindrance::Obstacles(self.inner.named(reason).map(Obstacle::alone).unwrap_or_default())
    }

    /// A reason and all behind it.
    fn traced(&self, reason: Reason) -> Hindrance {
        Hindrance::Obstacles(self.inner.named_trace(reason))
    }

    fn under_way(&self, reason: Reason) -> Look {
        Look::UnderWay((reason != Reason::None).then(|| self.traced(reason)))
    }

    fn was_done(&self, act: Act) -> bool {
        self.inner.acts().iter().any(|done| done.action == act && done.result.is_ok())
    }

    fn object(&self, kind: &str, namespace: &str, name: &str) -> Look {
        let Some(id) = self.blueprint.find(kind, namespace, name) else {
            return Look::Failed(Hindrance::NotRendered);
        };
        if self.inner.is_ready(id) {
            Look::Done
        } else if self.inner.has_stalled(id) {
            Look::Failed(self.traced(self.inner.reason(id)))
        } else {
            // Flux makes it, or whoever Flux tells to: until then, the reason is theirs.
            let reason = if self.inner.exists(id) { self.inner.reason(id) } else { Reason::NotThere(id) };
            self.under_way(reason)
        }
    }

    fn seeded(&self, component: &str, seed: &Seed) -> Look {
        match self.seeded_by(component, seed) {
            SeededBy::Act(Act::Install(release)) => {
                self.probed(Probe::Installed(release), self.was_done(Act::Install(release)))
            }
            SeededBy::Act(act) => self.probed(Probe::SealingKey, self.was_done(act)),
            SeededBy::Objects(objects) if objects.iter().all(|id| self.inner.exists(*id)) => Look::Done,
            SeededBy::Objects(_) => Look::Absent,
        }
    }
}

/// How something is seeded: by one act, or object by object.
enum SeededBy {
    Act(Act),
    Objects(Vec<Id>),
}

impl World for Simulated<'_> {
    fn now(&self) -> Duration {
        Duration::from_millis(self.inner.now())
    }

    fn act(&mut self, step: &Step) -> Result<(), Hindrance> {
        let machine = |world: &Self, name: &str| {
            world.machine(name).ok_or_else(|| Hindrance::NoMachine { machine: name.to_owned() })
        };
        match &step.action {
            Action::Terraform { directory } => self.terraform(directory, step),
            Action::PowerOn { machine: name } => machine(self, name).and_then(|id| self.do_now(Act::PowerOn(id))),
            Action::MakeSecrets | Action::RestoreSecrets { .. } => self.do_now(Act::MakeSecrets),
            Action::Configure { machine: name } => machine(self, name).and_then(|id| self.do_now(Act::Configure(id))),
            Action::BootstrapEtcd { machine: name } => {
                machine(self, name).and_then(|id| self.do_now(Act::BootstrapEtcd(id)))
            }
            Action::Seed { component, seed } => self.seed(component, seed),
            Action::Install { release } => match self.blueprint.early_named(release) {
                Some(release) => self.do_now(Act::Install(release)),
                None => Err(Hindrance::NoRelease { release: release.clone() }),
            },
            Action::StartFlux => self.do_now(Act::StartFlux),
            Action::Watch => Ok(()),
        }
    }

    fn look(&mut self, step: &Step) -> Look {
        // Whoever can't ask knows nothing, least of all that nothing is there.
        if step.proof.asks_the_api() {
            let api = self.inner.look(Probe::Api);
            if !api.met {
                return Look::UnderWay(Some(self.seen(api.reason)));
            }
        }
        match &step.proof {
            Proof::NothingToApply { directory } => match self.applied.get(directory) {
                None => Look::Absent,
                Some(at) if *at <= self.now() => self.applied(directory, step),
                Some(_) => Look::UnderWay(Some(Hindrance::TerraformApplies)),
            },
            // What others do is on its way until it is there.
            Proof::TalosRuns { machine } if step.action == Action::Watch => self.watched(machine, Probe::Configured),
            Proof::Maintenance { machine } if step.action == Action::Watch => self.watched(machine, Probe::Machine),
            Proof::EtcdMembers { .. } if step.action == Action::Watch => self.probed(Probe::Etcd, true),
            Proof::FluxRuns if step.action == Action::Watch => self.probed(Probe::Flux, true),
            Proof::SecretsKept => self.probed(Probe::Secrets, self.was_done(Act::MakeSecrets)),
            Proof::Maintenance { machine } => self.on_machine(machine, Probe::Machine, Act::PowerOn),
            Proof::TalosRuns { machine } => self.on_machine(machine, Probe::Configured, Act::Configure),
            Proof::EtcdMembers { .. } => self.probed(Probe::Etcd, self.inner.look(Probe::Bootstrapped).met),
            Proof::ApiAnswers { .. } => self.probed(Probe::Api, true),
            Proof::Seeded { component, seed } => self.seeded(component, seed),
            Proof::ReleaseHealthy { release } => match self.blueprint.early_named(release) {
                Some(release) => self.probed(Probe::Healthy(release), self.was_done(Act::Install(release))),
                None => Look::Absent,
            },
            Proof::FluxRuns => self.probed(Probe::Flux, self.was_done(Act::StartFlux)),
            Proof::Ready { kind, namespace, name } => self.object(kind, namespace, name),
            Proof::Answers { .. } => self.probed(Probe::Converged, true),
        }
    }

    fn wait(&mut self, until: Option<Duration>) {
        let next = self.inner.next_event_at().map(Duration::from_millis);
        let applied = self.applied.values().copied().filter(|at| *at > self.now()).min();
        let to = [next, applied, until].into_iter().flatten().filter(|at| *at > self.now()).min();
        self.advance(to.unwrap_or(self.now() + Duration::from_secs(1)));
    }
}

impl Simulated<'_> {
    fn watched(&self, name: &str, probe: fn(u32) -> Probe) -> Look {
        match self.machine(name) {
            Some(machine) => self.probed(probe(machine), true),
            None => Look::Failed(Hindrance::NoMachine { machine: name.to_owned() }),
        }
    }

    fn on_machine(&self, name: &str, probe: fn(u32) -> Probe, act: fn(u32) -> Act) -> Look {
        match self.machine(name) {
            Some(machine) => self.probed(probe(machine), self.was_done(act(machine))),
            None => Look::Failed(Hindrance::NoMachine { machine: name.to_owned() }),
        }
    }
}
