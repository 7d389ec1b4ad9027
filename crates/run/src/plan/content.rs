//! The hash of a step: of everything that decides what it does. Same hash, same step.

use std::fmt::Write as _;

use kustomize::Files as _;
use model::{Component, Stage};
use read::Repository;
use read::helmfile::Early;
use sha2::{Digest as _, Sha256};

use super::{Action, Proof};

const HEX_BYTES: usize = 8;

/// Of what the step says of itself, and of the texts behind it.
pub(super) fn hash(action: &Action, proof: &Proof, texts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in [serde_json::to_vec(action), serde_json::to_vec(proof)] {
        add(&mut hasher, &part.unwrap_or_default());
    }
    for text in texts {
        add(&mut hasher, text);
    }
    let mut hex = String::with_capacity(2 * HEX_BYTES);
    for byte in hasher.finalize().iter().take(HEX_BYTES) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// Lengths first, so that no two lists of parts look alike.
fn add(hasher: &mut Sha256, part: &[u8]) {
    hasher.update((part.len() as u64).to_le_bytes());
    hasher.update(part);
}

/// The texts that a component is made of: the file that declares it, all below the directory that it builds, the values of a release of a
/// helmfile, and for what a bootstrap seeds all that it applies.
pub(super) fn texts<'a>(repository: &'a Repository, early: &'a Early, component: &'a Component) -> Vec<&'a [u8]> {
    let mut paths: Vec<&str> = repository.path(component.at.file).into_iter().collect();
    if let Some(directory) = component.path.as_deref().filter(|path| !path.is_empty()) {
        paths.extend(below(repository, directory));
    }
    let releases = early.helmfiles.iter().flat_map(|helmfile| &helmfile.releases);
    let own = releases.filter(|release| release.object() == component.object);
    paths.extend(own.flat_map(|release| &release.values_files).map(String::as_str));
    if component.stage == Stage::Bootstrap && component.object.kind == "Bootstrap" {
        paths.extend(early.files.iter().map(|file| file.path.as_str()));
        paths.extend(early.directories.iter().flat_map(|directory| below(repository, directory)));
    }
    paths.into_iter().filter_map(|path| repository.bytes(path)).collect()
}

fn below<'a>(repository: &'a Repository, directory: &'a str) -> impl Iterator<Item = &'a str> {
    let is_below = move |path: &&str| path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'));
    repository.paths().filter(is_below)
}

/// The texts of a directory that a tool is run in, without what the tool itself leaves there.
pub(super) fn directory<'a>(repository: &'a Repository, directory: &'a str) -> Vec<&'a [u8]> {
    let is_ours = |path: &&str| !path.contains("/.terraform");
    below(repository, directory).filter(is_ours).filter_map(|path| repository.bytes(path)).collect()
}
