//! Texts that are not on the disk: what an editor holds, or what an edit would make.

use std::collections::{BTreeMap, BTreeSet};

/// Texts by path, from the root of the repository. They win over the disk; a path that is not there is one more file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsaved {
    texts: BTreeMap<String, String>,
    removed: BTreeSet<String>,
}

impl Unsaved {
    /// From now on this is what a file holds.
    pub fn set(&mut self, path: impl Into<String>, text: impl Into<String>) {
        let path = path.into();
        self.removed.remove(&path);
        self.texts.insert(path, text.into());
    }

    /// From now on there is no such file.
    pub fn remove(&mut self, path: impl Into<String>) {
        let path = path.into();
        self.texts.remove(&path);
        self.removed.insert(path);
    }

    /// What a file holds, if it is not what is on the disk.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// The paths of all texts, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    /// The paths of files that are there no more, sorted.
    pub fn removed(&self) -> impl Iterator<Item = &str> {
        self.removed.iter().map(String::as_str)
    }

    /// Whether a file that may be on the disk is there no more.
    pub fn is_removed(&self, path: &str) -> bool {
        self.removed.contains(path)
    }
}
