//! Directories in which another tool keeps its packages: other people's code, with test data that looks like manifests.
//!
//! Nothing of them is part of a repository until somebody asks for a path in one. Whoever opened the repository is told so,
//! and opens it again with all of them: that is rare, and the walk is shorter for everybody else.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::path;

const NAMES: [&str; 3] = ["ansible_collections", "node_modules", "site-packages"];

/// Whether a directory of this name holds packages.
pub(super) fn is_one(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Whether a path lies in a directory of packages.
pub(super) fn hold(path: &str) -> bool {
    let directories = path.rsplit_once('/').map_or("", |(directories, _)| directories);
    NAMES.iter().any(|name| directories.contains(name)) && directories.split('/').any(is_one)
}

/// What to do with directories of packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packages {
    Left,
    Entered,
}

/// The directories of packages that were left out.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    directories: Vec<String>,
    is_wanted: AtomicBool,
}

impl LeftOut {
    pub(super) fn new(directories: Vec<String>) -> Self {
        Self { directories, is_wanted: AtomicBool::new(false) }
    }

    /// Somebody asked for a path that is not there.
    pub(super) fn ask(&self, path: &str) {
        self.want_if(|directory| path::is_below(path, directory));
    }

    /// Somebody asked for all that a directory holds.
    pub(super) fn ask_all(&self, listed: &str) {
        self.want_if(|directory| path::parent(directory) == listed);
    }

    fn want_if(&self, is_meant: impl Fn(&str) -> bool) {
        if self.directories.iter().any(|directory| is_meant(directory)) {
            self.is_wanted.store(true, Ordering::Relaxed);
        }
    }

    /// Whether anybody asked for what was left out.
    pub(super) fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed)
    }
}
