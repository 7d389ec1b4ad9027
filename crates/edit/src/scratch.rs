//! Directories for what a run lays out and takes away again, also when a signal ends it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

/// Those that are there now.
static ALL: LazyLock<Mutex<BTreeSet<PathBuf>>> = LazyLock::new(Mutex::default);

fn all() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A directory for its owner alone, removed with everything in it when this is dropped, and by [`Scratch::remove_all`].
#[derive(Debug)]
pub struct Scratch(TempDir);

impl Scratch {
    /// An empty one, where the system keeps such things.
    pub fn new() -> io::Result<Self> {
        // Held from before it is made: a signal in between finds it in the list.
        let mut all = all();
        let made = tempfile::Builder::new().prefix("coldstart-").tempdir()?;
        all.insert(made.path().to_path_buf());
        Ok(Self(made))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Removes all of them at once, and lets no new one be made: for those who end the program on a signal.
    pub fn remove_all() {
        let all = all();
        for path in all.iter() {
            // Files may still be written there: what is left after that is written once more is removed, too.
            let _first = fs::remove_dir_all(path);
            let _again = fs::remove_dir_all(path);
        }
        // Who would make another one waits until the program has ended.
        std::mem::forget(all);
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        all().remove(self.0.path());
    }
}
