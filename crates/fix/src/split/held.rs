//! The files that the build of a directory is made of, and the entries that lead to each.

use std::collections::BTreeSet;

use read::Repository;
use repository::path;
use source::{FileId, Span};
use yaml::Node;

use crate::listing::kustomization_in;

/// Kustomizations on one way; more lead in a cycle.
const DEPTH_MAX: usize = 16;
/// Files without which no kustomization is made for a directory.
const ENDINGS: [&str; 2] = [".yaml", ".yml"];

/// One entry of `resources`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The kustomization that has it.
    pub(crate) by: FileId,
    pub(crate) at: Span,
}

/// A file that is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) file: FileId,
    pub(crate) path: String,
    /// From the outermost on; none where Flux takes every file of a directory.
    pub(crate) entries: Vec<Entry>,
    /// It is a part of others as well, as far as this can tell: a component of kustomize.
    pub(crate) is_shared: bool,
}

/// All files that the build of a directory is made of.
pub(crate) fn held(repository: &Repository, directory: &str) -> Vec<Held> {
    let mut walk = Walk { repository, held: Vec::new() };
    walk.directory(directory, &mut Vec::new(), false);
    walk.held
}

/// The objects of a file.
pub(crate) fn objects(repository: &Repository, file: FileId) -> Vec<&Node> {
    let documents = repository.yaml_files().find(|(id, _, _)| *id == file).map(|(_, _, documents)| documents);
    documents.unwrap_or_default().iter().filter_map(|document| document.root.as_ref()).collect()
}

struct Walk<'r> {
    repository: &'r Repository,
    held: Vec<Held>,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &str, entries: &mut Vec<Entry>, is_shared: bool) {
        if entries.len() > DEPTH_MAX {
            return;
        }
        match kustomization_in(self.repository, directory).and_then(|path| self.repository.id(&path)) {
            Some(by) => self.listed(directory, by, entries, is_shared),
            // Only the first one is made by Flux; kustomize itself refuses others.
            None if entries.is_empty() => self.scanned(directory),
            None => {}
        }
    }

    fn listed(&mut self, directory: &str, by: FileId, entries: &mut Vec<Entry>, is_shared: bool) {
        let roots = objects(self.repository, by);
        let Some(root) = roots.first() else { return };
        for (list, is_shared) in [("resources", is_shared), ("bases", true), ("components", true)] {
            for item in root.items_at(list) {
                let Some(target) = item.text().and_then(|text| path::join(directory, text)) else { continue };
                entries.push(Entry { by, at: item.span });
                match self.repository.id(&target) {
                    Some(file) => self.file(file, target, entries, is_shared),
                    None => self.directory(&target, entries, is_shared),
                }
                entries.pop();
            }
        }
    }

    fn file(&mut self, file: FileId, path: String, entries: &[Entry], is_shared: bool) {
        self.held.push(Held { file, path, entries: entries.to_vec(), is_shared });
    }

    /// As Flux does where there is no kustomization: every file, and of a directory with a kustomization that.
    fn scanned(&mut self, directory: &str) {
        let is_below = |at: &&str| path::is_below(at, directory) && ENDINGS.iter().any(|ending| at.ends_with(ending));
        let paths: Vec<String> = self.repository.paths().filter(is_below).map(str::to_owned).collect();
        let mut built: BTreeSet<String> = BTreeSet::new();
        for at in paths {
            let between = path::ancestors(path::parent(&at)).take_while(|above| *above != directory);
            let outermost = between.filter(|above| kustomization_in(self.repository, above).is_some()).last();
            match (outermost.map(str::to_owned), self.repository.id(&at)) {
                (Some(inner), _) if built.insert(inner.clone()) => self.directory(&inner, &mut Vec::new(), false),
                (None, Some(file)) => self.file(file, at, &[], false),
                _ => {}
            }
        }
    }
}
