//! Directories built once, however many clusters apply them.

use foldhash::HashMap;
use kustomize::{Build, Overlay};
use source::Span;

use crate::ledger::Ledger;
use crate::repository::Repository;

/// What was built, by directory and by what the Kustomization adds to it.
#[derive(Debug, Default)]
pub(crate) struct Builds {
    /// By where the addition is written, too: many Kustomizations may apply one directory.
    done: HashMap<(String, Option<Span>), Vec<Done>>,
}

#[derive(Debug)]
struct Done {
    overlay: Overlay,
    build: Build,
}

impl Builds {
    /// Builds what is wanted and not there yet, on every core.
    pub(super) fn make(&mut self, repository: &Repository, wanted: &[(&str, &Overlay)], ledger: &mut Ledger) {
        let mut missing: Vec<(&str, &Overlay)> = Vec::new();
        let mut beside: HashMap<(&str, Option<Span>), Vec<&Overlay>> = HashMap::default();
        for (directory, overlay) in wanted {
            let beside = beside.entry((directory, overlay.at())).or_default();
            if self.get(directory, overlay).is_none() && !beside.iter().any(|other| other.is_same(overlay)) {
                beside.push(overlay);
                missing.push((directory, overlay));
            }
        }
        let made = ledger.map(&missing, |(directory, overlay), budget| repository.build(directory, overlay, budget));
        for ((directory, overlay), build) in missing.into_iter().zip(made) {
            let key = (directory.to_owned(), overlay.at());
            self.done.entry(key).or_default().push(Done { overlay: overlay.clone(), build });
        }
    }

    /// Every file that a build read.
    pub(super) fn files(&self) -> impl Iterator<Item = &String> {
        self.done.values().flatten().flat_map(|done| &done.build.files)
    }

    /// Every directory that was built.
    pub(super) fn directories(&self) -> impl Iterator<Item = &str> {
        self.done.keys().map(|(directory, _)| directory.as_str())
    }

    /// Forgets what was made of directories, where that was only to find out what they are.
    pub(super) fn forget(&mut self, is_idle: impl Fn(&str) -> bool) {
        self.done.retain(|(directory, _), _| !is_idle(directory));
    }

    /// What was made of a directory.
    pub(super) fn get(&self, directory: &str, overlay: &Overlay) -> Option<&Build> {
        let all = self.done.get(&(directory.to_owned(), overlay.at()))?;
        all.iter().find(|done| done.overlay.is_same(overlay)).map(|done| &done.build)
    }
}
