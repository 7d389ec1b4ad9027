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
pub(crate) use source::Sources;
pub(crate) use version::find as flux_version;

/// The API groups of Flux's own kinds.
pub(crate) const KUSTOMIZE_GROUP: &str = "kustomize.toolkit.fluxcd.io";
pub(crate) const HELM_GROUP: &str = "helm.toolkit.fluxcd.io";
pub(crate) const SOURCE_GROUP: &str = "source.toolkit.fluxcd.io";
pub(crate) const SOURCE_EXTENSIONS_GROUP: &str = "source.extensions.fluxcd.io";
pub(crate) const CONTROL_PLANE_GROUP: &str = "fluxcd.controlplane.io";
