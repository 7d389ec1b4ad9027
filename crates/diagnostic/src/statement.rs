//! What a finding states, as data. How it is worded is another's.
//!
//! `count` is of all that a statement holds for, the one that is named included; `needed` begins with what is worst.

use crate::boot::BootFault;
use crate::seal::SealFault;
use ecow::EcoString;
use model::{BuildFault, Capability, Defect, ObjectRef, Purpose, Role};

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    Boot(BootFault),
    Order(OrderFault),
    Gate(GateFault),
    Absence(Absence),
    Install(InstallFault),
    Comment(CommentFault),
    /// Keys, or what is sealed with them.
    Seal(SealFault),
    /// A step of the boot before GitOps does something else than it seems to.
    Step {
        step: ObjectRef,
        defect: Defect,
    },
}

impl From<BootFault> for Statement {
    fn from(fault: BootFault) -> Self {
        Self::Boot(fault)
    }
}

impl From<SealFault> for Statement {
    fn from(fault: SealFault) -> Self {
        Self::Seal(fault)
    }
}

/// An order that is missing, wrong or too much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderFault {
    /// The chart of a release asks for an API when it is rendered, and nothing has the provider there before.
    AsksTooEarly { release: ObjectRef, provider: ObjectRef, needed: Vec<Capability> },
    /// They wait for each other.
    Circle { members: Vec<(Role, ObjectRef)> },
    /// It waits for what only comes after itself.
    WaitsForItself { component: ObjectRef, needed: Capability },
    /// An installation fails for good if the provider is late.
    InstallMayFail { role: Role, release: ObjectRef, provider: ObjectRef, needed: Vec<Capability> },
    /// Only the bootstrap has the provider there before.
    NeedsBootstrap { component: ObjectRef, provider: ObjectRef, needed: Vec<Capability> },
    /// A release needs another that its helmfile does not have.
    NeedsUnknownRelease { component: ObjectRef, missing: ObjectRef },
    /// Nothing orders the two.
    NotOrdered { component: ObjectRef, provider: ObjectRef, needed: Vec<Capability> },
    /// Nothing orders the users of a store after it.
    StoreNotAwaited { component: ObjectRef, count: usize, store: Capability, provider: ObjectRef },
    /// What it waits for is of another kind than it says.
    WaitsForOtherKind { component: ObjectRef, missing: ObjectRef, found: ObjectRef },
    /// What it waits for applies it.
    WaitsForParent { component: ObjectRef, count: usize, parent: ObjectRef, parent_waits: bool },
    /// What it waits for is switched off.
    WaitsForSuspended { component: ObjectRef, target: ObjectRef },
    /// The only one that would bring what it needs is switched off.
    NeedsOfSuspended { component: ObjectRef, needed: Capability, target: ObjectRef },
    /// What it waits for does not exist.
    WaitsForUnknown { component: ObjectRef, missing: ObjectRef },
    /// A health check names nothing.
    ChecksUnknown { component: ObjectRef, missing: ObjectRef },
    /// Another dependency waits for the same already.
    WaitsTwice { component: ObjectRef, target: ObjectRef, through: ObjectRef },
    /// A webhook may refuse it, one that is asked about everything or about some kinds.
    WebhookMayRefuse { component: ObjectRef, count: usize, provider: ObjectRef, is_of_everything: bool },
}

/// A gate that proves less than it seems to, or a retry that comes late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateFault {
    /// What it depends on waits until the need can be met, and not until it is.
    AfterByChance { component: ObjectRef, needed: Vec<Capability>, gate: ObjectRef },
    /// What is depended on is done when its objects are accepted, and what the order is for can't be seen.
    DependsOnNoGate { component: ObjectRef, count: usize, gate: ObjectRef },
    /// What is depended on is done before the need is met.
    DependsOnWeakGate { component: ObjectRef, count: usize, gate: ObjectRef, needed: Vec<Capability> },
    /// Expressions on health that are never evaluated.
    GatesNothing { component: ObjectRef },
    /// `healthChecks` on an object that `wait` switches off.
    IgnoresCheck { component: ObjectRef, object: ObjectRef },
    /// What is relied on proves nothing, or opens too early.
    ReliesOnHealth { component: ObjectRef, count: usize, gate: ObjectRef, is_early: bool, needed: Vec<Capability> },
    /// Tries again only after a long time.
    RetriesLate { component: ObjectRef, seconds: u64, count: usize },
}

/// Something that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absence {
    /// A deployed chart has the CRD, and does not install it.
    ChartKeepsCrd { component: ObjectRef, count: usize, crd: Capability, chart: ObjectRef },
    /// Nothing brings the sealing key back.
    NoSealingKey { component: ObjectRef, count: usize },
    /// No variable is set, so nothing is substituted.
    NoVariables { component: ObjectRef, variables: Vec<EcoString> },
    /// No file that is applied lists it.
    NotApplied { object: ObjectRef },
    /// A source that is not defined.
    NotDefined { component: ObjectRef, source: ObjectRef },
    /// Something is needed that nothing makes.
    NotMade { component: ObjectRef, needed: Capability, purpose: Purpose },
    /// Variables that nothing sets.
    UnsetVariables { component: ObjectRef, variables: Vec<EcoString> },
    /// Variables from an object that is not ready in time.
    VariablesLack { component: ObjectRef, from: Capability, lack: Lack },
}

/// Something that can't be installed, or not stay, or not as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallFault {
    /// The bootstrap ends at a command, of this release where it is one.
    BootstrapStops { release: Option<ObjectRef>, fault: BuildFault, count: usize },
    /// Nothing of it can be built.
    CantBeBuilt { component: ObjectRef, fault: BuildFault, count: usize },
    /// Its apply needs what comes only after it.
    NeverApplied { component: ObjectRef, kind: EcoString, installer: Option<ObjectRef> },
    /// The bootstrap installs other values than Flux.
    OtherValues { release: ObjectRef, paths: Vec<String> },
    /// The bootstrap installs another version than Flux.
    OtherVersion { release: ObjectRef, bootstrap: EcoString, flux: EcoString },
    /// One commit could take it away.
    Unprotected { component: ObjectRef, vital: Vital, others: Vec<(ObjectRef, Vital)> },
}

/// A comment that allows a finding, and should not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommentFault {
    NamesNoRule,
    /// There is no finding of the rule that it names.
    SilencesNothing {
        rule: String,
    },
    UnknownRule {
        name: String,
        meant: Option<&'static str>,
    },
    GivesNoReason,
}

/// What a cluster can't live without. The order is that of how much hangs on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vital {
    PodNetwork,
    ClusterDns,
    Storage,
    SealingController,
}

/// Why an object with variables is not ready in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    NotMade,
    /// By the very component that takes variables from it.
    MadeByItself,
    /// The variables are optional, and nothing orders the two.
    NotOrdered,
}

impl From<OrderFault> for Statement {
    fn from(fault: OrderFault) -> Self {
        Self::Order(fault)
    }
}

impl From<GateFault> for Statement {
    fn from(fault: GateFault) -> Self {
        Self::Gate(fault)
    }
}

impl From<Absence> for Statement {
    fn from(absence: Absence) -> Self {
        Self::Absence(absence)
    }
}

impl From<InstallFault> for Statement {
    fn from(fault: InstallFault) -> Self {
        Self::Install(fault)
    }
}

impl From<CommentFault> for Statement {
    fn from(fault: CommentFault) -> Self {
        Self::Comment(fault)
    }
}
