//! `lab.yaml`: what must happen to a case's repository with the real controllers. An unknown key fails.

use std::collections::BTreeMap;

use serde::Deserialize;

/// One case's `lab.yaml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Told {
    /// What the lab adds to the story of `expect.yaml`, for people.
    #[serde(default)]
    pub about: String,
    pub outcome: CaseEnding,
    /// By how much intervals and delays are divided: a minute of the repository lasts `60 / pace` seconds here.
    #[serde(default = "default_pace")]
    pub pace: f64,
    /// The same for timeouts. Small unless the case is about them: a busy machine must not be what breaks one.
    #[serde(default = "default_timeouts")]
    pub timeouts: f64,
    /// Seconds, in the repository's time, until something (`namespace/name`) is ready: a workload, instead of the
    /// catalogue's start-up time, or what an operator makes of a custom resource.
    #[serde(default)]
    pub delays: BTreeMap<String, f64>,
    /// Workloads (`namespace/name`) whose pods crash until an object is there.
    #[serde(default)]
    pub crashes: BTreeMap<String, String>,
    /// Files that are pushed only once something is there.
    #[serde(default)]
    pub late: Option<Late>,
    /// What the bootstrap does before Flux starts.
    #[serde(default)]
    pub bootstrap: Bootstrap,
    /// What SealedSecrets of the repository are sealed with.
    #[serde(default)]
    pub sealed: Option<Sealed>,
    /// Programs beyond the small tier that the case needs; `cargo xtask lab build full` gets them.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Why `check` does not say yet what happens here. Once it does, this must go.
    #[serde(default)]
    pub not_yet: Option<String>,
    #[serde(default)]
    pub happens: Happens,
    /// What is done after that, and what must follow.
    #[serde(default)]
    pub then: Vec<Then>,
}

/// How a cold start of the repository ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaseEnding {
    /// Everything is ready in the end and nobody had to wait for a retry that `check` speaks of.
    Converges,
    /// Everything is ready in the end, after failures and the wait that `check` states.
    Recovers,
    /// Ready, and something is missing that nobody reports.
    Loses,
    /// Something has given up, and stays so when its cause is gone.
    Stalls,
    /// Something waits for ever.
    Deadlocks,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Late {
    pub files: Vec<String>,
    /// The object whose appearance releases them.
    pub until: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bootstrap {
    /// Directories of the repository whose objects are applied.
    #[serde(default)]
    pub apply: Vec<String>,
    /// Charts of which the CRDs are applied (`helm template --include-crds | select CRDs | kubectl apply`).
    #[serde(default)]
    pub crds: Vec<String>,
    /// A helmfile of the repository that is synced.
    #[serde(default)]
    pub helmfile: Option<Helmfile>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Helmfile {
    pub file: String,
    /// Seconds, in the lab's time, that `helm --wait` gives a release.
    pub timeout: u32,
    /// What a failed run must say; without it the run must succeed.
    #[serde(default)]
    pub fails: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Sealed {
    /// Whether the bootstrap's key Secret is the key they are sealed with (`seeded`), or that key is gone (`lost`).
    pub key: Key,
    /// Plain text by key of `encryptedData`.
    pub data: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Key {
    Seeded,
    Lost,
}

/// What must happen. All of it comes to hold together, then `stuck` must stay so for the time of `holds`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Happens {
    /// Objects that are Ready (or Available) in the end.
    #[serde(default)]
    pub ready: Vec<String>,
    /// Objects in the order in which they become ready.
    #[serde(default)]
    pub order: Vec<String>,
    /// Attempts that must fail.
    #[serde(default)]
    pub fails: Vec<Fails>,
    /// What recovers, and after how long.
    #[serde(default)]
    pub slow: Vec<Slow>,
    /// Objects that never become ready while it holds.
    #[serde(default)]
    pub stuck: Vec<Stuck>,
    /// Seconds, in the lab's time, over which nothing may change about `stuck`.
    #[serde(default)]
    pub holds: Option<f64>,
    /// Objects that are there, and what they hold.
    #[serde(default)]
    pub objects: Vec<Holds>,
    /// Objects that are not there in the end.
    #[serde(default)]
    pub absent: Vec<String>,
    /// No failed dry run, failed install or retry, in any status or event of a Flux controller.
    #[serde(default)]
    pub clean: bool,
    /// Seconds, in the lab's time, until all of it must hold.
    #[serde(default)]
    pub within: Option<f64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fails {
    pub of: String,
    pub says: String,
    /// At least so often.
    #[serde(default = "once")]
    pub times: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Slow {
    pub of: String,
    /// In the repository's time, as `check` states it; measured is this divided by `pace`.
    #[serde(default)]
    pub seconds: Option<u64>,
    /// Instead: no longer than it had already waited, since its controller doubles its pauses.
    #[serde(default)]
    pub backoff: bool,
    #[serde(default)]
    pub from: From,
    /// Seconds, in the lab's time, that it may come sooner: a try that something else set off counts from there.
    #[serde(default = "default_early")]
    pub early: f64,
    /// Seconds, in the lab's time, that it may take longer.
    #[serde(default = "default_slack")]
    pub slack: f64,
}

/// Where the time of a slow recovery begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum From {
    /// The last failure.
    #[default]
    Failure,
    /// The beginning of the attempt that failed last: where the attempt's timeout is part of the cost.
    Attempt,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stuck {
    pub of: String,
    /// What its status says at the end.
    #[serde(default)]
    pub says: String,
    /// It has the condition `Stalled`.
    #[serde(default)]
    pub stalled: bool,
    /// It stays at the revision it has applied, though its source has a newer one.
    #[serde(default)]
    pub at_old_revision: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Holds {
    pub of: String,
    /// A path into it, keys joined by dots.
    #[serde(default)]
    pub at: Option<String>,
    /// What is there, as text; `~` for nothing.
    #[serde(default)]
    pub is: Option<String>,
}

/// An act in the middle of a run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Then {
    /// What is done, for people.
    pub act: String,
    /// Edits of files, pushed as one commit.
    #[serde(default)]
    pub edit: Vec<Edit>,
    /// Files of the case's directory whose objects are applied.
    #[serde(default)]
    pub apply: Vec<String>,
    /// The bootstrap's helmfile is synced again, and must get to its end.
    #[serde(default)]
    pub bootstrap_again: bool,
    pub happens: Happens,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Edit {
    pub file: String,
    pub replace: String,
    pub by: String,
}

/// Where `lab.yaml` says nothing: a minute of the repository lasts three seconds.
pub const DEFAULT_PACE: f64 = 20.0;

fn default_pace() -> f64 {
    DEFAULT_PACE
}

fn default_timeouts() -> f64 {
    5.0
}

/// A busy machine may see a failure late, and so take the pause after it for shorter than it was.
fn default_early() -> f64 {
    2.5
}

/// A busy machine also does what follows late. The simulated world, which is never busy, allows half of it
/// (`crates/simulate/tests/lab/told.rs`).
fn default_slack() -> f64 {
    10.0
}

fn once() -> usize {
    1
}
