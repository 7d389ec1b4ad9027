//! Where journals are: outside of the repository, because Flux wants that clean.

#![expect(clippy::disallowed_methods, reason = "the journal of a repository is found by where that really is")]

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::arguments::StateDirectory;
use crate::failure::Failure;
use crate::home;

const NAME: &str = "journal";
const DIGEST_BYTES: usize = 8;

/// The journal of a cluster, by the place of its repository and its name.
pub(super) fn journal(state: &StateDirectory, repository: &Path, cluster: &str) -> Result<PathBuf, Failure> {
    let base = match &state.directory {
        Some(directory) => directory.clone(),
        None => home::ours("XDG_STATE_HOME", ".local/state").ok_or(Failure::NoState)?,
    };
    let place = fs::canonicalize(repository).unwrap_or_else(|_| repository.to_owned());
    let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let name: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).collect();
    let digest = Sha256::digest(format!("{}\0{cluster}", place.display()));
    let digits: Vec<String> = digest.iter().take(DIGEST_BYTES).map(|byte| format!("{byte:02x}")).collect();
    Ok(base.join(format!("{name}-{}", digits.concat())).join(NAME))
}
