//! What simulated boots came to.

use std::collections::BTreeMap;

use model::ObjectRef;

/// Boots of the cluster as it is, and after the changes.
#[derive(Clone, Debug, Default)]
pub struct Boots {
    pub now: Share,
    /// Nothing where there is nothing to change.
    pub after: Option<Share>,
    pub now_times: BootTimes,
}

/// How many of so many boots converged, and how long the middle one took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub boots: u64,
    pub converged: u64,
    pub median_seconds: Option<u64>,
}

/// When each object became ready, in the middle of all boots.
#[derive(Clone, Debug, Default)]
pub struct BootTimes {
    pub medians: BTreeMap<ObjectRef, u64>,
}
