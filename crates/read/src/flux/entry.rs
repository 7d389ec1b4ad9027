//! Where Flux starts: found by what the files say, without being told.
//!
//! `flux bootstrap` leaves a Kustomization that applies the directory it lies in; a FluxInstance names the directory it
//! syncs. Failing both, a Kustomization that no other one's path covers is where somebody starts by hand.

use std::collections::{BTreeMap, BTreeSet};

use model::{Gate, ObjectRef, Patience, Retry};
use yaml::{Node, Span};

use crate::flux::kustomization::{Kustomization, SourceRef};
use crate::flux::{CONTROL_PLANE_GROUP, Common, HELM_GROUP, KUSTOMIZE_GROUP};
use crate::object::{Object, owned};
use crate::path;
use crate::repository::Repository;

/// One cluster's beginning.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The directory it applies first.
    pub(crate) directory: String,
    /// The Kustomization that applies it: a written one, or the one Flux makes.
    pub(crate) root: Kustomization,
    /// The address of the repository's own source, if the files say it.
    pub(crate) url: Option<String>,
    /// The directory that is the root of that source: an artifact may hold just a part of the repository.
    pub(crate) base: String,
}

/// A Kustomization as it is written, before anybody builds it.
#[derive(Debug)]
pub(super) struct Written<'a> {
    file: &'a str,
    directory: &'a str,
    covers: Option<String>,
    node: &'a Node,
}

/// The clusters that the files themselves declare: what `flux bootstrap` wrote, and what a FluxInstance syncs.
pub(super) fn declared(common: &Common<'_>) -> Vec<Entry> {
    let Common { repository, written, .. } = common;
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    for entry in from_instances(repository).into_iter().chain(from_bootstrap(repository, written)) {
        entries.entry(entry.directory.clone()).or_insert(entry);
    }
    entries.into_values().collect()
}

/// Directories that somebody must start by hand, given the files that the known clusters reach.
pub(super) fn undeclared(common: &Common<'_>, known: &[Entry], live: &BTreeSet<String>) -> Vec<Entry> {
    let unreached: Vec<&Written<'_>> = common.written.iter().filter(|it| !live.contains(it.file)).collect();
    from_roots(&unreached, known)
}

pub(super) fn written(repository: &Repository) -> Vec<Written<'_>> {
    let mut found = Vec::new();
    for (_, file, documents) in repository.yaml_files() {
        if file.split('/').any(|part| part.starts_with('.')) {
            continue;
        }
        for node in documents.iter().filter_map(|document| document.root.as_ref()) {
            let object = Object::new(node);
            if object.is(KUSTOMIZE_GROUP, "Kustomization") && !object.name().is_empty() {
                let covers =
                    node.text_at(&["spec", "path"]).filter(|path| !is_templated(path)).map(|at| repository.place(at));
                found.push(Written { file, directory: path::parent(file), covers, node });
            }
        }
    }
    found
}

fn is_templated(text: &str) -> bool {
    text.contains("${") || text.contains("{{") || text.contains("<<")
}

/// `FluxInstance` objects, and the values of the chart that makes one.
fn from_instances(repository: &Repository) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (_, _, documents) in repository.yaml_files() {
        for node in documents.iter().filter_map(|document| document.root.as_ref()) {
            let object = Object::new(node);
            let sync = if object.is(CONTROL_PLANE_GROUP, "FluxInstance") {
                node.at(&["spec", "sync"])
            } else if object.kind() == "HelmRelease" && object.group() == HELM_GROUP {
                node.at(&["spec", "values", "instance", "sync"])
            } else if object.kind().is_empty() {
                node.at(&["instance", "sync"])
            } else {
                None
            };
            entries.extend(sync.and_then(|sync| from_sync(repository, sync)));
        }
    }
    entries
}

fn from_sync(repository: &Repository, sync: &Node) -> Option<Entry> {
    let written = sync.get("path")?;
    let text = written.text().filter(|text| !is_templated(text))?;
    let name = sync.get("name").and_then(Node::text).unwrap_or("flux-system");
    let kind = sync.get("kind").and_then(Node::text).unwrap_or("GitRepository");
    let (directory, base) = synced(repository, text, kind)?;
    let source = SourceRef { object: ObjectRef::new(kind, "flux-system", name), at: sync.span };
    let url = sync.get("url").and_then(Node::text).map(str::to_owned);
    Some(Entry { root: made_by_flux(name, &directory, written.span, Some(source)), directory, url, base })
}

/// The directory of this repository that a path of a source means, and the one that is the source's root. Git has the
/// repository's own; what is pushed as an artifact is often one directory of it.
fn synced(repository: &Repository, written: &str, kind: &str) -> Option<(String, String)> {
    use kustomize::{Files, PathKind};
    let directory = repository.place(written);
    if repository.kind(&directory) == PathKind::Directory {
        return Some((directory, String::new()));
    }
    let base = repository.base_of(&path::within(written)).filter(|_| kind != "GitRepository")?;
    Some((path::join(&base, &path::within(written))?, base))
}

/// What `flux bootstrap` writes: a Kustomization that applies the very file it stands in, or lies in `gotk-sync.yaml` below what
/// it applies.
fn from_bootstrap(repository: &Repository, written: &[Written<'_>]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let covered: BTreeSet<&str> = written.iter().filter_map(|it| it.covers.as_deref()).collect();
    // Somebody applies the whole repository. `path: ./` of any other name may mean the root of another source.
    let is_whole = |it: &Written<'_>| it.covers.as_deref() == Some("") && Object::new(it.node).name() == "flux-system";
    let has_whole = written.iter().any(is_whole);
    for it in written {
        let Some(directory) = it.covers.clone().filter(|covers| path::is_below(it.directory, covers)) else { continue };
        let root = Kustomization::read(it.node, "flux-system");
        // `path: ./` of some other source means that source's root, not this repository's.
        if directory.is_empty() && root.object.name != "flux-system" {
            continue;
        }
        // `flux bootstrap` applies its own file, whether or not a kustomization lists it.
        let is_synced = it.file.rsplit('/').next() == Some("gotk-sync.yaml") && it.directory != directory;
        // One whose path is a level too high applies itself, too; but somebody else applies it first.
        let is_outer = |outer: &str| covered.contains(outer) && (!outer.is_empty() || has_whole);
        let is_child = || path::ancestors(&directory).skip(1).any(is_outer);
        if is_synced || (!is_child() && applies_itself(repository, &directory, &root)) {
            entries.push(Entry { directory, root, url: None, base: String::new() });
        }
    }
    entries
}

fn applies_itself(repository: &Repository, directory: &str, root: &Kustomization) -> bool {
    let build = repository.build(directory, &root.overlay);
    build.objects.iter().any(|node| {
        let object = Object::new(node);
        object.is(KUSTOMIZE_GROUP, "Kustomization") && object.name() == root.object.name
    })
}

/// Directories with Kustomizations that no other one's path covers. Beside a real entry point only those count that lead
/// to further Kustomizations: a lone one there is a file nobody reaches.
fn from_roots(written: &[&Written<'_>], known: &[Entry]) -> Vec<Entry> {
    let known: BTreeSet<&str> = known.iter().map(|entry| entry.directory.as_str()).collect();
    let mut covering: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, it) in written.iter().enumerate() {
        if let Some(covers) = it.covers.as_deref().filter(|covers| !covers.is_empty()) {
            covering.entry(covers).or_default().push(index);
        }
    }
    let directories: BTreeSet<&str> = written.iter().map(|it| it.directory).collect();
    let mut roots: BTreeMap<&str, bool> = BTreeMap::new();
    for (index, it) in written.iter().enumerate() {
        let covered = path::ancestors(it.directory).any(|directory| {
            known.contains(directory)
                || covering.get(directory).is_some_and(|by| by.iter().any(|other| *other != index))
        });
        if !covered {
            let leads_on = it.covers.as_deref().is_some_and(|covers| has_below(&directories, covers, it.directory));
            *roots.entry(it.directory).or_default() |= leads_on;
        }
    }
    let is_nested = |directory: &str| path::ancestors(directory).skip(1).any(|outer| roots.contains_key(outer));
    roots
        .iter()
        .filter(|(directory, leads_on)| !is_nested(directory) && (**leads_on || known.is_empty()))
        .map(|(directory, _)| Entry {
            directory: (*directory).to_owned(),
            root: made_by_flux("flux-system", directory, Span::GENERATED, None),
            url: None,
            base: String::new(),
        })
        .collect()
}

/// Whether a directory other than `except` lies at or below `outer`.
fn has_below(directories: &BTreeSet<&str>, outer: &str, except: &str) -> bool {
    directories
        .range(outer..)
        .take_while(|directory| directory.starts_with(outer))
        .any(|directory| *directory != except && path::is_below(directory, outer))
}

/// The Kustomization that Flux itself makes for the directory it syncs: it waits for nothing.
fn made_by_flux(name: &str, directory: &str, at: Span, source: Option<SourceRef>) -> Kustomization {
    const INTERVAL_SECONDS: u64 = 600;
    Kustomization {
        object: ObjectRef::new("Kustomization", "flux-system", name),
        at,
        path: owned(Some(&Node::string(directory, at))),
        path_at: at,
        source,
        depends_on: Vec::new(),
        ties_at: at,
        gate: Gate::Applied,
        gate_at: at,
        ignored_checks: Vec::new(),
        expressions: BTreeSet::new(),
        suspended: None,
        patience: Patience {
            timeout_seconds: INTERVAL_SECONDS,
            attempts: 1,
            pause_seconds: 0,
            retry: Retry::Every(INTERVAL_SECONDS),
            retry_at: at,
            retry_field: "interval",
        },
        overlay: kustomize::Overlay::default(),
        common_metadata: None,
        post_build: None,
        decryption_secret: None,
        kube_config_secret: None,
    }
}
