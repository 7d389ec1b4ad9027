//! What was made of the facts: a line for every layer, and the root of each fault with what it blocks.
//!
//! Types with fields only; how they read is said in `draw`.

use ecow::EcoString;
use serde::Serialize;

use crate::Time;
use crate::cause::Cause;
use crate::facts::{Alarm, ObjectKey, Why};

/// The status of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    /// When the facts were seen.
    pub seen: Option<Time>,
    pub outcome: Outcome,
    /// All layers, from the bottom up.
    pub layers: Vec<Layer>,
    /// One for every independent fault, the one that blocks most first.
    pub roots: Vec<Root>,
    /// Every object that fails, and what it waits for.
    pub links: Vec<Link>,
    /// What could not be seen, and why.
    pub gaps: Vec<Gap>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Healthy,
    Progressing,
    Degraded,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerName {
    Access,
    Machines,
    Etcd,
    Api,
    Nodes,
    Network,
    Dns,
    Secrets,
    Storage,
    Certificates,
    GitOps,
    Platform,
    Applications,
}

impl LayerName {
    /// From the bottom up.
    pub const ALL: [Self; 13] = [
        Self::Access,
        Self::Machines,
        Self::Etcd,
        Self::Api,
        Self::Nodes,
        Self::Network,
        Self::Dns,
        Self::Secrets,
        Self::Storage,
        Self::Certificates,
        Self::GitOps,
        Self::Platform,
        Self::Applications,
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    Healthy,
    Progressing,
    /// Some of it works.
    Degraded,
    /// None of it works.
    Failed,
    /// It was not seen.
    Unknown,
    /// It is no part of this cluster.
    Absent,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    pub name: LayerName,
    pub state: State,
    pub reason: Reason,
    pub counts: Vec<Count>,
    pub failing: Vec<Failing>,
}

/// Why a layer is in its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "reason")]
pub enum Reason {
    /// Everything that was asked is as it should be.
    Proved,
    /// Nothing of it exists.
    NotInstalled,
    /// Nobody asked for it: it takes more than Kubernetes' own facts.
    NotAsked,
    /// It could not be seen.
    NotSeen {
        why: Why,
    },
    /// What is below does not answer.
    NothingAnswers,
    Failing,
    Progressing,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    ReadinessChecks,
    Machines,
    EtcdMembers,
    Leaders,
    ApiServices,
    Webhooks,
    Crds,
    Nodes,
    ExpectedNodes,
    Agents,
    AgentsOfThisBoot,
    Operators,
    DnsEndpoints,
    SealingKeys,
    SealedSecrets,
    SecretStores,
    ExternalSecrets,
    DefaultClasses,
    DriversOnNodes,
    Claims,
    Issuers,
    Certificates,
    Controllers,
    Sources,
    Kustomizations,
    HelmReleases,
    ResourceSets,
    LoadBalancers,
    Gateways,
    Workloads,
    Jobs,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    pub what: What,
    pub good: usize,
    pub of: usize,
}

/// An object that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failing {
    pub object: ObjectKey,
    pub problem: Problem,
    pub state: State,
}

/// The root of a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Root {
    /// The catalogue's name for it; none where facts show what is wrong and no entry knows it.
    pub id: Option<&'static str>,
    pub cause: Option<Cause>,
    pub layer: LayerName,
    pub object: ObjectKey,
    pub problem: Problem,
    pub evidence: Vec<Evidence>,
    /// What waits for it, directly or not.
    pub blocks: Vec<Blocked>,
    pub remedy: Remedy,
    /// The objects of a cycle, each waiting for the next and the last for the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<Step>,
}

/// One object and what makes it wait for the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    pub object: ObjectKey,
    pub because: Because,
}

/// A fact that shows it: an object's field, its value, and since when.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Evidence {
    pub object: ObjectKey,
    pub field: &'static str,
    pub value: EcoString,
    pub since: Option<Time>,
}

/// An object that fails because of a root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Blocked {
    pub object: ObjectKey,
    /// What it waits for, on the way to the root.
    pub by: ObjectKey,
    pub because: Because,
}

/// One failing object, and what it waits for itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    pub object: ObjectKey,
    pub layer: LayerName,
    pub problem: Problem,
    pub evidence: Vec<Evidence>,
    /// Empty for a root.
    pub by: Vec<(ObjectKey, Because)>,
}

/// What proves that one object waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Because {
    /// `dependsOn` names it.
    DependsOn,
    /// It is its source, or the source of its chart.
    Source,
    /// It applied it: its inventory has it.
    Inventory,
    /// A health check waits for it.
    HealthCheck,
    /// It owns it.
    Owns,
    /// A field of it names it.
    Names,
    /// Its kind is defined by it.
    Kind,
    /// The API server asks this webhook before it creates it.
    Admission,
    /// It runs on this node, or can run only there.
    Node,
    /// No pod of that node has a network without it.
    NodeNetwork,
    /// It is served by these pods.
    Backend,
    /// A lookup of it failed, and lookups go there.
    Lookup,
    /// It resolves names there, and fails since that does.
    Resolves,
    /// Nothing of its kind goes on without this controller.
    Controller,
    /// It makes it.
    Makes,
    /// A volume of it is served by this driver.
    Driver,
}

/// What is wrong with an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case", tag = "problem")]
pub enum Problem {
    // Access
    NoAnswer {
        why: WhyNot,
    },
    CheckFails {
        check: EcoString,
    },
    // Machines and etcd
    MachineNotReady {
        stage: EcoString,
        unmet: EcoString,
        why: EcoString,
    },
    ServiceNotHealthy {
        service: EcoString,
        state: EcoString,
        message: EcoString,
    },
    VolumeNotReady {
        volume: EcoString,
        phase: EcoString,
        message: EcoString,
    },
    TimeNotSynced,
    EtcdAlarm {
        alarm: AlarmKind,
    },
    EtcdNoQuorum {
        reachable: usize,
        members: usize,
    },
    // API
    LeaseNotRenewed {
        holder: EcoString,
    },
    ApiServiceUnavailable {
        reason: EcoString,
        message: EcoString,
    },
    WebhookWithoutEndpoints {
        webhook: EcoString,
        service: EcoString,
        ready: usize,
        of: usize,
    },
    WebhookWithoutCa {
        webhook: EcoString,
    },
    NamespaceStuck {
        reason: EcoString,
        message: EcoString,
    },
    CrdNotEstablished {
        reason: EcoString,
    },
    RequestPending {
        user: EcoString,
    },
    // Anything that is named and does not exist
    Missing,
    /// It has been deleted, and finalizers keep it.
    DeletionStuck {
        finalizers: EcoString,
    },
    // Nodes
    NodeNotReady {
        reason: EcoString,
        message: EcoString,
    },
    NodeSilent {
        ready: bool,
    },
    NodeUninitialized,
    NodeCordoned,
    NodePressure {
        condition: EcoString,
    },
    // Network
    AgentMissing {
        nodes: Vec<EcoString>,
    },
    AgentBeforeBoot {
        nodes: Vec<EcoString>,
    },
    NobodyWanted,
    AgentTaintStays,
    NoAgent,
    // DNS
    NoReadyEndpoints {
        of: usize,
    },
    // Secrets
    NoSealingKey,
    SealingKeyOpensNothing {
        sealed: usize,
    },
    CannotUnseal {
        message: EcoString,
    },
    // Storage
    ClaimPending {
        class: EcoString,
    },
    ClaimLost,
    DriverNotRegistered {
        driver: EcoString,
        nodes: Vec<EcoString>,
    },
    NoDefaultClass,
    AttachFailed {
        message: EcoString,
    },
    // Certificates
    CertificateExpired {
        at: Time,
    },
    // Whatever reports by a condition
    NotReady {
        reason: EcoString,
        message: EcoString,
    },
    Stalled {
        reason: EcoString,
        message: EcoString,
    },
    Suspended,
    NotReconciled {
        generation: i64,
        observed: i64,
    },
    /// It was applied at another revision than its source has.
    Behind {
        applied: EcoString,
        source: EcoString,
    },
    DependencyMissing {
        on: ObjectKey,
    },
    DependencyCycle,
    // Pods and what makes them
    Unschedulable {
        message: EcoString,
    },
    Waiting {
        container: EcoString,
        reason: EcoString,
        message: EcoString,
    },
    Crashing {
        container: EcoString,
        exit_code: i32,
        reason: EcoString,
        message: EcoString,
    },
    PodNotReady,
    NotScheduled,
    CannotCreatePods {
        reason: EcoString,
        message: EcoString,
    },
    TooFew {
        have: i64,
        want: i64,
    },
    JobFailed {
        reason: EcoString,
        message: EcoString,
    },
    // Platform
    NoAddress {
        reason: EcoString,
    },
    CephUnhealthy {
        health: EcoString,
        details: EcoString,
    },
}

/// [`Why`] without what only a list has, in an order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyNot {
    Refused,
    Hanging { seconds: u64 },
    Dropped { seconds: u64 },
    Broken,
    NoSuchHost,
    Unauthorized,
    Forbidden,
    CertificateExpired { at: Option<Time> },
    Untrusted,
    Throttled,
    Answered { status: u16, message: EcoString },
    Other,
}

impl From<&Why> for WhyNot {
    fn from(why: &Why) -> Self {
        match why {
            Why::Refused => Self::Refused,
            Why::Hanging { seconds } => Self::Hanging { seconds: *seconds },
            Why::Dropped { seconds } => Self::Dropped { seconds: *seconds },
            Why::Broken => Self::Broken,
            Why::NoSuchHost => Self::NoSuchHost,
            Why::Unauthorized => Self::Unauthorized,
            Why::Forbidden { .. } => Self::Forbidden,
            Why::CertificateExpired { at } => Self::CertificateExpired { at: *at },
            Why::Untrusted => Self::Untrusted,
            Why::Throttled => Self::Throttled,
            Why::Answered { status, message } => Self::Answered { status: *status, message: message.clone() },
            Why::NotAsked | Why::NotServed | Why::Stale { .. } | Why::Expired | Why::Unreadable { .. } => Self::Other,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlarmKind {
    NoSpace,
    Corrupt,
}

impl From<Alarm> for AlarmKind {
    fn from(alarm: Alarm) -> Self {
        match alarm {
            Alarm::NoSpace => Self::NoSpace,
            Alarm::Corrupt => Self::Corrupt,
        }
    }
}

/// What would be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remedy {
    pub automatic: Automatic,
    /// A command that does it, or that shows more where nothing is known to do.
    pub command: Vec<EcoString>,
}

/// Who may do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Automatic {
    /// It can be repeated and undone.
    Always,
    /// Once its guard is proved.
    Guarded,
    /// A person decides.
    Ask,
    /// It is reported and never done.
    Never,
}

/// A list that is not whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The kind, in its plural as the API has it.
    pub kind: EcoString,
    pub why: Why,
}

/// What should be there, from the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Nodes by name; empty where the repository does not say.
    pub nodes: Vec<EcoString>,
    /// The commit at which each source should be.
    pub revisions: Vec<(ObjectKey, EcoString)>,
    /// Objects that Flux should have made, with the one that makes each.
    pub made: Vec<(ObjectKey, ObjectKey)>,
    /// What needs what, beyond what the cluster itself shows.
    pub needs: Vec<(ObjectKey, ObjectKey)>,
}
