//! The hash of a step: of everything that decides what it does. Same hash, same step.

use std::fmt::Write as _;

use kustomize::Files as _;
use model::Component;
use read::Repository;
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

/// The texts that a component is made of: the file that declares it, and all below the directory that it builds.
pub(super) fn texts<'a>(repository: &'a Repository, component: &Component) -> Vec<&'a [u8]> {
    let mut paths: Vec<&str> = repository.path(component.at.file).into_iter().collect();
    if let Some(directory) = component.path.as_deref().filter(|path| !path.is_empty()) {
        let is_below = |path: &&str| path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'));
        paths.extend(repository.paths().filter(is_below));
    }
    paths.into_iter().filter_map(|path| repository.bytes(path)).collect()
}

/// The texts of a directory that a tool is run in, without what the tool itself leaves there.
pub(super) fn directory<'a>(repository: &'a Repository, directory: &str) -> Vec<&'a [u8]> {
    let is_in = |path: &&str| {
        path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/') && !rest.contains("/.terraform"))
    };
    repository.paths().filter(is_in).filter_map(|path| repository.bytes(path)).collect()
}
