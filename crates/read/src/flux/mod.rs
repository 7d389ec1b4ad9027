//! Flux: its objects read, its clusters found and put together the way its controllers would.

mod assemble;
mod builds;
mod entry;
mod helm_release;
mod kustomization;
mod roots;
mod source;
mod sync;
mod variables;
mod version;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use assemble::{Assembled, Built, Origin};
pub(crate) use helm_release::{HelmRelease, ValuesFrom};
pub(crate) use kustomization::Kustomization;
use source::Sources;
pub(crate) use version::find as flux_version;

use builds::Builds;
use entry::{Entry, Written};
use roots::Reached;
use variables::Settings;

use crate::object::Object;
use crate::repository::Repository;

/// What the files say that all clusters of a repository have in common, read once.
#[derive(Debug)]
struct Common<'a> {
    repository: &'a Repository,
    sources: Sources<'a>,
    settings: Settings,
    written: Vec<Written<'a>>,
}

impl<'a> Common<'a> {
    fn read(repository: &'a Repository) -> Self {
        let (mut sources, settings) = (Sources::new(repository), Settings::of(repository));
        let written = entry::written(repository, &sources);
        sources.locate(&written);
        Self { repository, sources, settings, written }
    }
}

/// The clusters of a repository that are put together so far, and what they have in common with those still to come.
#[derive(Debug)]
pub(crate) struct Clusters<'a> {
    common: Common<'a>,
    entries: Vec<Entry>,
    builds: Builds,
}

impl<'a> Clusters<'a> {
    /// Puts together the clusters that the files themselves declare.
    pub(crate) fn declared(repository: &'a Repository) -> (Self, Vec<Assembled>) {
        let common = Common::read(repository);
        let (entries, mut builds) = (entry::declared(&common), Builds::default());
        let assembled = assemble::assemble(&common, &entries, &mut builds);
        let live = entry::are_live(repository, &entries, &builds);
        let kept = entries.into_iter().zip(assembled).zip(live).filter_map(|(pair, is_live)| is_live.then_some(pair));
        let (entries, assembled) = kept.unzip();
        (Self { common, entries, builds }, assembled)
    }

    /// Puts together what somebody must start by hand, given the files that are reached without it.
    pub(crate) fn undeclared(&mut self, live: &BTreeSet<String>) -> Vec<Assembled> {
        let (files, directories) = (self.files().collect(), self.builds.directories().collect());
        let entries = roots::entries(&self.common, &Reached { entries: &self.entries, files, directories }, live);
        let assembled = assemble::assemble(&self.common, &entries, &mut self.builds);
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

/// What there is of Flux in the files of a repository, whether or not anything leads there.
#[derive(Clone, Debug, Default)]
pub struct Lying {
    /// How many objects there are of each kind.
    pub objects: BTreeMap<String, usize>,
    /// The paths that FluxInstances sync, as they are written, and the file of each.
    pub syncs: Vec<(String, String)>,
}

/// What there is of Flux in a repository in which no entry point was found.
pub fn lying(repository: &Repository) -> Lying {
    let mut lying = Lying::default();
    for (_, file, documents) in repository.yaml_files() {
        for node in documents.iter().filter_map(|document| document.root.as_ref()) {
            let object = Object::new(node);
            let is_flux = [KUSTOMIZE_GROUP, HELM_GROUP, CONTROL_PLANE_GROUP].contains(&object.group());
            if is_flux && !object.name().is_empty() {
                *lying.objects.entry(object.kind().to_owned()).or_default() += 1;
            }
            let path = sync::sync_of(node).and_then(|sync| sync.text_at(&["path"]));
            lying.syncs.extend(path.map(|path| (path.to_owned(), file.to_owned())));
        }
    }
    lying
}

/// The API groups of Flux's own kinds.
pub(crate) const KUSTOMIZE_GROUP: &str = "kustomize.toolkit.fluxcd.io";
pub(crate) const HELM_GROUP: &str = "helm.toolkit.fluxcd.io";
pub(crate) const SOURCE_GROUP: &str = "source.toolkit.fluxcd.io";
pub(crate) const SOURCE_EXTENSIONS_GROUP: &str = "source.extensions.fluxcd.io";
pub(crate) const CONTROL_PLANE_GROUP: &str = "fluxcd.controlplane.io";
