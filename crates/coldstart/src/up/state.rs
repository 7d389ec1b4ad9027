//! Where journals are: outside of the repository, because Flux wants that clean.

use std::env;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use crate::arguments::StateDirectory;
use crate::failure::Failure;

const NAME: &str = "journal";

/// The journal of a cluster, by the place of its repository and its name.
pub(super) fn journal(state: &StateDirectory, repository: &Path, cluster: &str) -> Result<PathBuf, Failure> {
    let base = match &state.directory {
        Some(directory) => directory.clone(),
        None => default_directory().ok_or(Failure::NoState)?,
    };
    let place = fs::canonicalize(repository).unwrap_or_else(|_| repository.to_owned());
    let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let name: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).collect();
    Ok(base.join(format!("{name}-{:016x}", digest(&place, cluster))).join(NAME))
}

/// The same for the same place for ever: names of directories outlive programs.
fn digest(place: &Path, cluster: &str) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    place.hash(&mut hasher);
    cluster.hash(&mut hasher);
    hasher.finish()
}

struct Fnv(u64);

impl std::hash::Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn default_directory() -> Option<PathBuf> {
    let said = env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || env::var_os("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    Some(said.or_else(|| home().map(|home| home.join(".local/state")))?.join("coldstart"))
}

/// Keeps the old journal beside the new one.
pub(super) fn put_away(path: &Path) -> Result<(), Failure> {
    let free = (1..=u16::MAX).map(|number| path.with_extension(number.to_string())).find(|old| !old.exists());
    match free.map(|old| fs::rename(path, old)) {
        Some(Err(source)) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::WriteFile { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}
