//! What a finding costs at a cold start, as data.

use model::{ObjectRef, RetryField};

use crate::boot::BootCost;
use crate::layer::LayerCost;
use crate::statement::Vital;
use crate::waiting::WaitCost;

/// What it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cost {
    /// What comes of a boot that does not show what it has made.
    Boot(BootCost),
    /// What comes of a run of Terraform that is wrong by itself.
    Layer(LayerCost),
    /// What a command costs that waits too little or too long.
    Wait(WaitCost),
    /// What a lost race costs.
    Race(RaceCost),
    /// What never happens.
    Never(NeverCost),
    /// Goes to the cluster as it is written.
    AsWritten,
    /// The bootstrap stops there.
    BootstrapEnds,
    /// Flux fails the build.
    BuildFails,
    /// Flux fails the build if it is new enough.
    BuildFailsIfNewer,
    /// Built without its variables, and nothing says so.
    BuiltWithoutVariables,
    /// None now; a deadlock when these wait, too. `between` is empty where only the parent would have to.
    DeadlockIfTheyWait {
        parent: ObjectRef,
        between: Vec<ObjectRef>,
    },
    /// Dependents start before another object is healthy.
    DependentsStartBeforeThat,
    /// So many dependents start before it is healthy.
    DependentsStartEarly {
        count: usize,
    },
    /// Flux installs an older version soon after.
    Downgraded,
    /// Every failed try costs its interval.
    EachTry {
        seconds: u64,
    },
    /// An empty text now, a failed build with a newer Flux.
    EmptyText,
    /// The order ends when objects are accepted.
    EndsWhenAccepted,
    /// What the loss of something vital does.
    Lost(Vital),
    /// The order is the same without it.
    None,
    /// None, unless the next finding is silenced or told.
    NoneByItself,
    NothingApplied,
    NotThere,
    /// Flux changes the values soon after.
    Reconfigured,
    /// It is missing for good, though the release is ready.
    RenderedWithout,
    /// Flux installs a newer version soon after.
    Upgraded,
}

/// What losing a race costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RaceCost {
    /// It asks again after growing pauses.
    AsksAgain { seconds: u64 },
    /// Built without it, and nothing says so.
    BuiltWithout,
    /// The installation fails and stays so. `needed_seconds` is how long it would have to wait, where that is known.
    InstallFails { is_certain: bool, timeout_seconds: u64, needed_seconds: Option<u64> },
    /// The installation is refused and stays so.
    InstallRefused,
    /// Ready after so long, before the timeout.
    InTime { needed_seconds: u64, timeout_seconds: u64 },
    /// There is no race as long as there is the bootstrap.
    NoneWithBootstrap,
    /// Longer than its timeout by so much, so long in all.
    Outlasts { more_seconds: u64, seconds: u64 },
    /// Recovers by itself at once.
    Seconds,
    /// Tries again after a field's duration.
    TriesAgain { seconds: u64, field: Option<RetryField> },
    /// Tries again after growing pauses.
    TriesAgainWithPauses { seconds: u64 },
    /// Waits for a field's duration.
    Waits { seconds: u64, field: Option<RetryField> },
    /// Waits for its interval, for want of a shorter one.
    WaitsInterval { seconds: u64 },
}

/// What never happens. `FromHere`: unless something outside of the repository does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NeverCost {
    AppliedFromHere,
    /// Nothing here creates its Namespace.
    AppliedWithoutNamespace,
    BuiltFromHere {
        retry_seconds: u64,
    },
    /// It would have to be made before.
    BuiltFromHereFirst,
    Converges,
    /// And the other Kustomizations of the source suffer, too.
    ConvergesNorItsSource,
    /// It was created suspended.
    ConvergesSuspended,
    /// And everything that depends on it.
    ConvergesWithDependents,
    /// Nothing comes to be applied.
    Gets,
    InstalledFromHere,
    PodsStartFromHere,
    /// The whole file is refused.
    Starts,
    Unsealed,
}

impl From<LayerCost> for Cost {
    fn from(cost: LayerCost) -> Self {
        Self::Layer(cost)
    }
}

impl From<BootCost> for Cost {
    fn from(cost: BootCost) -> Self {
        Self::Boot(cost)
    }
}

impl From<WaitCost> for Cost {
    fn from(cost: WaitCost) -> Self {
        Self::Wait(cost)
    }
}

impl From<RaceCost> for Cost {
    fn from(cost: RaceCost) -> Self {
        Self::Race(cost)
    }
}

impl From<NeverCost> for Cost {
    fn from(cost: NeverCost) -> Self {
        Self::Never(cost)
    }
}
