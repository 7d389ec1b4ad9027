//! What commands that wait cost if they are wrong, and what to do, as data.

use ecow::EcoString;
use model::{Endless, Toothless};

/// What it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitCost {
    /// What follows starts without what was waited for, and nothing says so.
    GoesOn,
    /// The script ends as failed at once, though everything would have come.
    EndsAtOnce,
    /// It waits until a person stops it.
    NeverEnds,
    /// It never ends on a cluster that was started before.
    NeverEndsAgain,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitAdvice {
    /// Let its failure stop the boot.
    Teeth(Toothless),
    /// Give it a limit.
    Limit(Endless),
    /// Wait until the objects exist first.
    UntilThere,
    /// Create the namespace before, or correct its name.
    MakeNamespace(EcoString),
    /// Take `AlreadyExists` for success.
    AcceptStarted,
}
