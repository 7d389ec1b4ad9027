//! Which cluster somebody means.

use std::path::Path;

use model::Cluster;

use crate::failure::Failure;
use model::nearest;

/// The cluster of that directory, or the only one whose directory ends so.
pub(crate) fn find<'a>(
    clusters: &'a [Cluster],
    name: &str,
    command: &'static str,
    at: &Path,
) -> Result<&'a Cluster, Failure> {
    let at = at.to_owned();
    let wanted = name.trim_start_matches("./").trim_end_matches('/');
    let wanted = if wanted.is_empty() { "." } else { wanted };
    if let Some(exact) = clusters.iter().find(|cluster| cluster.name == wanted) {
        return Ok(exact);
    }
    let ending: Vec<&Cluster> = clusters.iter().filter(|cluster| last_part(&cluster.name) == wanted).collect();
    let names = |clusters: &[&Cluster]| clusters.iter().map(|cluster| cluster.name.clone()).collect();
    match ending.as_slice() {
        [only] => Ok(only),
        [] => {
            let candidates = clusters.iter().flat_map(|cluster| [cluster.name.as_str(), last_part(&cluster.name)]);
            let nearest = nearest(wanted, candidates).map(str::to_owned);
            let names = names(&clusters.iter().collect::<Vec<_>>());
            Err(Failure::UnknownCluster { command, at, name: name.to_owned(), nearest, names })
        }
        several => Err(Failure::SeveralClusters { command, at, name: name.to_owned(), names: names(several) }),
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use model::Cluster;

    use std::path::Path;

    use super::find;

    fn clusters(names: &[&str]) -> Vec<Cluster> {
        names.iter().map(|name| Cluster { name: (*name).to_owned(), ..Cluster::default() }).collect()
    }

    #[test]
    fn a_cluster_is_found_by_its_directory_or_the_end_of_it() {
        let clusters = clusters(&["clusters/home", "clusters/lab", "old/lab"]);
        assert_eq!(find(&clusters, "home", "check", Path::new("lab repo")).unwrap().name, "clusters/home");
        assert_eq!(find(&clusters, "./old/lab/", "check", Path::new("lab repo")).unwrap().name, "old/lab");
    }

    #[test]
    fn a_name_that_says_too_little_lists_what_there_is() {
        let clusters = clusters(&["clusters/home", "clusters/lab", "old/lab"]);
        let several = find(&clusters, "lab", "check", Path::new("lab repo")).unwrap_err().told();
        assert!(several.contains("clusters/lab, old/lab"), "{several}");
        let unknown = find(&clusters, "hoem", "check", Path::new("lab repo")).unwrap_err().told();
        assert!(unknown.contains("did you mean `home`?"), "{unknown}");
        assert!(unknown.contains("next: coldstart check 'lab repo' --cluster home"), "{unknown}");
        assert!(unknown.contains("clusters/home, clusters/lab, old/lab"), "{unknown}");
    }
}
