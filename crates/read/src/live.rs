//! Files that something applies, or may apply: what is not among them lies there for nothing.

use std::collections::BTreeSet;

use foldhash::HashSet;
use model::{Cluster, ComponentId, WhyUnseen};

use ::repository::path;

pub(crate) struct Live {
    /// That a cluster or the bootstrap reads.
    files: BTreeSet<String>,
    /// Directories whose builds were left off at a limit: what they would have read is not known.
    unknown: HashSet<String>,
}

impl Live {
    pub(crate) fn new(files: BTreeSet<String>, clusters: &[Cluster]) -> Self {
        let directories = |cluster: &Cluster| -> Vec<String> {
            left_off(cluster).filter_map(|id| cluster.component(id).path.as_deref().map(str::to_owned)).collect()
        };
        Self { files, unknown: clusters.iter().flat_map(directories).collect() }
    }

    pub(crate) fn may_hold(&self, file: &str) -> bool {
        let is_unknown = |file: &str| path::ancestors(path::parent(file)).any(|at| self.unknown.contains(at));
        self.files.contains(file) || (!self.unknown.is_empty() && is_unknown(file))
    }
}

/// Components of which something is beyond a limit.
pub(crate) fn left_off(cluster: &Cluster) -> impl Iterator<Item = ComponentId> {
    let spots = cluster.blind.iter().filter(|spot| matches!(spot.why, WhyUnseen::BeyondLimit(_)));
    spots.filter_map(|spot| spot.component)
}
