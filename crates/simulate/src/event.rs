//! What happens in a boot: one enum, for whoever shows, stores or compares it.

use crate::blueprint::{Id, Millis};
use crate::fault::Fault;
use crate::stage::Action;

/// Something that happened to a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootEvent {
    pub at: Millis,
    /// Nothing where it happened to the whole world.
    pub thing: Option<Id>,
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// It is there.
    Created,
    /// Somebody took it away.
    Removed,
    /// An attempt begins: apply and health, install or upgrade.
    Began,
    /// It waits for something else, which is no failure.
    Waits(Reason),
    /// An attempt failed.
    Failed(Reason),
    /// It has given up.
    Stalled(Reason),
    /// Its controller has spoken, and it is not ready.
    Reported,
    /// Ready, available, bound, established.
    Ready,
    /// Left out of a chart, for its kind was not known when that was rendered.
    LeftOut,
    /// The repository has a new revision.
    Pushed(u32),
    /// The bootstrap is through, and Flux starts.
    FluxStarted,
    /// A step of the bootstrap failed, and what follows it never happens.
    BootstrapFailed(Reason),
    /// A machine runs its operating system.
    MachineUp(u32),
    /// A machine has a member of etcd.
    MemberJoined(u32),
    /// A machine is a node.
    NodeJoined(u32),
    /// A node went away, and all that ran on it.
    NodeGone(u32),
    /// It was ready, and is not any more.
    NotReady,
    /// Somebody has done something.
    Acted(Action),
    ApiDown,
    ApiUp,
}

/// Why something waits or has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    None,
    Suspended,
    DependencyNotReady(Id),
    DependencyNotFound(Id),
    SourceNotFound(Id),
    SourceNotReady(Id),
    /// A text.
    BuildFailed(u32),
    VariablesNotFound(Id),
    /// A text.
    UndefinedVariable(u32),
    KeyNotFound(Id),
    /// Of a kind that the cluster does not know.
    NoMatch(Id),
    NamespaceNotFound(Id),
    /// The object, the webhook that was asked about it and does not answer, and whether that has pods to answer with.
    WebhookDown(Id, Id, bool),
    HealthTimeout(Id),
    HealthStalled(Id),
    ValuesNotFound(Id),
    InstallTimeout(Id),
    NoSealingKey,
    ApiDown,
    /// A text: the release of a helmfile.
    BootstrapTimeout(u32),
    /// Too few members of etcd came up.
    NoQuorum,
    /// There is no machine of this number.
    NoMachine(u32),
    /// A machine does not answer: it is off, boots, or is dead.
    NoAnswer(u32),
    NotConfigured(u32),
    /// A machine has a configuration of other secrets.
    OtherSecrets(u32),
    NoSecrets,
    /// A machine that etcd does not run on.
    NoControlPlane(u32),
    EtcdNotBootstrapped,
    /// Bootstrapped on two machines.
    EtcdSplit,
    NoApi,
    NoNode(u32),
    NotThere(Id),
    /// On its way.
    NotReady(Id),
    /// One waits for another.
    WaitsFor(Id, Id),
    /// A text: a release of the bootstrap.
    NotInstalled(u32),
    FluxNotStarted,
    /// A SealedSecret that no key opens.
    Sealed(Id),
    /// Pods that something below them keeps from starting, and the node that they are on.
    Stuck(Id, Fault, u32),
    /// Pods that no node is there for.
    Unplaced(Id),
    /// Pods that take so many seconds to start.
    Starts(Id, u32),
    /// Pods that started too early, and start again after a pause.
    Crashes(Id),
    /// Health is looked at for so many seconds at most; this is not there yet.
    HealthChecks(Id, u32),
    /// Helm waits for so many seconds at most; this is not ready yet.
    Installs(Id, u32),
    /// A dependency that was not ready at the last look and is by now; looks are so many seconds apart.
    LooksAgain(Id, u32),
    /// Nothing is missing any more, which the next look will see; looks are so many seconds apart.
    LooksSoon(u32),
    /// It has begun, and there is nothing to say of it yet.
    Reconciles,
    /// Its controller has all it needs.
    UnderWay(Id),
    /// A source that can't be fetched.
    GitDown(Id),
    /// Somebody else waits for it.
    IsSuspended(Id),
    /// A step of the boot by its place, and what it waited for in vain.
    StepStopped(u32, Lack),
    /// What the cluster lacked when Flux was started.
    StartedWithout(Lack),
}

/// What a cluster lacks before Flux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Lack {
    /// etcd was not bootstrapped, or has no quorum.
    Etcd,
    Api,
    /// A machine that does not answer, or has no configuration.
    Answer(u32),
    /// A machine that has not joined as a node.
    Joined(u32),
    /// A machine whose kubelet does not run.
    Kubelet(u32),
    /// A node without an agent of the pod network.
    Agent(u32),
    /// The pod network is not installed.
    Network,
    /// A release of the bootstrap.
    Release(u32),
}

impl Reason {
    /// Reasons of one kind have one number, whatever they are about.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Suspended => 1,
            Self::DependencyNotReady(_) => 2,
            Self::DependencyNotFound(_) => 3,
            Self::SourceNotFound(_) => 4,
            Self::SourceNotReady(_) => 5,
            Self::BuildFailed(_) => 6,
            Self::VariablesNotFound(_) => 7,
            Self::UndefinedVariable(_) => 8,
            Self::KeyNotFound(_) => 9,
            Self::NoMatch(_) => 10,
            Self::NamespaceNotFound(_) => 11,
            Self::WebhookDown(..) => 12,
            Self::HealthTimeout(_) => 13,
            Self::HealthStalled(_) => 14,
            Self::ValuesNotFound(_) => 15,
            Self::InstallTimeout(_) => 16,
            Self::NoSealingKey => 17,
            Self::ApiDown => 18,
            Self::BootstrapTimeout(_) => 19,
            Self::NoQuorum => 20,
            Self::NoMachine(_) => 21,
            Self::NoAnswer(_) => 22,
            Self::NotConfigured(_) => 23,
            Self::OtherSecrets(_) => 24,
            Self::NoSecrets => 25,
            Self::NoControlPlane(_) => 26,
            Self::EtcdNotBootstrapped => 27,
            Self::EtcdSplit => 28,
            Self::NoApi => 29,
            Self::NoNode(_) => 30,
            Self::NotThere(_) => 31,
            Self::NotReady(_) => 32,
            Self::WaitsFor(..) => 33,
            Self::NotInstalled(_) => 34,
            Self::FluxNotStarted => 35,
            Self::Sealed(_) => 36,
            Self::Stuck(..) => 37,
            Self::Unplaced(_) => 38,
            Self::Starts(..) => 39,
            Self::Crashes(_) => 40,
            Self::HealthChecks(..) => 41,
            Self::Installs(..) => 42,
            Self::LooksAgain(..) => 43,
            Self::LooksSoon(_) => 44,
            Self::Reconciles => 45,
            Self::UnderWay(_) => 46,
            Self::GitDown(_) => 47,
            Self::IsSuspended(_) => 48,
            Self::StepStopped(..) => 49,
            Self::StartedWithout(_) => 50,
        }
    }

    /// It only waits for another one to be ready.
    pub fn is_wait(self) -> bool {
        self.is_passing() || matches!(self, Self::None | Self::HealthTimeout(_))
    }

    /// It is no failure, and only true until the next look.
    pub(crate) fn is_passing(self) -> bool {
        matches!(
            self,
            Self::DependencyNotReady(_)
                | Self::SourceNotReady(_)
                | Self::HealthChecks(..)
                | Self::LooksAgain(..)
                | Self::LooksSoon(_)
                | Self::Reconciles
        )
    }

    /// All that it names.
    pub fn names(self) -> Vec<Id> {
        let other = match self {
            Self::WaitsFor(_, on) | Self::WebhookDown(_, on, _) => Some(on),
            _ => None,
        };
        self.about().into_iter().chain(other).collect()
    }

    /// What it is about.
    pub fn about(self) -> Option<Id> {
        match self {
            Self::DependencyNotReady(id)
            | Self::DependencyNotFound(id)
            | Self::SourceNotFound(id)
            | Self::SourceNotReady(id)
            | Self::VariablesNotFound(id)
            | Self::KeyNotFound(id)
            | Self::NoMatch(id)
            | Self::NamespaceNotFound(id)
            | Self::WebhookDown(id, ..)
            | Self::HealthTimeout(id)
            | Self::HealthStalled(id)
            | Self::ValuesNotFound(id)
            | Self::InstallTimeout(id)
            | Self::NotThere(id)
            | Self::NotReady(id)
            | Self::WaitsFor(id, _)
            | Self::Sealed(id)
            | Self::Stuck(id, ..)
            | Self::Unplaced(id)
            | Self::Starts(id, _)
            | Self::Crashes(id)
            | Self::HealthChecks(id, _)
            | Self::Installs(id, _)
            | Self::LooksAgain(id, _)
            | Self::UnderWay(id)
            | Self::GitDown(id)
            | Self::IsSuspended(id) => Some(id),
            _ => None,
        }
    }
}
