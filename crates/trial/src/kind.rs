//! What a failure is counted as: the most telling obstacle of all that it names.

use model::{Obstacle, PodTrouble, Trace};
use run::{Hindrance, TryFailure};

/// What a kind of failure is called in a table, after how telling it is: facts that chains end with come first.
type Kind = (u8, &'static str);

/// Nothing for a failure that names no cause.
pub(crate) fn kind(why: &TryFailure) -> Option<&'static str> {
    let hindrance = match why {
        TryFailure::Hindered { by } => by,
        TryFailure::TooLate { last, .. } => last.as_ref()?,
        TryFailure::GoneAgain => return None,
    };
    let found = match hindrance {
        Hindrance::Obstacles(trace) => of_trace(trace),
        Hindrance::ApiRefuses => Some(NO_ANSWER),
        Hindrance::NotMade => Some((31, "nobody has applied it")),
        Hindrance::TerraformApplies
        | Hindrance::NotRendered
        | Hindrance::NoMachine { .. }
        | Hindrance::NoRelease { .. } => None,
    };
    found.map(|(_, name)| name)
}

const NO_ANSWER: Kind = (7, "a machine or the API server does not answer");
const WAITS: Kind = (28, "something it waits for is not there");

fn of_trace(trace: &Trace) -> Option<Kind> {
    trace.chain.iter().filter_map(of_obstacle).chain(trace.turns.then_some(WAITS)).min()
}

fn of_obstacle(it: &Obstacle) -> Option<Kind> {
    Some(match it {
        Obstacle::Stuck { trouble, .. } => of_trouble(*trouble)?,
        Obstacle::Unplaced { .. } => (5, "no node is there"),
        Obstacle::NoQuorum => (6, "etcd has no quorum"),
        Obstacle::NoAnswer { .. } | Obstacle::NoApi => NO_ANSWER,
        Obstacle::GitDown { .. } => (7, "the Git server does not answer"),
        Obstacle::WebhookDown { .. } => (8, "a webhook does not answer"),
        Obstacle::UnknownKind { .. } => (9, "a kind is not known"),
        Obstacle::ApiDown => (10, "the API server went away"),
        Obstacle::NoSealingKey | Obstacle::Sealed { .. } => (11, "the sealing key is another one"),
        Obstacle::Starts { .. } => (12, "pods take long to start"),
        Obstacle::Crashes { .. } => (13, "pods crash"),
        Obstacle::UnderWay { .. } => (14, "an operator takes its time"),
        Obstacle::InstallTimeout { .. } => (15, "an install ran into its timeout"),
        Obstacle::HealthStalled { .. } => (16, "something it waits for has stalled"),
        Obstacle::HealthTimeout { .. } => (17, "a health check ran into its timeout"),
        Obstacle::HealthChecks { .. } => (18, "a health check is still running"),
        Obstacle::Installs { .. } => (19, "an install is still running"),
        Obstacle::LooksSoon { .. } | Obstacle::Reconciles => (20, "it is still under way"),
        Obstacle::DependencyNotReady { .. } | Obstacle::DependencyNotFound { .. } | Obstacle::LooksAgain { .. } => {
            (21, "a dependency is not ready")
        }
        Obstacle::SourceNotReady { .. } => (22, "the source is not ready"),
        Obstacle::SourceNotFound { .. } => (23, "the source is not there"),
        Obstacle::ValuesNotFound { .. } => (24, "values are not there"),
        Obstacle::BuildFailed { .. }
        | Obstacle::VariablesNotFound { .. }
        | Obstacle::UndefinedVariable { .. }
        | Obstacle::KeyNotFound { .. } => (25, "the build fails"),
        Obstacle::NamespaceNotFound { .. } => (26, "a namespace is not there"),
        Obstacle::BootstrapTimeout { .. } => (27, "a release of the bootstrap ran into its timeout"),
        Obstacle::WaitsFor { .. } => WAITS,
        Obstacle::NotReady { .. } => (29, "pods do not get ready"),
        Obstacle::Suspended | Obstacle::IsSuspended { .. } => (30, "suspended"),
        _ => return None,
    })
}

fn of_trouble(it: PodTrouble) -> Option<Kind> {
    Some(match it {
        PodTrouble::NoNetworkAgent => (0, "no network agent runs on a node"),
        PodTrouble::VolumesNotMounted => (1, "a kubelet mounts no volumes"),
        PodTrouble::ImageNotPulled => (2, "an image can't be pulled"),
        PodTrouble::NodeGone => (3, "a node is gone"),
        PodTrouble::NodeSlow => (4, "a node is slow"),
        PodTrouble::SlowStart => return None,
    })
}
