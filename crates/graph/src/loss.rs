//! What a need comes to when its provider is lost while the cluster runs: one table, by what is lost, how, and what it is needed for.
//!
//! Knows kinds of capabilities and phases. Does not know any component; [`crate::Impact`] asks for every need.

use model::{Arrival, CapabilityKind, Phase, Purpose};

/// What happens to a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// Its pods do not run. What it has made stays in the cluster.
    Down,
    /// Its pods are started again: down for as long as that takes.
    Restarted,
    /// Restarted as another version: what the API server serves of it may change.
    Upgraded,
    /// It leaves its build in Git, and Flux deletes what it applied where `prune` says so.
    Pruned,
    /// It is deleted from the cluster, with everything that it applied.
    Deleted,
}

impl Loss {
    pub const ALL: [Self; 5] = [Self::Down, Self::Restarted, Self::Upgraded, Self::Pruned, Self::Deleted];

    /// The word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Restarted => "restarted",
            Self::Upgraded => "upgraded",
            Self::Pruned => "pruned",
            Self::Deleted => "deleted",
        }
    }

    /// Its objects leave the cluster.
    pub fn takes_objects(self) -> bool {
        matches!(self, Self::Pruned | Self::Deleted)
    }

    /// It is over when its pods run again.
    pub fn passes(self) -> bool {
        matches!(self, Self::Restarted | Self::Upgraded)
    }

    /// What it is to those that need something of what has stopped for it: their provider is there, and does not answer.
    pub(crate) fn further(self) -> Self {
        if self.passes() { Self::Restarted } else { Self::Down }
    }
}

/// When the loss of a provider shows at what needs it. The earliest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Onset {
    AtOnce,
    /// When one of its pods starts the next time.
    PodStart,
    /// When it is built, applied or refreshed the next time.
    Reconcile,
    /// When everything starts from nothing the next time.
    ColdStart,
}

impl Onset {
    pub const ALL: [Self; 4] = [Self::AtOnce, Self::PodStart, Self::Reconcile, Self::ColdStart];

    /// The word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::AtOnce => "at-once",
            Self::PodStart => "pod-start",
            Self::Reconcile => "reconcile",
            Self::ColdStart => "cold-start",
        }
    }
}

/// What a capability is while it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nature {
    /// Running pods serve it all the time: packets, names, requests.
    Served,
    /// Running pods give it to a pod that starts.
    AtStart,
    /// Running pods are asked for it when something is applied, changed or refreshed.
    Asked,
    /// An object that pods are started with.
    Mounted,
    /// An object that is looked at when something is built or applied.
    Looked,
    /// An object that others lie in, or are of: they go with it.
    Holds,
    /// A mark on the nodes that stays as long as they do.
    OnNodes,
}

fn nature(kind: CapabilityKind) -> Nature {
    match kind {
        CapabilityKind::PodNetwork
        | CapabilityKind::ClusterDns
        | CapabilityKind::LoadBalancer
        | CapabilityKind::Service
        | CapabilityKind::IngressClass
        | CapabilityKind::GatewayClass
        | CapabilityKind::Gateway
        | CapabilityKind::MetricsApi => Nature::Served,
        CapabilityKind::StorageClass
        | CapabilityKind::CsiDriver
        | CapabilityKind::Device
        | CapabilityKind::NetworkAttachment => Nature::AtStart,
        CapabilityKind::Webhook
        | CapabilityKind::Controller
        | CapabilityKind::SecretStore
        | CapabilityKind::Issuer
        | CapabilityKind::SnapshotController
        | CapabilityKind::SnapshotClass
        | CapabilityKind::SealingKey
        | CapabilityKind::Object
        | CapabilityKind::Other => Nature::Asked,
        CapabilityKind::Secret
        | CapabilityKind::ConfigMap
        | CapabilityKind::ServiceAccount
        | CapabilityKind::PersistentVolumeClaim
        | CapabilityKind::PriorityClass
        | CapabilityKind::RuntimeClass => Nature::Mounted,
        CapabilityKind::Source => Nature::Looked,
        CapabilityKind::Crd | CapabilityKind::ChartCrds | CapabilityKind::Namespace => Nature::Holds,
        CapabilityKind::NodeLabel | CapabilityKind::NodeInitialized => Nature::OnNodes,
    }
}

/// When a need shows the loss of its only provider; nothing where it never does.
pub fn onset(loss: Loss, kind: CapabilityKind, arrival: Arrival, phase: Phase, why: &Purpose) -> Option<Onset> {
    let is_asked_again = matches!(phase, Phase::Build | Phase::Apply) || *why == Purpose::Backups;
    let running = |onset: Onset| Some(if is_asked_again { Onset::Reconcile } else { onset });
    match nature(kind) {
        // What has a network keeps it while the agents start again; only new pods wait.
        Nature::Served if kind == CapabilityKind::PodNetwork && loss.passes() => running(Onset::PodStart),
        Nature::Served => running(Onset::AtOnce),
        Nature::AtStart => running(Onset::PodStart),
        // The API server asks no webhook that is not registered.
        Nature::Asked if kind == CapabilityKind::Webhook && loss.takes_objects() => None,
        Nature::Asked => Some(Onset::Reconcile),
        Nature::Mounted if loss.takes_objects() => running(Onset::PodStart),
        Nature::Looked if loss.takes_objects() => Some(Onset::Reconcile),
        // Helm leaves the CRDs of a chart's `crds/` directory where they are.
        Nature::Holds if loss.takes_objects() && is_left_by_helm(kind, arrival) => Some(Onset::ColdStart),
        Nature::Holds if loss.takes_objects() => Some(Onset::AtOnce),
        // Another version may serve another version of a kind.
        Nature::Holds if loss == Loss::Upgraded && kind != CapabilityKind::Namespace => Some(Onset::Reconcile),
        // What is stored stays while pods come and go.
        Nature::Mounted | Nature::Looked | Nature::Holds | Nature::OnNodes if loss.passes() => None,
        Nature::Mounted | Nature::Looked | Nature::Holds | Nature::OnNodes => Some(Onset::ColdStart),
    }
}

/// Whether an uninstall leaves it.
fn is_left_by_helm(kind: CapabilityKind, arrival: Arrival) -> bool {
    kind == CapabilityKind::Crd && arrival == Arrival::Installed
}
