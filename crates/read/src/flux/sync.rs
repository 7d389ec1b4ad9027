//! Clusters that a FluxInstance declares: the directory it syncs.

use std::collections::BTreeSet;

use kustomize::{Files, PathKind};
use model::ObjectRef;
use yaml::Node;

use crate::flux::entry::{Entry, is_templated, made_by_flux};
use crate::flux::kustomization::{Kustomization, SourceRef};
use crate::flux::variables::Variables;
use crate::flux::{CONTROL_PLANE_GROUP, Common, HELM_GROUP};
use crate::object::Object;
use crate::path;

/// `FluxInstance` objects, and the values of the chart that makes one.
pub(super) fn entries(common: &Common<'_>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (_, file, documents) in common.repository.yaml_files() {
        for node in documents.iter().filter_map(|document| document.root.as_ref()) {
            entries.extend(sync_of(node).map(|sync| entries_of(common, file, sync)).unwrap_or_default());
        }
    }
    entries
}

pub(super) fn sync_of(node: &Node) -> Option<&Node> {
    let object = Object::new(node);
    if object.is(CONTROL_PLANE_GROUP, "FluxInstance") {
        node.at(&["spec", "sync"])
    } else if object.kind() == "HelmRelease" && object.group() == HELM_GROUP {
        node.at(&["spec", "values", "instance", "sync"])
    } else if object.kind().is_empty() {
        node.at(&["instance", "sync"])
    } else {
        None
    }
}

/// What one sync declares. One file may start several clusters, with a variable of each in its path.
fn entries_of(common: &Common<'_>, file: &str, sync: &Node) -> Vec<Entry> {
    let Some(written) = sync.text_at(&["path"]) else { return Vec::new() };
    if !is_templated(written) {
        return entry(common, file, sync, written).into_iter().collect();
    }
    // The nearest that applies the file is the most likely to set it.
    for outer in path::ancestors(path::parent(file)) {
        let appliers = common.written.iter().filter(|it| it.covers.as_deref() == Some(outer));
        let found: Vec<Entry> = appliers.filter_map(|it| filled_in(common, file, it.node, sync)).collect();
        if !found.is_empty() {
            return found;
        }
    }
    let found = only_one_like(common, written).and_then(|directory| entry(common, file, sync, directory));
    found.into_iter().collect()
}

/// The same with the variables of the Kustomization that applies it.
fn filled_in(common: &Common<'_>, file: &str, applier: &Node, sync: &Node) -> Option<Entry> {
    let applier = Kustomization::read(applier, "flux-system");
    let mut sync = sync.clone();
    let variables = Variables::new(applier.post_build.as_ref(), &applier.object.namespace, &common.settings);
    variables.apply(&mut sync).ok()?;
    let path = sync.text_at(&["path"]).filter(|path| !is_templated(path))?;
    entry(common, file, &sync, path)
}

/// The directory with Kustomizations in or below it that a path means whose variables nobody knows, if there is just one.
fn only_one_like<'a>(common: &Common<'a>, written: &str) -> Option<&'a str> {
    let pattern = path::within(&with_gaps(written));
    // A path of nothing but variables means any directory.
    pattern.split('/').find(|part| !part.contains(GAP))?;
    let directories = common.written.iter().flat_map(|it| path::ancestors(it.directory));
    let found: BTreeSet<&str> = directories.filter(|directory| is_like(directory, &pattern)).collect();
    found.first().copied().filter(|_| found.len() == 1)
}

/// Stands for a variable in a path.
const GAP: char = '*';

fn with_gaps(text: &str) -> String {
    let mut text = text.to_owned();
    for (open, close) in [("${", "}"), ("{{", "}}"), ("<<", ">>")] {
        while let Some(start) = text.find(open) {
            let end = text[start..].find(close).map_or(text.len(), |at| start + at + close.len());
            text.replace_range(start..end, "*");
        }
    }
    text
}

fn is_like(directory: &str, pattern: &str) -> bool {
    let is_same_depth = directory.split('/').count() == pattern.split('/').count();
    is_same_depth && directory.split('/').zip(pattern.split('/')).all(|(name, part)| fits(name, part).is_some())
}

fn fits(name: &str, pattern: &str) -> Option<()> {
    let mut parts = pattern.split(GAP);
    let rest = name.strip_prefix(parts.next()?)?;
    let Some(last) = parts.next_back() else { return rest.is_empty().then_some(()) };
    let mut rest = rest.strip_suffix(last)?;
    for part in parts {
        rest = rest.split_once(part)?.1;
    }
    Some(())
}

/// The source that Flux makes for what it syncs.
pub(super) fn source_of(sync: &Node) -> SourceRef {
    let name = sync.text_at(&["name"]).unwrap_or("flux-system");
    let kind = sync.text_at(&["kind"]).unwrap_or("GitRepository");
    SourceRef { object: ObjectRef::new(kind, "flux-system", name), at: sync.span }
}

fn entry(common: &Common<'_>, file: &str, sync: &Node, path: &str) -> Option<Entry> {
    let source = source_of(sync);
    let (directory, base) = synced(common, file, path, &source.object.kind)?;
    let url = sync.text_at(&["url"]).map(str::to_owned);
    let at = sync.get("path")?.span;
    let name = source.object.name.clone();
    Some(Entry { root: made_by_flux(&name, &directory, at, Some(source)), directory, url, base })
}

/// The directory of this repository that a path of a source means, and the one that is the source's root. Git has the
/// repository's own; what is pushed as an artifact is often one directory of it.
fn synced(common: &Common<'_>, file: &str, written: &str, kind: &str) -> Option<(String, String)> {
    let repository = common.repository;
    let directory = repository.place(written);
    let is_artifact = kind != "GitRepository";
    if is_artifact && directory.is_empty() {
        let base = around(common, file).to_owned();
        return Some((base.clone(), base));
    }
    if repository.kind(&directory) == PathKind::Directory {
        return Some((directory, String::new()));
    }
    let base = repository.base_of(&path::within(written)).filter(|_| is_artifact)?;
    Some((path::join(&base, &path::within(written))?, base))
}

/// The directory that an artifact was made of whose root is synced: the nearest around the file that says so with
/// Kustomizations in it, for that file is mostly part of the cluster. The repository's own root, if it has any itself.
fn around<'a>(common: &Common<'_>, file: &'a str) -> &'a str {
    let holds = |directory: &str| common.written.iter().any(|it| it.directory == directory);
    let is_whole = holds("") || kustomize::FILE_NAMES.iter().any(|name| common.repository.id(name).is_some());
    let nearest = || path::ancestors(path::parent(file)).find(|directory| holds(directory));
    if is_whole { "" } else { nearest().unwrap_or("") }
}
