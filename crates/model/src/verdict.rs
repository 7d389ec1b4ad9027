//! How a need is met, and what it costs if its race is lost.

/// Is a need guaranteed? Best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It is met only after what itself waits for it.
    Deadlocked,
    /// Nobody who was read offers it.
    Unoffered,
    /// Nothing orders the two.
    Unordered,
    /// Ordered, but the tie waits only for the other's existence.
    ExistsOnly,
    /// Ordered, but being done proves only that the other was applied.
    AppliedOnly,
    /// Ordered, and the gate looks as if it proved it, but does not.
    FalselyReady,
    /// Only an installation before GitOps starts makes sure of it.
    BootstrapOnly,
    Guaranteed,
}

/// What losing the race costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consequence {
    /// Never converges.
    Deadlock,
    /// Stalls until somebody acts.
    Terminal { certain: bool },
    /// Goes on without it, for good, and says nothing.
    Silent,
    /// Recovers after this many seconds.
    Slow { seconds: u64 },
    /// Comes in time by this many seconds of its timeout.
    Safe { spare_seconds: u64 },
    /// Recovers by itself within seconds.
    Noise,
    /// There is no race to lose.
    Nothing,
}

impl Verdict {
    /// The word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Deadlocked => "deadlocked",
            Self::Unoffered => "unoffered",
            Self::Unordered => "unordered",
            Self::ExistsOnly => "exists-only",
            Self::AppliedOnly => "applied-only",
            Self::FalselyReady => "falsely-ready",
            Self::BootstrapOnly => "bootstrap-only",
            Self::Guaranteed => "guaranteed",
        }
    }
}

impl Consequence {
    /// The word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Deadlock => "deadlock",
            Self::Terminal { .. } => "terminal",
            Self::Silent => "silent",
            Self::Slow { .. } => "slow",
            Self::Safe { .. } => "safe",
            Self::Noise => "noise",
            Self::Nothing => "none",
        }
    }

    /// Whether losing costs nothing in practice, though there is a race.
    pub fn is_free(self) -> bool {
        matches!(self, Self::Safe { .. } | Self::Noise)
    }

    /// How long it takes to recover; nothing where it does not by itself.
    pub fn cost_seconds(self) -> Option<u64> {
        match self {
            Self::Slow { seconds } => Some(seconds),
            Self::Noise | Self::Safe { .. } | Self::Nothing => Some(0),
            Self::Deadlock | Self::Terminal { .. } | Self::Silent => None,
        }
    }
}
