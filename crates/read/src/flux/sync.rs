//! Clusters that a FluxInstance declares: the directory it syncs.

use kustomize::{Files, PathKind};
use model::ObjectRef;
use yaml::Node;

use crate::flux::entry::{Entry, made_by_flux};
use crate::flux::kustomization::SourceRef;
use crate::flux::{CONTROL_PLANE_GROUP, Common, HELM_GROUP};
use crate::object::Object;
use crate::path;
use crate::repository::Repository;

/// `FluxInstance` objects, and the values of the chart that makes one.
pub(super) fn entries(common: &Common<'_>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (_, _, documents) in common.repository.yaml_files() {
        for node in documents.iter().filter_map(|document| document.root.as_ref()) {
            entries.extend(sync_of(node).and_then(|sync| entry(common.repository, sync)));
        }
    }
    entries
}

fn sync_of(node: &Node) -> Option<&Node> {
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

fn entry(repository: &Repository, sync: &Node) -> Option<Entry> {
    let written = sync.get("path")?;
    let text = written.text().filter(|text| !crate::flux::entry::is_templated(text))?;
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
    let directory = repository.place(written);
    if repository.kind(&directory) == PathKind::Directory {
        return Some((directory, String::new()));
    }
    let base = repository.base_of(&path::within(written)).filter(|_| kind != "GitRepository")?;
    Some((path::join(&base, &path::within(written))?, base))
}
