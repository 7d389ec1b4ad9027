//! Why a step waits, why a try failed, why a step is left out: data, for journals and for what puts it into words.
//!
//! Knows no sentence. What a journal of version 1 has in words stays as it was said.

use model::{Obstacle, Trace};
use serde::{Deserialize, Deserializer, Serialize};

/// What keeps a step from being done or proved, as its world tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "because", rename_all = "kebab-case")]
pub enum Hindrance {
    /// What the cluster and its machines show.
    Obstacles(Trace),
    /// `terraform apply` is at work.
    TerraformApplies,
    /// The Kubernetes API, which a program speaks to, does not answer it.
    ApiRefuses,
    /// The repository has no object of that name.
    NotRendered,
    NoMachine {
        machine: String,
    },
    /// The bootstrap has no release of that name.
    NoRelease {
        release: String,
    },
    /// It was never there.
    NotMade,
}

impl Hindrance {
    /// Word for word what a program or a server said.
    pub fn said(text: impl Into<String>) -> Self {
        Self::Obstacles(Trace::said(text))
    }

    /// One obstacle with nothing known behind it.
    pub fn obstacle(obstacle: Obstacle) -> Self {
        Self::Obstacles(obstacle.alone())
    }
}

/// Why a try failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "failed", rename_all = "kebab-case")]
pub enum TryFailure {
    /// It was refused, or shows that it will not come by itself.
    Hindered { by: Hindrance },
    /// It was done, and is not there any more.
    GoneAgain,
    /// It was not proved in time; with what it waited for last, where that is known.
    TooLate { limit_seconds: u64, last: Option<Hindrance> },
}

/// Why a step is left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "left", rename_all = "kebab-case")]
pub enum LeftOut {
    /// By `--skip`, for a reason that a person gave.
    Skipped { name: String, reason: String },
    /// By `--until`.
    After { name: String },
    /// By `--from`.
    Before { name: String },
    /// By `--only`.
    NotNamed,
    /// In the words of a journal of version 1.
    Said { text: String },
}

/// A step that a failed one needs, and that was left out: it may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftNeed {
    pub step: String,
    pub why: LeftOut,
    /// How many more of its needs were left out.
    pub more: usize,
}

/// What a journal of version 1 has in words.
pub(crate) trait FromWords {
    fn from_words(text: String) -> Self;
}

impl FromWords for LeftOut {
    fn from_words(text: String) -> Self {
        Self::Said { text }
    }
}

impl FromWords for TryFailure {
    fn from_words(text: String) -> Self {
        Self::Hindered { by: Hindrance::said(text) }
    }
}

/// A reason, or the words that a journal of version 1 has for it.
pub(crate) fn reason_or_words<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + FromWords,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either<T> {
        Words(String),
        Reason(T),
    }
    Ok(match Either::deserialize(deserializer)? {
        Either::Words(text) => T::from_words(text),
        Either::Reason(reason) => reason,
    })
}
