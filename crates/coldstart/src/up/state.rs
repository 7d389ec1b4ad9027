//! Where journals are: outside of the repository, because Flux wants that clean.

use std::fs;
use std::path::{Path, PathBuf};

use crate::arguments::StateDirectory;
use crate::failure::Failure;
use crate::home;

const NAME: &str = "journal";
const DIGEST_DIGITS: usize = 16;

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
    let digest = ::seal::digest_hex(format!("{}\0{cluster}", place.display()).as_bytes());
    Ok(base.join(format!("{name}-{}", &digest[..DIGEST_DIGITS])).join(NAME))
}
