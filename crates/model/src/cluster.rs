//! What was read of one cluster: everything the graph is made from.

use std::collections::BTreeSet;

use ecow::EcoString;
use source::Span;

use crate::behaviour::Behaviour;
use crate::bootstrap::BootstrapStep;
use crate::broken::BrokenBuild;
use crate::capability::Capability;
use crate::facts::Facts;
use crate::object::ObjectRef;
use crate::purpose::Purpose;
use crate::unseen::BlindSpot;

/// A component, by its place in [`Cluster::components`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentId(pub u32);

impl ComponentId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One cluster of a repository, as its files describe it.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    /// The directory it starts from: what people call it.
    pub name: String,
    pub components: Vec<Component>,
    pub offers: Vec<Offer>,
    pub needs: Vec<Need>,
    /// The stores that objects fill Secrets from.
    pub fills: Vec<(ObjectRef, Capability)>,
    pub ties: Vec<Tie>,
    pub broken: Vec<BrokenBuild>,
    pub blind: Vec<BlindSpot>,
    pub dead: Vec<Dead>,
    /// Needs that a manifest here would meet if it were applied.
    pub unapplied: Vec<Unapplied>,
    pub facts: Facts,
}

impl Cluster {
    pub fn component(&self, id: ComponentId) -> &Component {
        &self.components[id.index()]
    }

    pub fn ids(&self) -> impl Iterator<Item = ComponentId> + use<> {
        (0..source::to_u32(self.components.len())).map(ComponentId)
    }

    /// The component that a component is part of: what waits for all that it applies waits for this one.
    pub fn part_of(&self, id: ComponentId) -> Option<ComponentId> {
        self.component(id).parent.or_else(|| self.facts.beside_root.get(&id).copied())
    }

    pub fn find(&self, object: &ObjectRef) -> Option<ComponentId> {
        self.ids().find(|id| self.component(*id).object == *object)
    }
}

/// From this many releases on, nobody orders a Kustomization as one: "apps", "core". What it configures belongs to one of them.
pub const MANY_RELEASES_MIN: usize = 4;

/// A thing that comes up as one.
#[derive(Clone, Debug)]
pub struct Component {
    pub object: ObjectRef,
    pub role: Role,
    pub behaviour: Behaviour,
    pub stage: Stage,
    /// Where it is written: the name in its metadata.
    pub at: Span,
    /// The component that applies it. Entry points have none.
    pub parent: Option<ComponentId>,
    pub gate: Gate,
    /// The field that decides the gate, or the place where it would stand.
    pub gate_at: Span,
    /// Switched off from the start: never done.
    pub suspended: Option<Span>,
    pub patience: Patience,
    /// How long it usually takes from applied to healthy.
    pub startup_seconds: u64,
    /// What it is known as, when the catalogue knows it.
    pub known_as: Option<EcoString>,
    /// The directory it builds, if it builds one.
    pub path: Option<String>,
    /// Where a new tie would be written.
    pub ties_at: Span,
    /// How many objects it applies.
    pub objects: usize,
    /// Objects that it seems to check, and does not: `healthChecks` that `wait: true` switches off.
    pub ignored_checks: Vec<(ObjectRef, Span)>,
    /// Kinds that its gate judges by an expression on their status (`healthCheckExprs`); the empty text stands for any.
    pub expressions: BTreeSet<EcoString>,
    /// The custom resource that its chart consists of: an operator does the work, and the release is done before that.
    pub resource: Option<ObjectRef>,
    /// The namespace that a release puts its objects in, where that is not its own.
    pub target_namespace: Option<EcoString>,
}

/// Which tool's component: what its fields are called, and what the others may tie to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Applies objects in stages: a Flux Kustomization.
    Kustomization,
    /// Installs a chart: a Flux HelmRelease.
    HelmRelease,
    /// Applies objects from a template: a ResourceSet.
    ResourceSet,
    /// What a person or a script brings before GitOps starts.
    Bootstrap(BootstrapStep),
}

impl Role {
    /// Whether a person or a script brings it before GitOps starts.
    pub fn is_bootstrap(self) -> bool {
        matches!(self, Self::Bootstrap(_))
    }

    pub fn noun(self) -> &'static str {
        match self {
            Self::Kustomization => "Kustomization",
            Self::HelmRelease => "HelmRelease",
            Self::ResourceSet => "ResourceSet",
            Self::Bootstrap(_) => "bootstrap release",
        }
    }
}

/// When in the life of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Before GitOps starts: done once, by a person or a script.
    Bootstrap,
    GitOps,
}

/// What its being done proves of the objects it applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// All of them are healthy.
    Healthy,
    /// These are healthy, whoever applies them; the rest was accepted.
    Listed(Vec<ObjectRef>),
    /// The API server accepted them.
    Applied,
    /// As applied, though it looks like more (the place says what looks so).
    LooksHealthy(Span),
}

/// How long it tries, and when it tries again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How long one try waits for its objects to become healthy.
    pub timeout_seconds: u64,
    /// How often it tries before the last failure counts. One where it tries for ever by itself.
    pub attempts: u64,
    /// How long it rests between those tries, all in all.
    pub pause_seconds: u64,
    pub retry: Retry,
    /// The field that decides when the next try is, or the place where it would stand.
    pub retry_at: Span,
    /// That field. None has one who tries once: a bootstrap.
    pub retry_field: Option<RetryField>,
}

impl Patience {
    /// How long all its tries take.
    pub fn total_seconds(&self) -> u64 {
        self.timeout_seconds.saturating_mul(self.attempts).saturating_add(self.pause_seconds)
    }
}

/// The field that decides when the next try is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RetryField {
    /// `interval`: nothing else says when a failure is tried again.
    Interval,
    /// `retryInterval`, for failures alone.
    RetryInterval,
    /// `install.strategy` of a HelmRelease.
    InstallStrategy,
    /// `install.remediation` of a HelmRelease.
    InstallRemediation,
    /// The annotation of a ResourceSet.
    ReconcileEvery,
}

impl RetryField {
    /// As it is written in a manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interval => "interval",
            Self::RetryInterval => "retryInterval",
            Self::InstallStrategy => "install.strategy",
            Self::InstallRemediation => "install.remediation",
            Self::ReconcileEvery => "fluxcd.controlplane.io/reconcileEvery",
        }
    }
}

/// What happens after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Tried again after this many seconds, for ever.
    Every(u64),
    /// The first failed install is the last: somebody must act.
    Never,
}

/// A capability that a component brings.
#[derive(Clone, Debug)]
pub struct Offer {
    pub by: ComponentId,
    pub capability: Capability,
    pub arrival: Arrival,
    /// The object whose health shows that it is there.
    pub object: ObjectRef,
    pub at: Span,
    /// It would come from files that are elsewhere, and only what is said here about those files suggests it.
    pub is_guess: bool,
}

/// At which moment of its component an offer is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arrival {
    /// Once applied: static objects, CRDs given as manifests.
    Applied,
    /// Once a chart's installation has begun: CRDs from its `crds/` directory.
    Installed,
    /// Once healthy: what running pods give.
    Healthy,
    /// Once its controller reported it ready.
    Reported,
    /// Some time after it was applied, and no status tells.
    Unreported,
}

/// A capability that a component can't do without.
#[derive(Clone, Debug)]
pub struct Need {
    pub of: ComponentId,
    pub capability: Capability,
    pub phase: Phase,
    /// Comes up without it all the same.
    pub soft: bool,
    /// The object that has the need.
    pub object: ObjectRef,
    pub at: Span,
    pub why: Purpose,
    /// Nothing happens if it is never there: `optional: true`.
    pub optional: bool,
}

/// When a need is felt, and so what its absence does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// It can't be built: substitutions, decryption, a source, values.
    Build,
    /// It is refused by the API server.
    Apply,
    /// It does not become healthy.
    Ready,
    /// It runs, and fails at its work until it is there.
    Run,
}

/// A declared order: `from` does not start before what it is tied to.
#[derive(Clone, Debug)]
pub struct Tie {
    pub from: ComponentId,
    pub to: TieTarget,
    pub at: Span,
    pub waits_for: WaitsFor,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TieTarget {
    Component(ComponentId),
    /// Nothing of that name was read.
    Unknown(ObjectRef),
}

/// What the tie waits for at its other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    Done,
    Exists,
    /// An expression of its own that says more than existence, and can't be judged here.
    Opaque,
}

/// A Secret, ConfigMap or Namespace that is needed, and a file that would make it: neither Flux nor the bootstrap, as far as it was read, applies
/// that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unapplied {
    pub needed: Capability,
    pub file: EcoString,
}

/// A file with objects that nothing reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dead {
    pub object: ObjectRef,
    pub at: Span,
}
