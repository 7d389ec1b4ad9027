//! Files with objects that nothing reaches: under a directory that Flux applies, and in no kustomization.

use foldhash::{HashMap, HashMapExt as _, HashSet};
use model::{Cluster, Dead};

use crate::flux::{HELM_GROUP, KUSTOMIZE_GROUP};
use crate::live::Live;
use crate::object::Object;
use crate::repository::Repository;
use ::repository::path;

/// Fills in what each cluster leaves lying.
pub(crate) fn find(repository: &Repository, clusters: &mut [Cluster], live: &Live) {
    let roots: Vec<HashSet<&str>> = clusters.iter().map(built_directories).collect();
    let mut comments = Comments { repository, paths: HashMap::new(), entries: HashMap::new() };
    let mut found: Vec<(usize, Dead)> = Vec::new();
    for (_, file, documents) in repository.yaml_files() {
        if live.may_hold(file) {
            continue;
        }
        let roots_of_documents = documents.iter().filter_map(|document| document.root.as_ref());
        let objects: Vec<Object<'_>> =
            roots_of_documents.map(Object::new).filter(|object| is_left_lying(*object)).collect();
        if objects.is_empty() || comments.name(file) || comments.apply(file) {
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

fn built_directories(cluster: &Cluster) -> HashSet<&str> {
    cluster
        .components
        .iter()
        .filter_map(|component| component.path.as_deref())
        .filter(|path| !path.is_empty())
        .collect()
}

/// What stands in comments, each file read once.
struct Comments<'r> {
    repository: &'r Repository,
    /// By directory: the paths of Kustomizations that stand in comments of its files.
    paths: HashMap<String, HashSet<String>>,
    /// By kustomization.
    entries: HashMap<String, Option<Entries<'r>>>,
}

/// What a kustomization names in comments.
struct Entries<'r> {
    sorted: Vec<&'r str>,
    /// The directories of those that are files.
    directories: HashSet<&'r str>,
}

impl Comments<'_> {
    /// Whether a Kustomization that would apply the file stands in a comment, beside it or above.
    fn apply(&mut self, file: &str) -> bool {
        let directory = path::parent(file);
        path::ancestors(directory).any(|outer| {
            if !self.paths.contains_key(outer) {
                self.paths.insert(outer.to_owned(), paths_in(self.repository, outer));
            }
            let paths = &self.paths[outer];
            !paths.is_empty() && path::ancestors(directory).any(|at| !at.is_empty() && paths.contains(at))
        })
    }

    /// Whether a kustomization above names the file in a comment: switched off on purpose.
    fn name(&mut self, file: &str) -> bool {
        let mut child = file;
        for directory in path::ancestors(path::parent(file)) {
            let name = child[directory.len()..].trim_start_matches('/');
            for kustomization in kustomize::FILE_NAMES {
                let at = path::join(directory, kustomization).unwrap_or_default();
                if !self.entries.contains_key(&at) {
                    let entries = Entries::of(self.repository, &at);
                    self.entries.insert(at.clone(), entries);
                }
                let Some(entries) = &self.entries[&at] else { continue };
                if entries.hold(name) {
                    return true;
                }
                // The nearest kustomization decides: further up, only its directory is named.
                child = directory;
            }
        }
        false
    }
}

impl<'r> Entries<'r> {
    /// Nothing where there is no such kustomization.
    fn of(repository: &'r Repository, kustomization: &str) -> Option<Self> {
        let source = repository.id(kustomization).and_then(|id| repository.source(id))?;
        let entries = commented(source.text()).map(|text| text.trim_start_matches("- ").trim_start_matches("./"));
        // Words behind it say why.
        let mut sorted: Vec<&str> = entries.filter_map(|text| text.split_whitespace().next()).collect();
        sorted.sort_unstable();
        let is_file = |entry: &&&str| matches!(entry.rsplit_once('.'), Some((_, "yaml" | "yml")));
        let directories = sorted.iter().filter(is_file).map(|entry| path::parent(entry));
        let directories = directories.filter(|directory| !directory.is_empty()).collect();
        Some(Self { sorted, directories })
    }

    /// Beside or below a Kustomization's own file lies what that one applies.
    fn hold(&self, name: &str) -> bool {
        let first = self.sorted.partition_point(|entry| *entry < name);
        self.sorted.get(first).is_some_and(|entry| entry.starts_with(name))
            || (!self.directories.is_empty() && path::ancestors(name).any(|at| self.directories.contains(at)))
    }
}

fn paths_in(repository: &Repository, directory: &str) -> HashSet<String> {
    let beside = repository.names(directory).iter().filter_map(|name| path::join(directory, name));
    let sources = beside.filter_map(|path| repository.source(repository.id(&path)?));
    let paths = |text: &str| -> Vec<String> {
        let paths = commented(text).filter_map(|text| text.strip_prefix("path:")?.split_whitespace().next());
        paths.map(|path| path::within(path.trim_matches(['"', '\'']))).filter(|path| !path.is_empty()).collect()
    };
    sources.into_iter().flat_map(|source| paths(source.text())).collect()
}

/// The lines of a text that are comments, without their signs.
fn commented(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.trim_start().strip_prefix('#')).map(str::trim)
}
