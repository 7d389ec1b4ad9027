//! Which kustomizations take in a file: found by what they name, without building anything.

use std::collections::{BTreeMap, BTreeSet};

use kustomize::{FILE_NAMES, Files, PathKind};
use yaml::Node;

use crate::repository::Repository;
use ::repository::path;

/// The kustomizations of a repository and what they name.
#[derive(Debug, Default)]
pub(super) struct Overlays<'a> {
    /// The directories of the kustomizations that name a path.
    by: BTreeMap<String, BTreeSet<&'a str>>,
    /// The paths that the kustomization of a directory names.
    of: BTreeMap<&'a str, BTreeSet<String>>,
    /// The text of every kustomization, by its directory.
    texts: BTreeMap<&'a str, &'a str>,
}

impl<'a> Overlays<'a> {
    pub(super) fn read(repository: &'a Repository) -> Self {
        let mut overlays = Self::default();
        for (id, file, documents) in repository.yaml_files() {
            let (directory, name) = file.rsplit_once('/').unwrap_or(("", file));
            let is_hidden = || directory.split('/').any(|part| part.starts_with('.'));
            if !FILE_NAMES.contains(&name) || is_hidden() {
                continue;
            }
            overlays.texts.insert(directory, repository.source(id).map_or("", source::Source::text));
            for root in documents.iter().filter_map(|document| document.root.as_ref()) {
                for named in names(root).filter_map(|named| path::join(directory, named)) {
                    if repository.kind(&named) != PathKind::Missing && named != directory {
                        overlays.by.entry(named.clone()).or_default().insert(directory);
                        overlays.of.entry(directory).or_default().insert(named);
                    }
                }
            }
        }
        overlays
    }

    /// The directories of the kustomizations that take in a file, nearest first.
    pub(super) fn above(&self, file: &str) -> Vec<&'a str> {
        let mut found: Vec<&str> = self.naming(file).collect();
        let mut seen: BTreeSet<&str> = found.iter().copied().collect();
        let mut at = 0;
        while let Some(directory) = found.get(at).copied() {
            found.extend(self.naming(directory).filter(|outer| seen.insert(outer)));
            at += 1;
        }
        found
    }

    /// The outermost of these: no other kustomization takes them in. None where no kustomization takes in the file.
    pub(super) fn outermost(&self, file: &str) -> BTreeSet<&'a str> {
        self.above(file).into_iter().filter(|directory| self.naming(directory).next().is_none()).collect()
    }

    /// The text of every kustomization.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.texts.values().copied()
    }

    /// The directories of other kustomizations that take in a directory which this one takes in.
    pub(super) fn on_same_base(&self, directory: &str) -> BTreeSet<&'a str> {
        let named = self.of.get(directory).into_iter().flatten().map(String::as_str);
        let bases: BTreeSet<&str> = named.filter(|named| self.texts.contains_key(named)).collect();
        let others = bases.iter().flat_map(|base| self.naming(base));
        others.filter(|other| *other != directory && !bases.contains(other)).collect()
    }

    /// Whether the kustomization of a directory says a path, for instance in a patch.
    pub(super) fn says_path(&self, directory: &str, said: &str) -> bool {
        !said.is_empty() && self.texts.get(directory).is_some_and(|text| text.contains(&format!("/{said}")))
    }

    fn naming(&self, path: &str) -> impl Iterator<Item = &'a str> {
        self.by.get(path).into_iter().flatten().copied()
    }
}

/// The files and directories that a kustomization names.
fn names(kustomization: &Node) -> impl Iterator<Item = &str> {
    let plain = ["resources", "bases", "components", "patchesStrategicMerge"];
    let plain = plain.into_iter().flat_map(|field| kustomization.items_at(field)).filter_map(Node::as_str);
    let patches = ["patches", "patchesJson6902"].into_iter().flat_map(|field| kustomization.items_at(field));
    let patches = patches.filter_map(|patch| patch.text_at(&["path"]));
    plain.chain(patches).filter(|named| !named.contains(['\n', ':']))
}
