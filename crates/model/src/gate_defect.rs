//! What a command that waits gets wrong.

use ecow::EcoString;

use crate::wait::Wait;

/// What is wrong with a command that waits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateDefect {
    /// Its failure stops nothing.
    Toothless { wait: Wait, why: Toothless },
    /// The same of one that can't succeed yet: what it waits for comes only with GitOps. `start` is what starts that, where the wait
    /// stands before it.
    TooEarly { wait: Wait, why: Toothless, start: Option<EcoString> },
    /// It goes on without a file that is to be applied and that does not exist.
    SkipsFile { file: EcoString },
    /// Its failure ends the text where it stands, and what looks at that failure is never run.
    DeadHandler { wait: Wait },
    /// It may wait without end.
    Endless { wait: Wait, why: Endless },
    /// It waits for objects by a selector right after what makes them in time: at once there are none, and it fails.
    BeforeExists { wait: Wait },
    /// It waits in a namespace that nothing makes.
    MissingNamespace { wait: Wait },
    /// It starts a cluster until that succeeds, and of a cluster that was started it never does. `stops_earlier`: an earlier command
    /// ends a second run.
    Rerun { wait: Wait, stops_earlier: bool },
}

/// Why the failure of a command stops nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Toothless {
    /// Only how the last command ends is looked at.
    OnlyLastCounts,
    /// `|| true`, or something else that always succeeds.
    OrTrue,
    /// `-` before a line of make, `ignore_error` of Task.
    Ignored,
    /// It stands before `&&`, where `set -e` does not look.
    BeforeAnd,
    /// Its handler goes on: it prints something, or calls a function that seems to end the script and does not.
    HandlerGoesOn,
    /// `grep Ready` matches `NotReady`.
    MatchesNotReady,
    /// Its tries are used up, and what follows runs as if one had succeeded.
    LoopEndsInSuccess,
    /// Any answer will do, also one that says that it is not ready.
    AnyHttpCode,
    /// The same, and it says itself that an answer which refuses is meant to do.
    AnyHttpCodeOnPurpose,
    /// It compares what is ready with what is there, and not with what should be.
    AllThatExist,
    /// What it pipes into decides, without pipefail.
    Piped,
    /// What it prints is run by a shell that looks at its last command alone.
    LastOfGenerated,
    /// It fetches credentials, which are there before the API server answers, and says that this answers.
    CredentialsAlone,
    /// What it writes is an empty file then.
    EmptyFile,
    /// `{1..60}` is one word to sh: it tries once.
    TriesOnce,
}

/// Why a command may wait without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endless {
    /// It has no limit.
    NoLimit,
    /// It has no limit, and no person sees what it prints.
    Unwatched,
    /// It waits until no node is Ready, which never comes about where some of them are.
    MixedNodes,
    /// `SECONDS` counts nothing in sh: the limit is never reached.
    NoClock,
}
