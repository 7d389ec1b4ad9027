//! A step of the boot before GitOps: what it does, what it comes after, and what has been shown when it is done.
//!
//! Knows no tool: a resource of Terraform, a command of a script and a release of a helmfile are steps alike.

use ecow::EcoString;
use source::Span;

use crate::object::ObjectRef;

/// A step, by its place in [`crate::Boot::steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub u32);

impl StepId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A machine that the cluster is to have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExpectedNode {
    pub name: EcoString,
    pub is_control_plane: bool,
}

/// Something that is done once, before GitOps starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootStep {
    /// A resource by its directory and address, a command by its script.
    pub object: ObjectRef,
    /// Where it is written.
    pub at: Span,
    pub does: Doing,
    pub after: Vec<StepOrder>,
    pub proves: Vec<Proven>,
    /// What it does not end without, beside what it brings itself.
    pub awaits: Vec<Fact>,
    /// The address that it speaks to, where it names one.
    pub reaches: Option<EcoString>,
}

impl BootStep {
    /// Whether the same program runs both.
    pub fn is_of_run(&self, other: &Self) -> bool {
        self.object.kind == other.object.kind && self.object.namespace == other.object.namespace
    }
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Makes a machine, or several.
    MakesMachines,
    /// Gives machines their configuration.
    ConfiguresMachines,
    /// Makes the first member of etcd.
    BootstrapsEtcd,
    /// Fetches the credentials of the API server.
    FetchesCredentials,
    /// Installs a chart.
    Installs {
        release: EcoString,
        brings: Brings,
    },
    /// Stores the key that sealed secrets are opened with.
    StoresSealingKey,
    /// Installs Flux, or hands it the first thing to apply.
    StartsGitOps,
    /// Looks whether the boot can begin, before anything is made.
    ChecksFirst,
    /// Makes what machines are configured from.
    PreparesMachines,
    /// Applies a directory of infrastructure as code, whose resources are steps of their own.
    RunsLayer {
        directory: EcoString,
    },
    /// Puts objects into the cluster as they are.
    AppliesObjects(Seeded),
    /// Only waits.
    Waits,
    Other,
}

impl Doing {
    /// Whether it installs the pod network.
    pub fn brings_network(&self) -> bool {
        matches!(self, Self::Installs { brings: Brings::PodNetwork { .. }, .. })
    }
}

/// What a step puts into the cluster as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeded {
    Namespaces,
    Secrets,
    Crds,
    /// Whatever else.
    Objects,
}

/// What a release of the boot is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brings {
    PodNetwork {
        /// How many nodes may be without an agent when the release is done, where it waits at all.
        unavailable_max: Option<u32>,
    },
    Other,
}

/// Why a step comes after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepOrder {
    pub on: StepId,
    /// What says so.
    pub at: Span,
    pub by: OrderedBy,
}

/// What orders two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrderedBy {
    /// It is declared.
    Declaration,
    /// One refers to the other.
    Reference,
    /// One line, release or directory stands above the other.
    Sequence,
    /// One takes a file, a state or credentials that the other leaves.
    HandOver,
}

/// Something that has been shown when a step is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proven {
    pub fact: Fact,
    pub of: Extent,
    /// What waits for it.
    pub at: Span,
}

/// What can be shown of a cluster that comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fact {
    /// A machine runs, and has told its address.
    MachineStarted,
    ApiAnswers,
    EtcdRuns,
    /// Their kubelets have registered them.
    NodesJoined,
    NodesReady,
    KubeletsRun,
    /// The agents of the pod network run.
    NetworkRuns,
    /// The pods of the storage driver run.
    StorageRuns,
    /// The workloads of a release run.
    WorkloadsRun,
    /// An object is there.
    ObjectExists,
    /// Flux runs.
    GitOpsRuns,
}

/// Of how many it has been shown. A later one says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extent {
    /// Of none: what waits for it stops nothing when it fails, or is not always run.
    Unchecked,
    /// Not of all: some may be missing.
    Some,
    /// Of the control planes alone.
    ControlPlanes,
    /// Of all that exist at that time.
    Existing,
    /// Of all that the cluster is to have.
    Expected,
}
