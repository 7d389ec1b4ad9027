//! What is applied before GitOps starts: directories, files and Secrets.
//!
//! Knows three signs: a path with a part named `bootstrap`, the commands of bootstrap scripts, and the hooks of
//! helmfiles. Does not know whether anybody ran them.

use std::collections::{BTreeMap, BTreeSet};

use kustomize::{Files, PathKind};
use model::BlindSpot;
use yaml::{EcoString, Node, Span};

use super::script::{Applied, Scripts};
use super::{Helmfile, Release, is_archived, is_bootstrap, neutral};
use crate::path;
use crate::repository::Repository;

/// How templates of manifests end.
const TEMPLATES: [&str; 4] = [".yaml.j2", ".yml.j2", ".yaml.tpl", ".yml.tpl"];

/// A file that a bootstrap applies, with its objects.
#[derive(Clone, Debug)]
pub struct BootstrapFile {
    pub path: String,
    /// The namespace that the command gives to objects that name none.
    pub namespace: Option<String>,
    pub objects: Vec<Node>,
}

/// Everything that is there before GitOps starts, as far as the repository tells.
#[derive(Clone, Debug, Default)]
pub struct Early {
    /// In the order they run.
    pub helmfiles: Vec<Helmfile>,
    /// Built with kustomize and applied; sorted.
    pub directories: Vec<String>,
    /// Applied as they are, sorted by path.
    pub files: Vec<BootstrapFile>,
    /// Namespace, name, and where that is written.
    pub secrets: Vec<(String, String, Span)>,
    /// Programs that seem to bootstrap a cluster, in languages that are not read.
    pub programs: Vec<String>,
    /// Scripts that apply the CRDs of charts which nobody can tell, each with the place of such a command.
    pub unclear_crds: Vec<(String, Span)>,
    /// What commands of scripts apply and nobody has, with the place of each.
    pub absent: Vec<(String, Span)>,
    /// What of the helmfiles could not be read.
    pub blind: Vec<BlindSpot>,
}

/// What a program that puts things into a cluster speaks of.
const PROGRAM_WORDS: [&str; 3] = ["CustomResourceDefinition", "kubectl", "helm"];

/// Reads all of it in one go: the four functions beside this one give a part each, at the same cost.
pub fn read_early(repository: &Repository) -> Early {
    let scripts = Scripts::read(repository);
    let (mut helmfiles, mut blind) = super::helmfiles(repository, &scripts);
    super::leftover::remove(repository, &mut helmfiles, &mut blind);
    for script in super::installed::by_scripts(&scripts) {
        add_unknown(&mut helmfiles, script);
    }
    let all = scripts.applied();
    let applied = early_applied(&all, &helmfiles);
    let directories = directories(repository, &applied);
    let files = files(repository, &applied);
    let secrets = secrets(repository, &files, &scripts, &all);
    let programs = repository.paths().filter(|path| is_program(repository, path)).map(str::to_owned).collect();
    let unclear_crds = super::pulled::unclear(&scripts);
    let absent = super::absent::by_scripts(&scripts);
    Early { helmfiles, directories, files, secrets, programs, unclear_crds, absent, blind }
}

/// Adds what a script installs and no helmfile does: a task that installs one of its releases again is a repair, not a step.
fn add_unknown(helmfiles: &mut Vec<Helmfile>, mut script: Helmfile) {
    let own = before_bootstrap(&script.path).to_owned();
    let is_near = |helmfile: &&Helmfile| {
        let other = before_bootstrap(&helmfile.path);
        path::is_below(other, &own) || path::is_below(&own, other)
    };
    let known: BTreeSet<(EcoString, EcoString)> = helmfiles
        .iter()
        .filter(is_near)
        .flat_map(|helmfile| &helmfile.releases)
        .filter(|release| !release.only_crds)
        .map(|release| (release.namespace.clone(), release.name.clone()))
        .collect();
    let is_known = |release: &Release| known.contains(&(release.namespace.clone(), release.name.clone()));
    script.releases.retain(|release| release.only_crds || !is_known(release));
    if !script.releases.is_empty() {
        helmfiles.push(script);
    }
}

/// The directory that a bootstrap lies in: two clusters may have one each.
fn before_bootstrap(path: &str) -> &str {
    let directory = path.find("bootstrap").map_or(path, |at| &path[..at]);
    path::parent(directory)
}

/// A program below a directory or of a name that says bootstrap, which speaks of what is applied to a cluster.
fn is_program(repository: &Repository, path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_unread = matches!(ending, "go" | "py" | "ts" | "js" | "rb" | "rs" | "nu" | "ps1");
    let speaks = |text: &str| PROGRAM_WORDS.iter().any(|word| text.contains(word));
    is_unread
        && is_bootstrap(path)
        && !is_archived(path)
        && repository.id(path).and_then(|file| repository.source(file)).is_some_and(|source| speaks(source.text()))
}

/// The directories that are built with kustomize and applied before GitOps starts, sorted.
pub fn bootstrap_directories(repository: &Repository) -> Vec<String> {
    read_early(repository).directories
}

/// The files that are applied as they are (templates neutralised) before GitOps starts, sorted by path.
pub fn bootstrap_files(repository: &Repository) -> Vec<BootstrapFile> {
    read_early(repository).files
}

/// The Secrets that are there before GitOps starts: namespace, name, and where that is written.
pub fn seeded_secrets(repository: &Repository) -> Vec<(String, String, Span)> {
    read_early(repository).secrets
}

fn directories(repository: &Repository, applied: &[Applied]) -> Vec<String> {
    let mut directories = kustomize_roots(repository);
    let targets = applied.iter().map(|applied| applied.path.as_str());
    let kustomized =
        targets.filter(|path| repository.kind(path) == PathKind::Directory && is_kustomized(repository, path));
    directories.extend(kustomized.map(str::to_owned));
    directories.into_iter().collect()
}

fn files(repository: &Repository, applied: &[Applied]) -> Vec<BootstrapFile> {
    let mut wanted: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (_, file, documents) in repository.yaml_files() {
        if !in_bootstrap(file) || is_archived(file) {
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
    let mut files: Vec<BootstrapFile> = applied.chain(templates).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Templates of manifests in a bootstrap directory that no script was seen to apply. Only what a bootstrap alone makes is taken from
/// them: the directory may hold the templates of a whole cluster, too.
fn templates(repository: &Repository) -> impl Iterator<Item = BootstrapFile> {
    let is_template = |path: &&str| {
        let is_named = TEMPLATES.iter().any(|ending| path.ends_with(ending));
        is_named && in_bootstrap(path) && !is_archived(path) && !is_below_kustomization(repository, path)
    };
    let files = repository.paths().filter(is_template);
    files.filter_map(|path| {
        let mut file = bootstrap_file(repository, path.to_owned(), None)?;
        file.objects.retain(|object| matches!(object.text_at(&["kind"]), Some("Secret" | "Namespace")));
        file.objects.retain(|object| !object.text_at(&["metadata", "name"]).is_none_or(neutral::is_unknown));
        (!file.objects.is_empty()).then_some(file)
    })
}

/// Each Secret once for each directory: two clusters may have one of the same name, each at home.
fn secrets(
    repository: &Repository,
    files: &[BootstrapFile],
    scripts: &Scripts,
    applied: &[Applied],
) -> Vec<(String, String, Span)> {
    let mut found: Vec<(String, String, Span)> = Vec::new();
    for file in files {
        for object in file.objects.iter().filter(|object| object.text_at(&["kind"]) == Some("Secret")) {
            let Some(name) = object.at(&["metadata", "name"]) else { continue };
            let Some(text) = name.text().filter(|text| !neutral::is_unknown(text)) else { continue };
            let written = object.text_at(&["metadata", "namespace"]).filter(|text| !neutral::is_unknown(text));
            let namespace = written.or(file.namespace.as_deref()).unwrap_or("default");
            found.push((namespace.to_owned(), text.to_owned(), name.span));
        }
    }
    found.extend(scripts.created_secrets().into_iter().map(|created| (created.namespace, created.name, created.span)));
    for missing in applied.iter().filter(|applied| applied.is_missing && applied.by_bootstrap) {
        // A file that is kept out of Git: by custom it is named after its Secret.
        let name = missing.path.rsplit('/').next().unwrap_or_default().split(".sops.").next().unwrap_or_default();
        let namespace = missing.namespace.clone().unwrap_or_else(|| "default".to_owned());
        found.push((namespace, name.to_owned(), missing.span));
    }
    let directory = |at: Span| repository.path(at.file).map(path::parent);
    let mut seen = BTreeSet::new();
    found.retain(|(namespace, name, at)| seen.insert((namespace.clone(), name.clone(), directory(*at))));
    found.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    found
}

/// What bootstrap scripts and the hooks of helmfiles apply. Other scripts count where they apply what lies in a
/// bootstrap directory, or decrypt what they apply: nobody but a bootstrap does that.
fn early_applied(all: &[Applied], helmfiles: &[Helmfile]) -> Vec<Applied> {
    let is_early =
        |applied: &&Applied| applied.by_bootstrap || in_bootstrap(&applied.path) || applied.path.contains(".sops.");
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
        if !kustomize::FILE_NAMES.contains(&name) || !in_bootstrap(file) || is_archived(file) {
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

fn bootstrap_file(repository: &Repository, path: String, namespace: Option<String>) -> Option<BootstrapFile> {
    let id = repository.id(&path)?;
    let text = repository.source(id)?.text();
    // What is no template has been parsed already.
    let parsed = repository.documents(&path).filter(|_| !neutral::is_template(text));
    let documents = match parsed {
        Some((_, documents)) => documents.iter().filter_map(|document| document.root.clone()).collect(),
        None => neutral::parse(id, text),
    };
    let objects: Vec<Node> = documents.into_iter().filter(is_object).collect();
    (!objects.is_empty()).then_some(BootstrapFile { path, namespace, objects })
}

fn is_object(node: &Node) -> bool {
    let version = node.text_at(&["apiVersion"]);
    let is_build_file = version.is_some_and(|version| version.starts_with("kustomize.config.k8s.io/"));
    version.is_some() && node.text_at(&["kind"]).is_some() && !is_build_file
}

fn in_bootstrap(path: &str) -> bool {
    path::parent(path).split('/').any(|part| part == "bootstrap" || part == ".bootstrap")
        || path.rsplit('/').next() == Some("bootstrap")
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
