//! What happens in a run: one enum for terminal, JSON, journal and whoever comes later.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::reason::{Hindrance, LeftNeed, LeftOut, TryFailure, reason_or_words};

/// An event and when it happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Milliseconds of the world's clock.
    pub at: u64,
    #[serde(flatten)]
    pub event: Event,
}

impl Line {
    pub fn new(at: Duration, event: Event) -> Self {
        Self { at: u64::try_from(at.as_millis()).unwrap_or(u64::MAX), event }
    }

    pub fn time(&self) -> Duration {
        Duration::from_millis(self.at)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A run begins, or begins again after a crash.
    Began {
        run: u32,
        steps: u32,
        world: Where,
        /// Seconds since 1970 of a real clock: only in the journal, because a simulated run is the same whenever it is made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        date: Option<u64>,
    },
    /// A step of the plan, in its order: what the run means to do.
    Planned {
        step: String,
        hash: String,
    },
    /// Somebody does not want this step; all who need it take it as done.
    Left {
        step: String,
        #[serde(alias = "reason", deserialize_with = "reason_or_words")]
        why: LeftOut,
    },
    /// It is about to be done: whoever reads this last knows that it may have been.
    Started {
        step: String,
        attempt: u32,
    },
    /// It was done; the proof is awaited.
    Acted {
        step: String,
        attempt: u32,
    },
    /// What the proof waits for. Not kept in the journal.
    Waiting {
        step: String,
        why: Hindrance,
    },
    /// A try failed, and there will be another.
    Tried {
        step: String,
        attempt: u32,
        #[serde(alias = "reason", deserialize_with = "reason_or_words")]
        why: TryFailure,
        again_at: u64,
    },
    Proved {
        step: String,
        hash: String,
        found: Found,
    },
    Failed {
        step: String,
        #[serde(alias = "reason", deserialize_with = "reason_or_words")]
        why: TryFailure,
        /// What it needs and was left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        left_out: Option<LeftNeed>,
    },
    /// It can't begin: `by` failed, through the steps between, nearest first.
    Blocked {
        step: String,
        by: String,
        through: Vec<String>,
    },
    /// A person stops the run: no new steps are started.
    Stopping,
    Ended {
        outcome: Outcome,
    },
}

impl Event {
    /// Whether it belongs in the journal: what may be said again at any time does not.
    pub fn is_kept(&self) -> bool {
        !matches!(self, Self::Waiting { .. })
    }

    /// The step it is about.
    pub fn step(&self) -> Option<&str> {
        match self {
            Self::Planned { step, .. }
            | Self::Left { step, .. }
            | Self::Started { step, .. }
            | Self::Acted { step, .. }
            | Self::Waiting { step, .. }
            | Self::Tried { step, .. }
            | Self::Proved { step, .. }
            | Self::Failed { step, .. }
            | Self::Blocked { step, .. } => Some(step),
            Self::Began { .. } | Self::Stopping | Self::Ended { .. } => None,
        }
    }
}

/// In which world a run happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Where {
    Real,
    /// Everything that will happen follows from these.
    Simulated {
        seed: u64,
        faults: Vec<String>,
    },
}

impl Where {
    pub fn is_simulated(&self) -> bool {
        matches!(self, Self::Simulated { .. })
    }
}

/// How a proved step came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Found {
    /// It was there and healthy before anybody did anything.
    There,
    /// This run did it, or saw it come.
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Every step is proved or was left.
    Healthy,
    /// Something failed; what did not depend on it is done.
    Failed,
    /// Somebody asked to stop.
    Stopped,
}
