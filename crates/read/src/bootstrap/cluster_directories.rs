//! Whose bootstrap it is: of several clusters in a repository, what lies at home with one is brought to that one alone.
//!
//! Knows directories and nothing else. What lies at home with several, or with none, is everybody's.

use ::repository::path;

/// The directories that the clusters of a repository start from.
#[derive(Debug)]
pub(crate) struct ClusterDirectories<'a> {
    clusters: Vec<&'a str>,
}

impl<'a> ClusterDirectories<'a> {
    /// Of clusters by their names.
    pub(crate) fn of(names: impl Iterator<Item = &'a str>) -> Self {
        Self { clusters: names.map(directory).collect() }
    }

    /// Whether what lies at a path is brought to the cluster of this name: home is the nearest directory around it in which a
    /// cluster starts.
    pub(crate) fn holds(&self, path: &str, cluster: &str) -> bool {
        let own = directory(cluster);
        let starts_in = |home: &str| self.clusters.iter().any(|cluster| path::is_below(cluster, home));
        let home = path::ancestors(path).find(|home| starts_in(home)).unwrap_or_default();
        path::is_below(own, home) || path::is_below(path, own)
    }
}

/// The root of the repository is called `.` as a cluster.
fn directory(cluster: &str) -> &str {
    if cluster == "." { "" } else { cluster }
}

#[cfg(test)]
mod tests {
    use super::ClusterDirectories;

    #[test]
    fn what_lies_at_home_with_one_cluster_is_not_brought_to_its_neighbour() {
        let directories = ClusterDirectories::of(["k8s/east/flux", "k8s/west/flux"].into_iter());
        assert!(directories.holds("k8s/east/bootstrap/crds", "k8s/east/flux"));
        assert!(!directories.holds("k8s/east/bootstrap/crds", "k8s/west/flux"));
        assert!(!directories.holds("k8s/east/flux/vars/settings.yaml", "k8s/west/flux"));
        for path in ["k8s/bootstrap/crds", "bootstrap/helmfile.yaml", "Taskfile.yaml", "k8s/shared/settings.yaml"] {
            assert!(directories.holds(path, "k8s/east/flux") && directories.holds(path, "k8s/west/flux"), "{path}");
        }
    }

    #[test]
    fn a_cluster_that_begins_around_it_has_it_too() {
        let directories = ClusterDirectories::of([".", "k8s/east"].into_iter());
        assert!(directories.holds("k8s/east/bootstrap/crds", "."));
        assert!(directories.holds("k8s/east/bootstrap/crds", "k8s/east"));
    }
}
