//! Directories in which another tool keeps its packages: other people's code, with test data that looks like manifests.
//!
//! Nothing of them is part of a tree until a path in one is asked for. Then the tree says so, and is opened again with all
//! of them: that is rare, and the walk is shorter for all other repositories.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::path;

const NAMES: [&str; 3] = ["ansible_collections", "node_modules", "site-packages"];

/// Whether a directory of this name holds packages.
pub(crate) fn is_one(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Whether a path lies in a directory of packages.
pub fn hold_packages(path: &str) -> bool {
    let directories = path.rsplit_once('/').map_or("", |(directories, _)| directories);
    NAMES.iter().any(|name| directories.contains(name)) && directories.split('/').any(is_one)
}

/// What to do with directories of packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packages {
    /// They are left out, until a path in one is asked for.
    Left,
    /// They are looked into.
    Entered,
}

/// The directories of packages that were left out.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    directories: Vec<String>,
    is_wanted: AtomicBool,
}

impl LeftOut {
    pub(crate) fn new(directories: Vec<String>) -> Self {
        Self { directories, is_wanted: AtomicBool::new(false) }
    }

    /// A path was asked for that is not there.
    pub(crate) fn ask(&self, path: &str) {
        self.want_if(|directory| path::is_below(path, directory));
    }

    /// All that a directory holds was asked for.
    pub(crate) fn ask_all(&self, listed: &str) {
        self.want_if(|directory| path::parent(directory) == listed);
    }

    fn want_if(&self, is_meant: impl Fn(&str) -> bool) {
        if self.directories.iter().any(|directory| is_meant(directory)) {
            self.is_wanted.store(true, Ordering::Relaxed);
        }
    }

    /// Whether anything that was left out was asked for.
    pub(crate) fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed)
    }
}
