//! What is applied before GitOps starts: directories, files and Secrets.
//!
//! Knows four signs: a path with a part named `bootstrap`, the commands of bootstrap scripts, the hooks of
//! helmfiles, and the resources of Terraform. Does not know whether they were run.

use std::collections::{BTreeMap, BTreeSet};

use kustomize::{Files, PathKind};
use source::Span;
use yaml::Node;

use super::SeededName;
use crate::helmfile::Helmfile;
use crate::naming::{is_archived, is_in_bootstrap_directory};
use crate::repository::Repository;
use crate::scripts::{Applied, CreatedKind, Scripts};
use crate::templated_yaml;
use crate::terraform::ProvidedObject;
use ::repository::path;

/// How templates of manifests end.
const TEMPLATES: [&str; 4] = [".yaml.j2", ".yml.j2", ".yaml.tpl", ".yml.tpl"];

/// A file that a bootstrap applies, with its objects.
pub(super) struct SeededFile {
    pub(super) path: String,
    /// The namespace that the command gives to objects that name none.
    pub(super) namespace: Option<String>,
    pub(super) objects: Vec<Node>,
}

/// What is applied, not installed.
pub(super) struct Seeds {
    /// Built with kustomize and applied; sorted.
    pub(super) directories: Vec<String>,
    /// Applied as they are, sorted by path.
    pub(super) files: Vec<SeededFile>,
    pub(super) named: Vec<SeededName>,
}

/// Looks for all of it.
pub(super) fn find(
    repository: &Repository,
    scripts: &Scripts<'_>,
    helmfiles: &[Helmfile],
    provided: &BTreeSet<ProvidedObject>,
) -> Seeds {
    let all = scripts.applied();
    let applied = early_applied(&all, helmfiles);
    let directories = directories(repository, &applied);
    let files = files(repository, &applied);
    let made = made_by_name(scripts, provided);
    let named = named(repository, &files, made, &all);
    Seeds { directories, files, named }
}

fn directories(repository: &Repository, applied: &[Applied]) -> Vec<String> {
    let mut directories = kustomize_roots(repository);
    let targets = applied.iter().map(|applied| applied.path.as_str());
    let kustomized =
        targets.filter(|path| repository.kind(path) == PathKind::Directory && is_kustomized(repository, path));
    directories.extend(kustomized.map(str::to_owned));
    directories.into_iter().collect()
}

fn files(repository: &Repository, applied: &[Applied]) -> Vec<SeededFile> {
    let mut wanted: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (_, file, documents) in repository.yaml_files() {
        if !is_in_bootstrap_directory(file) || is_archived(file) {
            continue;
        }
        let is_manifest = documents.iter().filter_map(|document| document.root.as_ref()).any(is_object);
        if is_manifest && !is_below_kustomization(repository, file) {
            wanted.insert(file.to_owned(), None);
        }
    }
    for applied in applied {
        let files = match repository.kind(&applied.path) {
            PathKind::File => vec![applied.path.clone()],
            PathKind::Directory if !is_kustomized(repository, &applied.path) => files_in(repository, &applied.path),
            _ => Vec::new(),
        };
        for file in files {
            let namespace = wanted.entry(file).or_default();
            *namespace = namespace.take().or_else(|| applied.namespace.clone());
        }
    }
    let templates = templates(repository).filter(|file| !wanted.contains_key(&file.path)).collect::<Vec<_>>();
    let applied = wanted.into_iter().filter_map(|(path, namespace)| bootstrap_file(repository, path, namespace));
    let mut files: Vec<SeededFile> = applied.chain(templates).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Templates of manifests in a bootstrap directory that no script was seen to apply. Only what a bootstrap alone makes is taken from
/// them: the directory may hold the templates of a whole cluster, too.
fn templates(repository: &Repository) -> impl Iterator<Item = SeededFile> {
    let is_template = |path: &&str| {
        let is_named = TEMPLATES.iter().any(|ending| path.ends_with(ending));
        is_named && is_in_bootstrap_directory(path) && !is_archived(path) && !is_below_kustomization(repository, path)
    };
    let files = repository.paths().filter(is_template);
    files.filter_map(|path| {
        let mut file = bootstrap_file(repository, path.to_owned(), None)?;
        file.objects.retain(|object| matches!(object.text_at(&["kind"]), Some("Secret" | "Namespace")));
        file.objects.retain(|object| !object.text_at(&["metadata", "name"]).is_none_or(templated_yaml::is_unknown));
        (!file.objects.is_empty()).then_some(file)
    })
}

/// What scripts create by name, and what Terraform does.
fn made_by_name(scripts: &Scripts<'_>, provided: &BTreeSet<ProvidedObject>) -> impl Iterator<Item = SeededName> {
    let created = scripts.created().into_iter();
    let created = created.map(|it| SeededName { kind: it.kind, namespace: it.namespace, name: it.name, at: it.span });
    let provided = provided.iter().cloned();
    created.chain(provided.map(|it| SeededName { kind: it.kind, namespace: it.namespace, name: it.name, at: it.at }))
}

/// Each once for each directory: two clusters may have one of the same name, each in its own directory.
fn named(
    repository: &Repository,
    files: &[SeededFile],
    made: impl Iterator<Item = SeededName>,
    applied: &[Applied],
) -> Vec<SeededName> {
    let secret = |namespace: &str, name: &str, at: Span| SeededName {
        kind: CreatedKind::Secret,
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        at,
    };
    let mut found: Vec<SeededName> = Vec::new();
    for file in files {
        for object in file.objects.iter().filter(|object| object.text_at(&["kind"]) == Some("Secret")) {
            let Some(name) = object.at(&["metadata", "name"]) else { continue };
            let Some(text) = name.text().filter(|text| !templated_yaml::is_unknown(text)) else { continue };
            let written = object.text_at(&["metadata", "namespace"]).filter(|text| !templated_yaml::is_unknown(text));
            let namespace = written.or(file.namespace.as_deref()).unwrap_or("default");
            found.push(secret(namespace, text, name.span));
        }
    }
    found.extend(made);
    for missing in applied.iter().filter(|applied| applied.is_missing && applied.by_bootstrap) {
        // A file that is kept out of Git: by custom it is named after its Secret.
        let name = missing.path.rsplit('/').next().unwrap_or_default().split(".sops.").next().unwrap_or_default();
        found.push(secret(missing.namespace.as_deref().unwrap_or("default"), name, missing.span));
    }
    let directory = |at: Span| repository.path(at.file).map(path::parent);
    let mut seen = BTreeSet::new();
    found.retain(|it| seen.insert((it.kind, it.namespace.clone(), it.name.clone(), directory(it.at))));
    found.sort_by(|a, b| (&a.namespace, &a.name, a.kind).cmp(&(&b.namespace, &b.name, b.kind)));
    found
}

/// What bootstrap scripts and the hooks of helmfiles apply. Other scripts count where they apply what lies in a
/// bootstrap directory, or decrypt what they apply: only a bootstrap does that.
fn early_applied(all: &[Applied], helmfiles: &[Helmfile]) -> Vec<Applied> {
    let is_early = |applied: &&Applied| {
        applied.by_bootstrap || is_in_bootstrap_directory(&applied.path) || applied.path.contains(".sops.")
    };
    let mut early: Vec<Applied> = all.iter().filter(|applied| !applied.is_missing).filter(is_early).cloned().collect();
    for release in helmfiles.iter().flat_map(|helmfile| &helmfile.releases).filter(|release| !release.only_crds) {
        early.extend(release.applies.iter().map(|hooked| Applied {
            path: hooked.path.clone(),
            is_missing: false,
            namespace: Some(release.namespace.to_string()),
            span: release.span,
            by_bootstrap: true,
        }));
    }
    early
}

/// Kustomizations below a directory named `bootstrap` that no other of them uses.
fn kustomize_roots(repository: &Repository) -> BTreeSet<String> {
    let mut roots = BTreeSet::new();
    let mut used = BTreeSet::new();
    for (_, file, documents) in repository.yaml_files() {
        let name = file.rsplit('/').next().unwrap_or_default();
        if !kustomize::FILE_NAMES.contains(&name) || !is_in_bootstrap_directory(file) || is_archived(file) {
            continue;
        }
        let directory = path::parent(file);
        for root in documents.iter().filter_map(|document| document.root.as_ref()) {
            let entries = ["resources", "bases", "components"].iter().flat_map(|key| root.items_at(key));
            used.extend(entries.filter_map(Node::text).filter_map(|entry| path::join(directory, entry)));
            if root.text_at(&["kind"]) != Some("Component") {
                roots.insert(directory.to_owned());
            }
        }
    }
    roots.retain(|root| !used.contains(root));
    roots
}

fn bootstrap_file(repository: &Repository, path: String, namespace: Option<String>) -> Option<SeededFile> {
    let id = repository.id(&path)?;
    let text = repository.source(id)?.text();
    // What is no template has been parsed already.
    let parsed = repository.documents(&path).filter(|_| !templated_yaml::is_template(text));
    let documents = match parsed {
        Some((_, documents)) => documents.iter().filter_map(|document| document.root.clone()).collect(),
        None => templated_yaml::parse(id, text),
    };
    let objects: Vec<Node> = documents.into_iter().filter(is_object).collect();
    (!objects.is_empty()).then_some(SeededFile { path, namespace, objects })
}

fn is_object(node: &Node) -> bool {
    let version = node.text_at(&["apiVersion"]);
    let is_build_file = version.is_some_and(|version| version.starts_with("kustomize.config.k8s.io/"));
    version.is_some() && node.text_at(&["kind"]).is_some() && !is_build_file
}

fn is_kustomized(repository: &Repository, directory: &str) -> bool {
    let names = repository.names(directory);
    // As a template, too: what is rendered from it is built then.
    let is_it = |found: &str| {
        let written = TEMPLATES.iter().find(|ending| found.ends_with(**ending)).and_then(|_| found.rsplit_once('.'));
        kustomize::FILE_NAMES.contains(&written.map_or(found, |(written, _)| written))
    };
    names.iter().any(|found| is_it(found))
}

fn is_below_kustomization(repository: &Repository, file: &str) -> bool {
    let mut directory = path::parent(file);
    loop {
        if is_kustomized(repository, directory) {
            return true;
        }
        if directory.is_empty() {
            return false;
        }
        directory = path::parent(directory);
    }
}

fn files_in(repository: &Repository, directory: &str) -> Vec<String> {
    let names = repository.names(directory).iter();
    let names = names.filter(|name| [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending)));
    names.map(|name| format!("{directory}/{name}")).collect()
}
