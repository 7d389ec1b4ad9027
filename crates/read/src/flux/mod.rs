//! Flux: its objects read, its clusters found and put together the way its controllers would.

mod assemble;
mod entry;
mod helm_release;
mod kustomization;
mod source;
mod variables;
mod version;

pub(crate) use assemble::{Assembled, Built, Origin, assemble};
pub(crate) use entry::{declared, undeclared};
pub(crate) use helm_release::{HelmRelease, ValuesFrom};
pub(crate) use kustomization::Kustomization;
use source::Sources;
pub(crate) use version::find as flux_version;

use entry::Written;
use variables::Settings;

use crate::repository::Repository;

/// What the files say that all clusters of a repository have in common, read once.
#[derive(Debug)]
pub(crate) struct Common<'a> {
    repository: &'a Repository,
    sources: Sources<'a>,
    settings: Settings,
    written: Vec<Written<'a>>,
}

impl<'a> Common<'a> {
    pub(crate) fn read(repository: &'a Repository) -> Self {
        let (sources, settings) = (Sources::new(repository), Settings::of(repository));
        Self { repository, sources, settings, written: entry::written(repository) }
    }
}

/// The API groups of Flux's own kinds.
pub(crate) const KUSTOMIZE_GROUP: &str = "kustomize.toolkit.fluxcd.io";
pub(crate) const HELM_GROUP: &str = "helm.toolkit.fluxcd.io";
pub(crate) const SOURCE_GROUP: &str = "source.toolkit.fluxcd.io";
pub(crate) const SOURCE_EXTENSIONS_GROUP: &str = "source.extensions.fluxcd.io";
pub(crate) const CONTROL_PLANE_GROUP: &str = "fluxcd.controlplane.io";
