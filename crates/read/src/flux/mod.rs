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

use std::collections::BTreeSet;

pub(crate) use assemble::{Assembled, Built, Origin};
pub(crate) use helm_release::{HelmRelease, ValuesFrom};
pub(crate) use kustomization::Kustomization;
use source::Sources;
pub(crate) use version::find as flux_version;

use builds::Builds;
use entry::{Entry, Written};
use roots::Reached;
use variables::Settings;

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
        let (sources, settings) = (Sources::new(repository), Settings::of(repository));
        Self { repository, sources, settings, written: entry::written(repository) }
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

/// The API groups of Flux's own kinds.
pub(crate) const KUSTOMIZE_GROUP: &str = "kustomize.toolkit.fluxcd.io";
pub(crate) const HELM_GROUP: &str = "helm.toolkit.fluxcd.io";
pub(crate) const SOURCE_GROUP: &str = "source.toolkit.fluxcd.io";
pub(crate) const SOURCE_EXTENSIONS_GROUP: &str = "source.extensions.fluxcd.io";
pub(crate) const CONTROL_PLANE_GROUP: &str = "fluxcd.controlplane.io";
