//! What keeps something in a cluster from being ready: one vocabulary for simulated boots, for runs and their journals, and for
//! whatever matches what was seen to what was foretold.
//!
//! Knows fields, and no sentence: how an obstacle reads is for whoever shows it.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use crate::object::ObjectRef;

/// Why something waits or has failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "obstacle", rename_all = "kebab-case")]
pub enum Obstacle {
    Suspended,
    DependencyNotReady {
        dependency: ObjectRef,
    },
    DependencyNotFound {
        dependency: ObjectRef,
    },
    SourceNotFound {
        source: ObjectRef,
    },
    SourceNotReady {
        source: ObjectRef,
    },
    /// In the words of what builds it.
    BuildFailed {
        message: String,
    },
    VariablesNotFound {
        object: ObjectRef,
    },
    UndefinedVariable {
        name: String,
    },
    /// The key that Flux decrypts with.
    KeyNotFound {
        object: ObjectRef,
    },
    /// The cluster does not know the kind of the object.
    UnknownKind {
        object: ObjectRef,
        /// `group/version`, or `v1`.
        api_version: EcoString,
    },
    /// The Namespace that the object names.
    NamespaceNotFound {
        object: ObjectRef,
    },
    /// A webhook was asked about the object, and did not answer.
    WebhookDown {
        object: ObjectRef,
        /// `group/version` of the object.
        api_version: EcoString,
        /// Namespace and name of the release that brings the webhook.
        release: EcoString,
        /// There are pods to answer with, and they don't.
        has_pods: bool,
    },
    HealthTimeout {
        on: Subject,
    },
    HealthStalled {
        on: Subject,
    },
    /// Health is looked at for so long at most; this is not there yet.
    HealthChecks {
        on: Subject,
        timeout_seconds: u32,
    },
    ValuesNotFound {
        object: ObjectRef,
    },
    InstallTimeout {
        on: Subject,
    },
    /// Helm waits for so long at most; this is not ready yet.
    Installs {
        on: Subject,
        timeout_seconds: u32,
    },
    NoSealingKey,
    /// The API server went away during an install.
    ApiDown,
    /// A release of the bootstrap.
    BootstrapTimeout {
        release: EcoString,
    },
    /// Too few members of etcd came up.
    NoQuorum,
    /// There is no machine of this number.
    NoMachine {
        number: u32,
    },
    /// A machine is off, boots, or is dead.
    NoAnswer {
        machine: MachineRef,
    },
    NotConfigured {
        machine: MachineRef,
    },
    /// A machine has a configuration of other secrets.
    OtherSecrets {
        machine: MachineRef,
    },
    NoSecrets,
    /// A machine that etcd does not run on.
    NoControlPlane {
        machine: MachineRef,
    },
    EtcdNotBootstrapped,
    /// Bootstrapped on two machines.
    EtcdSplit,
    NoApi,
    /// A machine that has not joined as a node.
    NotJoined {
        machine: MachineRef,
    },
    /// No machine has joined as a node.
    NoNodes,
    /// A machine whose kubelet waits for a volume, and does not run.
    KubeletWaits {
        machine: MachineRef,
    },
    /// A node without an agent of the pod network.
    NoAgent {
        machine: MachineRef,
    },
    /// The pod network is not installed.
    NoNetwork,
    /// A step before Flux stops its run.
    StepStopped {
        step: ObjectRef,
        lacks: Box<Obstacle>,
    },
    NotThere {
        subject: Subject,
    },
    /// On its way.
    NotReady {
        subject: Subject,
    },
    WaitsFor {
        subject: Subject,
        on: Subject,
    },
    /// A release of the bootstrap.
    NotInstalled {
        release: EcoString,
    },
    FluxNotStarted,
    /// A SealedSecret that no key opens.
    Sealed {
        object: ObjectRef,
    },
    /// Pods that something below them keeps from starting.
    Stuck {
        subject: Subject,
        trouble: PodTrouble,
        node: MachineRef,
    },
    /// Pods that no node is there for.
    Unplaced {
        subject: Subject,
    },
    /// Pods that take so long to start.
    Starts {
        subject: Subject,
        takes_seconds: u32,
    },
    /// Pods that started too early, and start again after a pause.
    Crashes {
        subject: Subject,
    },
    /// A dependency that was not ready at the last look and is by now.
    LooksAgain {
        dependency: ObjectRef,
        every_seconds: u32,
    },
    /// Nothing is missing any more, which the next look will see.
    LooksSoon {
        every_seconds: u32,
    },
    /// It has begun, and there is nothing to say of it yet.
    Reconciles,
    /// Its controller has all it needs.
    UnderWay {
        subject: Subject,
    },
    /// A source that can't be fetched.
    GitDown {
        source: ObjectRef,
    },
    /// Something else waits for it.
    IsSuspended {
        subject: Subject,
    },
    /// Word for word what a controller, a server or a program said.
    Said {
        text: String,
    },
}

/// What an obstacle is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Subject {
    Object(ObjectRef),
    /// The webhook that a release brings.
    WebhookOf {
        release: EcoString,
    },
    /// Any node that has joined.
    JoinedNode,
    /// Something cluster-wide that software gives, under the name that the catalogue has for it: `pod-network`.
    Given {
        capability: EcoString,
        /// Empty for what there is one of.
        name: EcoString,
    },
    /// What a controller makes for another object.
    Made {
        what: MadeKind,
        /// Namespace and name, or the name of a piece of software.
        of: EcoString,
    },
}

/// What a controller makes for another object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MadeKind {
    Artifacts,
    Claims,
    Kinds,
    Webhook,
}

/// A machine of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MachineRef {
    /// In the order of the settings, control planes first.
    pub number: u32,
    /// Where the settings give it one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<EcoString>,
}

/// What below pods keeps them from starting, or makes them late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PodTrouble {
    VolumesNotMounted,
    NoNetworkAgent,
    ImageNotPulled,
    NodeGone,
    NodeSlow,
    SlowStart,
}

/// An obstacle and those behind it. The first is what a controller says, the last what everything comes down to.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Trace {
    /// Empty where nothing is known.
    pub chain: Vec<Obstacle>,
    /// The last of them waits for one before it.
    #[serde(default)]
    pub turns: bool,
}

impl Obstacle {
    /// One obstacle with nothing known behind it.
    pub fn alone(self) -> Trace {
        Trace { chain: vec![self], turns: false }
    }
}

impl Trace {
    /// What somebody said, word for word.
    pub fn said(text: impl Into<String>) -> Self {
        Obstacle::Said { text: text.into() }.alone()
    }
}
