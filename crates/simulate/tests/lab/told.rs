//! `lab.yaml` as the lab reads it: the same keys, and an unknown one fails. Kept apart from the lab's own reader, so that these
//! tests need no control plane to be built.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Told {
    #[serde(default, rename = "about")]
    pub(crate) _about: String,
    pub(crate) outcome: Ending,
    #[serde(default = "default_pace")]
    pub(crate) pace: f64,
    #[serde(default = "default_timeouts")]
    pub(crate) timeouts: f64,
    #[serde(default)]
    pub(crate) delays: BTreeMap<String, f64>,
    #[serde(default)]
    pub(crate) crashes: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) late: Option<Late>,
    #[serde(default)]
    pub(crate) bootstrap: Bootstrap,
    #[serde(default)]
    pub(crate) sealed: Option<Sealed>,
    #[serde(default, rename = "tools")]
    pub(crate) _tools: Vec<String>,
    #[serde(default, rename = "not-yet")]
    pub(crate) _not_yet: Option<String>,
    #[serde(default)]
    pub(crate) happens: Happens,
    #[serde(default)]
    pub(crate) then: Vec<Then>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Ending {
    Converges,
    Recovers,
    Loses,
    Stalls,
    Deadlocks,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Late {
    pub(crate) files: Vec<String>,
    pub(crate) until: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Bootstrap {
    #[serde(default, rename = "apply")]
    pub(crate) _apply: Vec<String>,
    #[serde(default, rename = "crds")]
    pub(crate) _crds: Vec<String>,
    #[serde(default)]
    pub(crate) helmfile: Option<Helmfile>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Helmfile {
    #[serde(rename = "file")]
    pub(crate) _file: String,
    pub(crate) timeout: u32,
    #[serde(default)]
    pub(crate) fails: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Sealed {
    pub(crate) key: Key,
    pub(crate) data: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Key {
    Seeded,
    Lost,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Happens {
    #[serde(default)]
    pub(crate) ready: Vec<String>,
    #[serde(default)]
    pub(crate) order: Vec<String>,
    #[serde(default)]
    pub(crate) fails: Vec<Fails>,
    #[serde(default)]
    pub(crate) slow: Vec<Slow>,
    #[serde(default)]
    pub(crate) stuck: Vec<Stuck>,
    #[serde(default)]
    pub(crate) holds: Option<f64>,
    #[serde(default)]
    pub(crate) objects: Vec<Holds>,
    #[serde(default)]
    pub(crate) absent: Vec<String>,
    #[serde(default)]
    pub(crate) clean: bool,
    #[serde(default)]
    pub(crate) within: Option<f64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Fails {
    pub(crate) of: String,
    pub(crate) says: String,
    #[serde(default = "once")]
    pub(crate) times: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Slow {
    pub(crate) of: String,
    #[serde(default)]
    pub(crate) seconds: Option<u64>,
    #[serde(default)]
    pub(crate) backoff: bool,
    #[serde(default)]
    pub(crate) from: From,
    #[serde(default = "default_early")]
    pub(crate) early: f64,
    #[serde(default = "default_slack")]
    pub(crate) slack: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum From {
    #[default]
    Failure,
    Attempt,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Stuck {
    pub(crate) of: String,
    #[serde(default)]
    pub(crate) says: String,
    #[serde(default)]
    pub(crate) stalled: bool,
    #[serde(default)]
    pub(crate) at_old_revision: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Holds {
    pub(crate) of: String,
    #[serde(default)]
    pub(crate) at: Option<String>,
    #[serde(default)]
    pub(crate) is: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Then {
    pub(crate) act: String,
    #[serde(default)]
    pub(crate) edit: Vec<Edit>,
    #[serde(default)]
    pub(crate) apply: Vec<String>,
    #[serde(default)]
    pub(crate) bootstrap_again: bool,
    pub(crate) happens: Happens,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Edit {
    pub(crate) file: String,
    pub(crate) replace: String,
    pub(crate) by: String,
}

fn default_pace() -> f64 {
    20.0
}

fn default_timeouts() -> f64 {
    5.0
}

/// Less than in the lab (2.5): a simulated clock is never busy, and shows a failure when it happens.
fn default_early() -> f64 {
    1.5
}

/// Less than in the lab (10): nothing but the controllers' own polling makes a recovery late here.
fn default_slack() -> f64 {
    5.0
}

fn once() -> usize {
    1
}
