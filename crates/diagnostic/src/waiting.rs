//! What commands that wait cost if they are wrong, and what to do, as data.

use ecow::EcoString;
use model::{Endless, Toothless};

/// What it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitCost {
    /// What follows starts without what was waited for, and nothing says so.
    GoesOn,
    /// What is left is a file without anything in it.
    EmptyFile,
    /// Machines without their configuration do not join.
    NotConfigured,
    /// What is in the file is not there later.
    NotApplied,
    /// The script ends as failed at once, though everything would have come.
    EndsAtOnce,
    /// It ends as failed when its time is up.
    TimeIsUp,
    /// It ends as failed at once, and what the command said is lost.
    EndsUnsaid,
    /// Run again where some nodes are Ready, it never ends.
    NeverEndsMixed,
    /// It waits until a person stops it.
    NeverEnds,
    /// It never ends on a cluster that was started before.
    NeverEndsAgain,
    /// The same, where a second run does not come so far: only if the first call took effect and did not say so.
    NeverEndsUnanswered,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitAdvice {
    /// Let its failure stop the boot.
    Teeth(Toothless),
    /// Let it wait until what it waits for exists, and then let its failure stop the boot.
    TeethLater,
    /// Wait after this has started GitOps.
    MoveAfter(EcoString),
    /// Take the file off the list, or add it, and end the script where one is missing.
    AddFile,
    /// Look at the failure in the condition itself.
    HandleThere,
    /// Give it a limit.
    Limit(Endless),
    /// Wait until the objects exist first.
    UntilThere,
    /// Create the namespace before, or correct its name.
    MakeNamespace(EcoString),
    /// Take `AlreadyExists` for success.
    AcceptStarted,
}
