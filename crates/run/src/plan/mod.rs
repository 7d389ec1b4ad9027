//! What will be done: steps, what each needs proved first, what proves it, and how long it may take.

mod build;
mod by_hand;
mod content;
mod machines;
mod order;
mod select;
mod terraform;
mod told;

use std::collections::BTreeMap;
use std::time::Duration;

use model::{Capability, ObjectRef};
use serde::Serialize;

use crate::reason::LeftOut;

pub use build::{PlanError, plan};
pub use by_hand::ByHand;
pub use select::{Selection, SelectionError};
pub use told::{Told, told};

/// A step, by its place in [`Plan::steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub u32);

impl StepId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Steps in an order in which no step comes before what it needs.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub steps: Vec<Step>,
    /// What the files did not tell, and what it means for the plan.
    pub notes: Vec<Note>,
}

impl Plan {
    pub fn ids(&self) -> impl Iterator<Item = StepId> + use<> {
        (0..source::to_u32(self.steps.len())).map(StepId)
    }

    pub fn step(&self, id: StepId) -> &Step {
        &self.steps[id.index()]
    }

    pub fn find(&self, key: &str) -> Option<StepId> {
        self.ids().find(|id| self.step(*id).key == key)
    }

    /// Those who need each step directly.
    pub fn dependents(&self) -> Vec<Vec<StepId>> {
        let mut dependents = vec![Vec::new(); self.steps.len()];
        for id in self.ids() {
            for need in &self.step(id).needs {
                dependents[need.step.index()].push(id);
            }
        }
        dependents
    }

    /// The plan without these steps. They are taken as done once what they need is: what needs one needs that instead.
    pub fn without(self, left: &BTreeMap<StepId, LeftOut>) -> Self {
        let mut place = BTreeMap::new();
        for id in self.ids().filter(|id| !left.contains_key(id)) {
            place.insert(id, StepId(source::to_u32(place.len())));
        }
        let mut needs: Vec<Vec<StepNeed>> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let through = |need: &StepNeed| match place.get(&need.step) {
                Some(step) => vec![StepNeed { step: *step, why: need.why.clone() }],
                None => needs[need.step.index()].clone(),
            };
            let mut inherited: Vec<StepNeed> = step.needs.iter().flat_map(through).collect();
            inherited.sort_by_key(|need| need.step);
            inherited.dedup_by_key(|need| need.step);
            needs.push(inherited);
        }
        let kept = self.ids().zip(self.steps).zip(needs).filter(|((id, _), _)| !left.contains_key(id));
        let steps = kept.map(|((_, step), needs)| Step { needs, ..step }).collect();
        Self { steps, notes: self.notes.into_iter().chain(counted(left)).collect() }
    }

    /// When each step would be proved if each took as long as expected; what is left out takes no time.
    pub fn expected(&self, is_left: impl Fn(StepId) -> bool) -> Vec<Duration> {
        let mut at: Vec<Duration> = Vec::with_capacity(self.steps.len());
        for id in self.ids() {
            let step = self.step(id);
            let start = step.needs.iter().map(|need| at[need.step.index()]).max().unwrap_or_default();
            at.push(if is_left(id) { start } else { start + step.expected });
        }
        at
    }

    /// The chain that decides when the last step is proved, first to last, given when each was.
    pub fn critical_path(&self, proved: &[Duration]) -> Vec<StepId> {
        let last = self.ids().max_by_key(|id| (proved[id.index()], std::cmp::Reverse(*id)));
        let before = |id: &StepId| {
            let needs = self.step(*id).needs.iter().map(|need| need.step);
            needs.max_by_key(|need| (proved[need.index()], std::cmp::Reverse(*need)))
        };
        let mut path: Vec<StepId> = std::iter::successors(last, before).collect();
        path.reverse();
        path
    }

    /// For each step the needs that no other of its needs has: the rest follows.
    pub fn direct_needs(&self) -> Vec<Vec<StepId>> {
        let words = self.steps.len().div_ceil(64);
        // Everything that each step needs, however indirectly, as bits.
        let mut behind: Vec<Vec<u64>> = Vec::with_capacity(self.steps.len());
        let mut direct = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let mut far = vec![0_u64; words];
            for need in &step.needs {
                for (word, other) in far.iter_mut().zip(&behind[need.step.index()]) {
                    *word |= other;
                }
            }
            let is_far = |id: StepId| far[id.index() / 64] & (1 << (id.index() % 64)) != 0;
            direct.push(step.needs.iter().map(|need| need.step).filter(|id| !is_far(*id)).collect());
            for need in &step.needs {
                far[need.step.index() / 64] |= 1 << (need.step.index() % 64);
            }
            behind.push(far);
        }
        direct
    }
}

/// How many steps are left out for each reason.
fn counted(left: &BTreeMap<StepId, LeftOut>) -> impl Iterator<Item = Note> {
    let mut counts: BTreeMap<&LeftOut, usize> = BTreeMap::new();
    for why in left.values() {
        *counts.entry(why).or_default() += 1;
    }
    let notes: Vec<Note> = counts.into_iter().map(|(why, steps)| Note::LeftOut { why: why.clone(), steps }).collect();
    notes.into_iter()
}

/// What a plan's reader should know beside its steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The settings name no machines: the plan begins with the Kubernetes API.
    MachinesNotDescribed,
    /// Files describe the machines, and the settings name none.
    MachinesFromFiles {
        from: String,
    },
    LeftOut {
        why: LeftOut,
        steps: usize,
    },
}

/// One thing to be done and proved.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name in journals and on the command line: `bootstrap/kube-system/cilium`.
    pub key: String,
    pub layer: Layer,
    pub action: Action,
    pub needs: Vec<StepNeed>,
    pub proof: Proof,
    pub limits: Limits,
    /// Must never be done twice, whatever a journal says: only a look at the world decides.
    pub once: bool,
    /// What could be lost by doing it.
    pub danger: Option<Danger>,
    /// From the last of its needs to its own proof, as the timeline of the graph has it.
    pub expected: Duration,
    pub by_hand: ByHand,
    /// Of everything that decides what it does.
    pub hash: String,
}

/// What must be proved first, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepNeed {
    pub step: StepId,
    pub why: NeedReason,
}

/// Why a step comes after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NeedReason {
    Credentials,
    /// A machine's configuration is made from the secrets.
    MadeFromSecrets,
    /// etcd starts on the first control plane.
    FirstControlPlane,
    /// The API server keeps everything in etcd.
    KeptInEtcd,
    /// The virtual address is elected through the API.
    ElectedThroughApi,
    /// Every control plane is to stand behind the virtual address.
    BehindAddress,
    MachineAnswers,
    /// Terraform makes the machines.
    MakesMachines,
    /// A run of Terraform does it.
    TerraformDoes,
    /// A script runs it after the other one, or it takes what the other one leaves.
    AfterRun,
    /// It reads the state that the other one leaves.
    ReadsState,
    FluxRuns,
    FluxApplies,
    KubernetesApi,
    PodNetwork,
    /// Flux builds on it as soon as it runs.
    FluxBuildsOnIt,
    /// The other one applies it.
    AppliedBy,
    /// It waits for what it applies.
    WaitsForApplied,
    /// Its health checks name it.
    WaitsForListed,
    /// A file declares it.
    Declared,
    /// It needs what the other one offers.
    Offered(Capability),
    /// It speaks to an API that the other one serves.
    SpeaksToApi,
    /// A request from outside passes through everything.
    WayIn,
    /// A request from outside asks for a whole cluster.
    WholeCluster,
}

/// What could be lost by doing a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Danger {
    /// Machines that have the old secrets do not trust those who have new ones.
    NewSecrets,
    /// A second bootstrap of etcd makes a second, empty cluster.
    SecondCluster,
    /// A machine that is given a configuration installs itself on its disk.
    InstallsOnDisk,
}

/// Where in a cold start a step belongs. For reading and for bars: what waits for what is said by needs alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    Keys,
    Machines,
    Talos,
    Api,
    Seeds,
    Network,
    Bootstrap,
    Flux,
    GitOps,
    Configuration,
    Outside,
}

impl Layer {
    pub const ALL: [Self; 11] = [
        Self::Keys,
        Self::Machines,
        Self::Talos,
        Self::Api,
        Self::Seeds,
        Self::Network,
        Self::Bootstrap,
        Self::Flux,
        Self::GitOps,
        Self::Configuration,
        Self::Outside,
    ];

    /// As it is spelt in keys and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::Machines => "machines",
            Self::Talos => "talos",
            Self::Api => "api",
            Self::Seeds => "seeds",
            Self::Network => "network",
            Self::Bootstrap => "bootstrap",
            Self::Flux => "flux",
            Self::GitOps => "gitops",
            Self::Configuration => "configuration",
            Self::Outside => "outside",
        }
    }
}

/// What is done. Each variant has what a driver must know, and no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Action {
    /// `terraform apply` (or `tofu`) in a directory.
    Terraform {
        directory: String,
    },
    PowerOn {
        machine: String,
    },
    /// Makes the secrets that machine configurations are made from. Once in the life of a cluster.
    MakeSecrets,
    /// Takes the secrets that machine configurations are made from out of a file that keeps them.
    RestoreSecrets {
        file: String,
    },
    /// Gives a machine its Talos configuration.
    Configure {
        machine: String,
    },
    /// Starts etcd on the first control plane. Once in the life of a cluster.
    BootstrapEtcd {
        machine: String,
    },
    /// Applies what somebody seeds before anything is installed: namespaces, Secrets, the sealing key, CRDs.
    Seed {
        component: String,
        #[serde(skip)]
        seed: Seed,
    },
    /// Installs a release of the helmfile.
    Install {
        release: String,
    },
    /// Gives Flux what it begins with.
    StartFlux,
    /// Nothing is done: somebody else does it, and it is only watched.
    Watch,
}

/// What is seeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seed {
    /// All that is applied as it is before anything is installed.
    Resources,
    /// What is applied after a release, by the name of its step.
    ResourcesAfter { release: String },
    /// Only the CRDs of a chart.
    Crds,
    /// The key that opens sealed Secrets.
    SealingKey,
    /// What Flux cannot start without, and the repository does not show who installs.
    Foundation,
}

/// What shows that a step is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "proved-by", rename_all = "kebab-case")]
pub enum Proof {
    /// The directory's plan has nothing left to do.
    NothingToApply { directory: String },
    /// The machine answers on the Talos API, waiting for its configuration.
    Maintenance { machine: String },
    /// The secrets of the cluster's machines are kept.
    SecretsKept,
    /// Talos runs on the machine with its configuration.
    TalosRuns { machine: String },
    /// This many etcd members, and a leader.
    EtcdMembers { members: u32 },
    /// The API server answers at this address.
    ApiAnswers { endpoint: String },
    /// All of what was seeded is there, with its content.
    Seeded {
        component: String,
        #[serde(skip)]
        seed: Seed,
    },
    /// The objects of the release are healthy.
    #[serde(rename = "release-healthy")]
    ReleaseHealthy { release: String },
    /// Flux's controllers run and have their source.
    FluxRuns,
    /// Flux says that it is ready, for this generation.
    Ready { kind: String, namespace: String, name: String },
    /// A request from outside gets an answer that proves the whole way.
    Answers { url: String },
}

impl Proof {
    pub fn ready(object: &ObjectRef) -> Self {
        Self::Ready {
            kind: object.kind.to_string(),
            namespace: object.namespace.to_string(),
            name: object.name.to_string(),
        }
    }

    /// Only the Kubernetes API can tell.
    pub fn asks_the_api(&self) -> bool {
        match self {
            Self::Seeded { .. }
            | Self::ReleaseHealthy { .. }
            | Self::FluxRuns
            | Self::Ready { .. }
            | Self::Answers { .. } => true,
            Self::NothingToApply { .. }
            | Self::Maintenance { .. }
            | Self::SecretsKept
            | Self::TalosRuns { .. }
            | Self::EtcdMembers { .. }
            | Self::ApiAnswers { .. } => false,
        }
    }
}

/// How long, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From the try to its proof.
    pub timeout: Duration,
    pub attempts: u32,
    /// Between tries.
    pub pause: Duration,
}
