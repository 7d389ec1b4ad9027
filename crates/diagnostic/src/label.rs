//! What is to be said beside a place, as data.

use ecow::EcoString;
use model::{BuildFault, Capability, ObjectRef, Purpose, RetryField, Role};

use crate::statement::Vital;

/// What a place has to do with a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label {
    Remark(Remark),
    /// What is needed is brought here, by a component.
    Brings {
        by: ObjectRef,
    },
    /// Why a build fails there.
    Broken {
        fault: BuildFault,
    },
    /// Why a command of the bootstrap fails there.
    BrokenCommand {
        fault: BuildFault,
    },
    DoesNotWaitFor {
        provider: ObjectRef,
    },
    FluxVersion {
        written: EcoString,
    },
    /// Steps of a circle that are written in one place.
    Hops(Vec<Hop>),
    /// The release is ready as soon as its resource is stored.
    IsReadyWhenStored {
        kind: EcoString,
    },
    LooksAmong {
        kind: EcoString,
    },
    /// An object has a need.
    Needs {
        kind: EcoString,
        needed: Capability,
        purpose: Purpose,
    },
    /// The first half of a sentence that [`Label::WouldInstall`] ends.
    NeedsWhich {
        needed: Capability,
    },
    NoSuchSource {
        kind: EcoString,
    },
    OfThisName {
        kind: EcoString,
    },
    OpensAtFirstLook {
        kind: EcoString,
    },
    OptionalAndNotMade {
        needed: Capability,
    },
    /// The field is all the patience there is.
    Patience {
        field: RetryField,
    },
    VitalIsHere(Vital),
    WaitsForIt {
        component: ObjectRef,
    },
    /// A value would install it.
    WouldBeInstalledBy {
        switch: EcoString,
    },
    /// A release that is refused along with what needs its CRD, which is beside it or comes by way of it.
    WouldInstall {
        role: Role,
        is_beside: bool,
    },
}

/// What needs no names to be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// Waited for here, and not for all.
    WaitsForLess,
    /// The command that waits.
    WaitsHere,
    /// What is done when it fails.
    GoesOnHere,
    /// The command itself.
    RunsHere,
    /// A handler that is never run.
    NeverRun,
    /// It is left out there.
    LeftOutHere,
    /// A function that does not end the script.
    DoesNotExit,
    /// A loop.
    RepeatsHere,
    /// Where GitOps starts.
    GitOpsStartsHere,
    /// It is only there after the step before.
    ComesOnlyHere,
    /// Installed here.
    InstalledHere,
    /// Needed here, before anything is made.
    UsedAtPlan,
    /// Configured with what is not there yet.
    ConfiguredByIt,
    /// Entered here.
    EnteredHere,
    /// Read here.
    TakenHere,
    /// Needed here.
    NeededHere,
    /// It is told not to wait.
    DoesNotWait,
    /// Made here.
    MadeHere,
    /// Starts after it.
    StartsAfter,
    /// Committed here.
    CommittedHere,
    /// Written by hand.
    WrittenByHand,
    /// Speaks to it here.
    SpeaksHere,
    AllowsNothing,
    AllVariablesSetHere,
    ChangesNothing,
    DeletesWhatLeaves,
    DoesNotWaitNow,
    DoneWhenAccepted,
    FluxMakesThis,
    Ignored,
    IgnoredByWait,
    NamesNoGate,
    NeededForBuild,
    NeverEvaluated,
    NoReason,
    NoRetryInterval,
    NoSuchRelease,
    NoValue,
    NothingHasName,
    NothingListsFile,
    NothingMakesIt,
    NothingSubstituted,
    SilencesNothing,
    StartsWithThis,
    StatusTellsNothing,
    StopsAtFirstFailure,
    SwitchedOff,
    TriesOnce,
    UnknownRule,
    WaitsForAllItApplies,
    WaitsForEver,
    WaitsForNoMore,
    WaitsForOtherObjects,
    WaitsForParent,
    WaitsUntilExists,
}

/// One step of a circle: a component, and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    pub component: ObjectRef,
    pub does: Deed,
}

/// What leads from one component of a circle to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    Brings {
        brought: Capability,
    },
    IsApplied {
        by: ObjectRef,
    },
    Needs {
        needed: Capability,
        purpose: Purpose,
    },
    WaitsFor {
        target: ObjectRef,
    },
    /// Because it waits for everything that it applies.
    WaitsForApplied {
        object: ObjectRef,
    },
    /// By its `healthChecks`.
    WaitsForListed {
        object: ObjectRef,
    },
    WaitsUntilExists {
        target: ObjectRef,
        applied_by: ObjectRef,
    },
}

impl From<Remark> for Label {
    fn from(remark: Remark) -> Self {
        Self::Remark(remark)
    }
}
