//! Flux: its objects read, its clusters found and put together the way its controllers would.

mod assemble;
mod builds;
mod common_metadata;
mod controllers;
mod entry;
mod faults;
mod handed;
mod helm_release;
mod instance_patches;
mod kustomization;
mod overlays;
mod parts;
mod patched;
mod revision;
mod roots;
mod set_component;
mod source;
mod sync;
mod told;
mod variables;
mod version;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};

pub(crate) use assemble::{Assembled, Built, Origin};
pub(crate) use controllers::find as flux_controllers;
pub(crate) use helm_release::{HelmRelease, ValuesFrom};
pub(crate) use kustomization::Kustomization;
use source::Sources;
pub(crate) use version::find as flux_version;

use model::ObjectRef;
use yaml::Node;

use builds::Builds;
use entry::{Entry, Written};
use handed::Handed;
use overlays::Overlays;
use roots::Reached;
use variables::Settings;

use crate::ledger::Ledger;
use crate::object::Object;
use crate::repository::{IgnoreOfSource, Repository};
use crate::terraform::{self, Provided};
use ::repository::path;

/// What the files say that all clusters of a repository have in common, read once.
#[derive(Debug)]
struct Common<'a> {
    repository: &'a Repository,
    sources: Sources<'a>,
    settings: Settings,
    written: Vec<Written<'a>>,
    /// The source that is this repository: the one that most Kustomizations name.
    own: Option<ObjectRef>,
    overlays: Overlays<'a>,
    /// Directories that Kustomizations with a kubeconfig apply to another cluster.
    handed_over: Arc<[String]>,
    /// The ResourceSetInputProviders of the repository.
    providers: Vec<Node>,
    /// What Terraform brings; see [`Common::provided`].
    provided: OnceLock<Provided>,
    /// What scripts hand to Flux, beside the directories that clusters begin with.
    handed: OnceLock<Handed>,
    /// For builds that are made to find out where clusters begin.
    search: Mutex<Ledger>,
}

impl<'a> Common<'a> {
    fn read(repository: &'a Repository) -> Self {
        let providers = input_providers(repository);
        let (mut sources, settings) = (Sources::new(repository, &providers), Settings::of(repository));
        let (written, own) = entry::written(repository, &sources);
        sources.locate(&written, own.as_ref());
        let overlays = Overlays::read(repository);
        let remote = written.iter().filter(|it| it.node.at(&["spec", "kubeConfig"]).is_some());
        let handed_over = remote.filter_map(|it| it.covers.clone()).collect();
        Self {
            repository,
            sources,
            settings,
            written,
            own,
            overlays,
            handed_over,
            providers,
            provided: OnceLock::new(),
            handed: OnceLock::new(),
            search: Mutex::default(),
        }
    }

    /// Whether Terraform writes a file into the repository.
    fn is_written_by_terraform(&self, path: &str) -> bool {
        self.provided().writes(path)
    }

    fn handed(&self) -> &Handed {
        self.handed.get_or_init(|| Handed::of(self.repository, &self.written))
    }

    fn provided(&self) -> &Provided {
        self.provided.get_or_init(|| terraform::provided(self.repository))
    }

    /// What a directory is built to, to find out where clusters begin.
    fn build(&self, directory: &str, overlay: &kustomize::Overlay) -> kustomize::Build {
        self.search(|ledger| ledger.one(|budget| self.repository.build(directory, overlay, budget)))
    }

    /// Does something of the search for where clusters begin.
    fn search<O>(&self, work: impl FnOnce(&mut Ledger) -> O) -> O {
        match self.search.lock() {
            Ok(mut ledger) => work(&mut ledger),
            Err(_) => work(&mut Ledger::default()),
        }
    }
}

/// The clusters that the settings list, with what their own declarations say; those that are declared, where the settings list none.
fn chosen(repository: &Repository, declared: Vec<Entry>) -> Vec<Entry> {
    let said = repository.entry_points();
    if said.is_empty() {
        return declared;
    }
    let of = |directory: &String| {
        let found = declared.iter().find(|entry| entry.directory == *directory).cloned();
        found.unwrap_or_else(|| roots::at_hand(directory))
    };
    said.iter().map(of).collect()
}

/// See [`source::ignored`].
pub(crate) fn ignored_by_sources(repository: &Repository) -> Vec<IgnoreOfSource> {
    source::ignored(repository)
}

/// ResourceSetInputProviders anywhere in the repository.
fn input_providers(repository: &Repository) -> Vec<Node> {
    let documents = repository.yaml_files().flat_map(|(_, _, documents)| documents);
    let roots = documents.filter_map(|document| document.root.as_ref());
    roots.filter(|node| Object::new(node).is(CONTROL_PLANE_GROUP, "ResourceSetInputProvider")).cloned().collect()
}

/// The clusters of a repository that are put together so far, and what they have in common with those still to come.
#[derive(Debug)]
pub(crate) struct Clusters<'a> {
    common: Common<'a>,
    entries: Vec<Entry>,
    /// Directories with files that a script hands to clusters.
    handed: BTreeSet<String>,
    builds: Builds,
    ledger: Ledger,
}

impl<'a> Clusters<'a> {
    /// Puts together the clusters that the files themselves declare.
    pub(crate) fn declared(repository: &'a Repository) -> (Self, Vec<Assembled>) {
        let common = Common::read(repository);
        let (mut builds, mut ledger) = (Builds::default(), Ledger::default());
        let entries = chosen(repository, entry::declared(&common, &mut builds));
        let assembled = assemble::assemble(&common, &entries, &mut builds, &mut ledger);
        let is_chosen = !repository.entry_points().is_empty();
        let live = entry::are_live(repository, &entries, &builds);
        let parts = parts::among(&common, &entries, &assembled);
        let is_kept = live.iter().zip(&parts).map(|(is_live, is_part)| is_chosen || (*is_live && !is_part));
        let kept: Vec<bool> = is_kept.collect();
        let kept = entries.into_iter().zip(assembled).zip(kept).filter_map(|(pair, is_kept)| is_kept.then_some(pair));
        let (entries, assembled): (Vec<Entry>, Vec<Assembled>) = kept.unzip();
        let handed = handed_to(&common, &entries, &assembled);
        (Self { common, entries, handed, builds, ledger }, assembled)
    }

    /// Puts together what somebody must start by hand, given the files that are reached without it.
    pub(crate) fn undeclared(&mut self, live: &BTreeSet<String>) -> Vec<Assembled> {
        if !self.common.repository.entry_points().is_empty() {
            return Vec::new();
        }
        let is_first = self.entries.is_empty();
        let mut found = self.applied_as_files();
        found.extend(self.applied_as_directories(live));
        if found.is_empty() && is_first {
            // What the bootstrap hands to Flux is a part of the bootstrap, and where Flux begins.
            let own = self.files().collect();
            found.extend(self.applied_as_directories(&own));
        }
        found
    }

    /// One after the other: what lies in a part that another one reaches is no cluster of its own, but a leftover of it.
    fn applied_as_files(&mut self) -> Vec<Assembled> {
        let mut found = Vec::new();
        let files: BTreeSet<String> = self.files().collect();
        for entry in roots::applied_as_files(&self.common, &files) {
            let home = entry.name.as_ref().unwrap_or(&entry.directory);
            let is_inside = |file: &String| path::is_below(path::parent(file), home);
            if self.builds.files().any(is_inside) {
                continue;
            }
            let entry_alone = std::slice::from_ref(&entry);
            let assembled = assemble::assemble(&self.common, entry_alone, &mut self.builds, &mut self.ledger);
            found.extend(assembled.into_iter().filter(|one| !one.objects.is_empty()));
            self.entries.push(entry);
        }
        found
    }

    fn applied_as_directories(&mut self, live: &BTreeSet<String>) -> Vec<Assembled> {
        let (files, directories) = (self.files().collect(), self.builds.directories().collect());
        let entries = roots::entries(&self.common, &Reached { entries: &self.entries, files, directories }, live);
        let assembled = assemble::assemble(&self.common, &entries, &mut self.builds, &mut self.ledger);
        self.handed.extend(handed_to(&self.common, &entries, &assembled));
        let is_own = |entry: &Entry| !self.handed.contains(entry.directory.as_str());
        let pairs = entries.into_iter().zip(assembled).filter(|(entry, _)| is_own(entry));
        let (entries, assembled): (Vec<Entry>, Vec<Assembled>) = pairs.unzip();
        self.entries.extend(entries);
        assembled
    }

    /// The files that the clusters reach.
    pub(crate) fn files(&self) -> impl Iterator<Item = String> {
        // Whoever starts a cluster applies its root, whether or not something lists its file.
        let roots = self.entries.iter().map(|entry| entry.root.at).filter(|at| !at.is_generated());
        let roots = roots.filter_map(|at| self.common.repository.path(at.file)).map(str::to_owned);
        self.builds.files().cloned().chain(roots)
    }
}

/// The directories with files that a script hands to clusters, which wait for what is in them: they begin none.
fn handed_to(common: &Common<'_>, entries: &[Entry], assembled: &[Assembled]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    // Nobody has asked for any of it.
    let Some(handed) = common.handed.get() else { return found };
    for (entry, one) in entries.iter().zip(assembled) {
        let files = one.kustomizations.iter().filter_map(|(_, it)| handed.file(&it.object));
        found.extend(files.map(path::parent).filter(|home| *home != entry.directory).map(str::to_owned));
    }
    found
}

/// What there is of Flux in the files of a repository, whether or not anything leads there.
#[derive(Clone, Debug, Default)]
pub struct FluxObjects {
    /// How many objects there are of each kind.
    pub objects: BTreeMap<String, usize>,
    /// The paths that FluxInstances sync, as they are written, and the file of each.
    pub syncs: Vec<(String, String)>,
    /// The directories to apply for these objects to be made, sorted.
    pub directories: BTreeSet<String>,
    /// How many objects of Argo CD there are, which nothing here reads.
    pub argo_cd: usize,
}

/// What there is of Flux in a repository in which no entry point was found.
pub fn flux_objects(repository: &Repository) -> FluxObjects {
    let mut found = FluxObjects::default();
    let overlays = Overlays::read(repository);
    for (_, file, documents) in repository.yaml_files() {
        for node in documents.iter().filter_map(|document| document.root.as_ref()) {
            let object = Object::new(node);
            let is_flux = [KUSTOMIZE_GROUP, HELM_GROUP, CONTROL_PLANE_GROUP].contains(&object.group());
            if is_flux && !object.name().is_empty() {
                *found.objects.entry(object.kind().to_owned()).or_default() += 1;
                found.directories.extend(roots::starts_of(&overlays, file).into_iter().map(str::to_owned));
            }
            found.argo_cd += usize::from(object.group() == ARGO_CD_GROUP && !object.name().is_empty());
            let path = sync::sync_of(node).and_then(|sync| sync.text_at(&["path"]));
            found.syncs.extend(path.map(|path| (path.to_owned(), file.to_owned())));
        }
    }
    found
}

/// The API group of Argo CD.
const ARGO_CD_GROUP: &str = "argoproj.io";
/// The API groups of Flux's own kinds.
pub(crate) const KUSTOMIZE_GROUP: &str = "kustomize.toolkit.fluxcd.io";
pub(crate) const HELM_GROUP: &str = "helm.toolkit.fluxcd.io";
pub(crate) const SOURCE_GROUP: &str = "source.toolkit.fluxcd.io";
pub(crate) const SOURCE_EXTENSIONS_GROUP: &str = "source.extensions.fluxcd.io";
pub(crate) const CONTROL_PLANE_GROUP: &str = "fluxcd.controlplane.io";
