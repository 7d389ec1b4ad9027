//! Texts that are not on the disk: what an editor holds, or what an edit would make.

use std::collections::BTreeMap;

/// Texts by path, from the root of the repository. They win over the disk; a path that is not there is one more file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsaved(BTreeMap<String, String>);

impl Unsaved {
    /// From now on this is what a file holds.
    pub fn set(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.0.insert(path.into(), text.into());
    }

    /// What a file holds, if it is not what is on the disk.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// All paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}
