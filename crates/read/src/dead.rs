//! Files with objects that nothing reaches: under a directory that Flux applies, and in no kustomization.

use std::collections::BTreeSet;

use foldhash::HashSet;
use model::{Cluster, Dead};

use crate::flux::{HELM_GROUP, KUSTOMIZE_GROUP};
use crate::object::Object;
use crate::repository::Repository;
use ::repository::path;

/// Fills in what each cluster leaves lying. `live` are all files that any cluster or the bootstrap reads.
pub(crate) fn find(repository: &Repository, clusters: &mut [Cluster], live: &BTreeSet<String>) {
    let roots: Vec<HashSet<&str>> = clusters.iter().map(built_directories).collect();
    let mut found: Vec<(usize, Dead)> = Vec::new();
    for (_, file, documents) in repository.yaml_files() {
        if live.contains(file) {
            continue;
        }
        let roots_of_documents = documents.iter().filter_map(|document| document.root.as_ref());
        let objects: Vec<Object<'_>> =
            roots_of_documents.map(Object::new).filter(|object| is_left_lying(*object)).collect();
        if objects.is_empty() || is_commented_out(repository, file) || is_path_of_a_comment(repository, file) {
            continue;
        }
        let of =
            roots.iter().position(|directories| path::ancestors(path::parent(file)).any(|at| directories.contains(at)));
        if let Some(cluster) = of {
            let dead = objects.iter().map(|object| Dead { object: object.reference(""), at: object.name_span() });
            found.extend(dead.map(|dead| (cluster, dead)));
        }
    }
    for (cluster, dead) in found {
        clusters[cluster].dead.push(dead);
    }
}

/// Objects that order others; the rest may lie there for many reasons.
fn is_left_lying(object: Object<'_>) -> bool {
    let is_flux = object.is(KUSTOMIZE_GROUP, "Kustomization") || object.is(HELM_GROUP, "HelmRelease");
    is_flux && !object.name().is_empty()
}

/// Whether a Kustomization that would apply the file stands in a comment, beside it or above.
fn is_path_of_a_comment(repository: &Repository, file: &str) -> bool {
    let directory = path::parent(file);
    path::ancestors(directory).any(|outer| {
        let beside = repository.names(outer).iter().filter_map(|name| path::join(outer, name));
        let sources = beside.filter_map(|path| repository.source(repository.id(&path)?));
        sources.into_iter().any(|source| {
            let comments = source.text().lines().filter_map(|line| line.trim_start().strip_prefix('#'));
            let paths = comments.filter_map(|text| text.trim().strip_prefix("path:"));
            let paths = paths.filter_map(|path| path.split_whitespace().next());
            let paths = paths.map(|path| path::within(path.trim_matches(['"', '\''])));
            paths.into_iter().any(|path| !path.is_empty() && path::is_below(directory, &path))
        })
    })
}

fn built_directories(cluster: &Cluster) -> HashSet<&str> {
    cluster
        .components
        .iter()
        .filter_map(|component| component.path.as_deref())
        .filter(|path| !path.is_empty())
        .collect()
}

/// A kustomization above that names it in a comment: switched off on purpose.
fn is_commented_out(repository: &Repository, file: &str) -> bool {
    let mut child = file;
    for directory in path::ancestors(path::parent(file)) {
        let name = child[directory.len()..].trim_start_matches('/');
        for kustomization in kustomize::FILE_NAMES {
            let at = path::join(directory, kustomization).unwrap_or_default();
            let Some(source) = repository.id(&at).and_then(|id| repository.source(id)) else { continue };
            let comments = source.text().lines().filter_map(|line| line.trim_start().strip_prefix('#'));
            // Words behind it say why.
            let entries = comments.map(|text| text.trim().trim_start_matches("- ").trim_start_matches("./"));
            let mut entries = entries.filter_map(|text| text.split_whitespace().next());
            // Beside or below a Kustomization's own file lies what that one applies.
            let holds = |entry: &str| path::is_below(name, path::parent(entry)) && !path::parent(entry).is_empty();
            let is_file = |entry: &str| matches!(entry.rsplit_once('.'), Some((_, "yaml" | "yml")));
            if entries.any(|entry| entry.starts_with(name) || (is_file(entry) && holds(entry))) {
                return true;
            }
            // The nearest kustomization decides: further up, only its directory is named.
            child = directory;
        }
    }
    false
}
