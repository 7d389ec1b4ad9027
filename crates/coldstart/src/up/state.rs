//! Where journals are: outside of the repository, because Flux wants that clean.

use std::path::{Path, PathBuf};

use crate::arguments::StateDirectory;
use crate::failure::Failure;
use crate::{home, place};

const NAME: &str = "journal";

/// The journal of a cluster, by the place of its repository and its name.
pub(super) fn journal(state: &StateDirectory, repository: &Path, cluster: &str) -> Result<PathBuf, Failure> {
    let base = match &state.directory {
        Some(directory) => directory.clone(),
        None => home::ours("XDG_STATE_HOME", ".local/state").ok_or(Failure::NoState)?,
    };
    Ok(place::of(&base, repository, cluster).join(NAME))
}
