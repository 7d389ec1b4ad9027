//! Why Flux does not apply what a Kustomization builds, and what only looks like a fault because it is encrypted here.

use kustomize::{BuildError, Failure};
use model::{BuildFault, Cause};
use source::Span;
use yaml::Node;

use crate::flux::entry::SYNC_FILE;
use crate::object::Object;
use crate::substitute::SubstituteError;
use ::repository::path;

/// A patch for an object whose name is encrypted.
pub(super) fn is_encrypted(failure: &Failure) -> bool {
    matches!(&failure.error, BuildError::PatchOfNone { object } if object.contains("ENC["))
}

/// Whether a path is what `flux bootstrap` writes for a cluster that begins with a directory.
pub(super) fn is_of_bootstrap(directory: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_file = matches!(name, SYNC_FILE | "gotk-components.yaml");
    let is_directory = name == "flux-system" && path::parent(path) == directory;
    path::is_below(path, directory) && (is_file || is_directory)
}

/// A patch for one of the objects that Flux itself consists of.
pub(super) fn is_patch_of_flux(error: &BuildError) -> bool {
    matches!(error, BuildError::PatchOfNone { object } if object.contains("flux-system"))
}

/// The fault of a Secret that Flux would have to decrypt.
pub(super) fn sealed_by_sops(node: &Node) -> Option<(BuildFault, Span)> {
    let object = Object::new(node);
    let is_one = object.group().is_empty() && object.kind() == "Secret" && node.get("sops").is_some();
    is_one.then(|| (BuildFault::Encrypted { secret: object.name().to_owned() }, object.name_span()))
}

/// Variables that can't be put in.
pub(super) fn fault(error: SubstituteError) -> BuildFault {
    match error {
        SubstituteError::NameOfNone(_) => BuildFault::VariableName(Cause::new(error)),
        _ => BuildFault::Text(Cause::new(error)),
    }
}
