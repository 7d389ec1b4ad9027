//! The files of a repository as edits leave them, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use diagnostic::{Changed, Unedited, WhyLeft};
use read::Repository;
use source::{FileId, Span};

use crate::house::House;
use crate::split::Plan;
use crate::text::Text;

/// Bytes of the files that all edits together open, each time. Every edit reads its file again.
const OPENED_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The files that were edited so far.
pub(crate) struct Files<'a> {
    pub(crate) repository: &'a Repository,
    pub(crate) house: &'a House,
    /// Shared with what they were before, until they are edited.
    texts: BTreeMap<FileId, Arc<Text>>,
    /// Files that were not there.
    new: BTreeMap<String, String>,
    /// Files that are elsewhere now.
    moved: BTreeMap<FileId, String>,
    removed: BTreeSet<FileId>,
    /// See [`OPENED_BYTES_MAX`].
    opened: usize,
    /// What was moved out of components, by where these are written.
    pub(crate) splits: BTreeMap<(FileId, u32), Plan>,
}

/// What files hold that are not as they were; nothing where one is gone.
pub(crate) type Texts = BTreeMap<String, Option<String>>;

/// Where files were that are elsewhere now, by where they are.
pub(crate) type Moved = BTreeMap<String, String>;

impl<'a> Files<'a> {
    pub(crate) fn new(repository: &'a Repository, house: &'a House) -> Self {
        Self {
            repository,
            house,
            texts: BTreeMap::new(),
            new: BTreeMap::new(),
            moved: BTreeMap::new(),
            removed: BTreeSet::new(),
            opened: 0,
            splits: BTreeMap::new(),
        }
    }

    /// The file that a place is in, to be edited.
    pub(crate) fn open(&mut self, at: Span) -> Result<&mut Text, Unedited> {
        if !self.texts.contains_key(&at.file) {
            let source = self.repository.source(at.file).ok_or(Unedited::Unexpected)?;
            if !self.repository.is_utf8(at.file) {
                return Err(Unedited::Encoding);
            }
            self.texts.insert(at.file, Arc::new(Text::new(at.file, source.text().to_owned())));
        }
        let text = self.texts.get_mut(&at.file).ok_or(Unedited::Unexpected)?;
        self.opened += text.text().len();
        if self.opened > OPENED_BYTES_MAX {
            return Err(Unedited::TooMuch);
        }
        Ok(Arc::make_mut(text))
    }

    /// A file that is not there yet; whether it could be made, or was made just so before.
    pub(crate) fn create(&mut self, path: &str, text: String) -> bool {
        if let Some(made) = self.new.get(path) {
            return *made == text;
        }
        let is_free = self.is_free(path);
        if is_free {
            self.new.insert(path.to_owned(), text);
        }
        is_free
    }

    /// Moves a file as it is; whether it could be moved, or was moved just so before.
    pub(crate) fn rename(&mut self, file: FileId, to: &str) -> bool {
        if let Some(moved) = self.moved.get(&file) {
            return moved == to;
        }
        let is_free = self.is_free(to) && self.open(Span::new(file, 0, 0)).is_ok();
        if is_free {
            self.moved.insert(file, to.to_owned());
        }
        is_free
    }

    /// Removes a file.
    pub(crate) fn remove(&mut self, file: FileId) {
        self.removed.insert(file);
    }

    fn is_free(&self, path: &str) -> bool {
        self.repository.id(path).is_none()
            && !self.new.contains_key(path)
            && !self.moved.values().any(|moved| moved == path)
    }

    /// Does something, and leaves no trace of it where it fails.
    pub(crate) fn all_or_nothing<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, WhyLeft>,
    ) -> Result<T, WhyLeft> {
        let before =
            (self.texts.clone(), self.new.clone(), self.moved.clone(), self.removed.clone(), self.splits.clone());
        let done = work(self);
        if done.is_err() {
            (self.texts, self.new, self.moved, self.removed, self.splits) = before;
        }
        done
    }

    /// Where files were that are elsewhere now.
    pub(crate) fn moved(&self) -> Moved {
        let from = |file: &FileId| self.repository.path(*file).unwrap_or_default().to_owned();
        self.moved.iter().map(|(file, to)| (to.clone(), from(file))).collect()
    }

    /// What the files hold that are not as they were.
    pub(crate) fn texts(&self) -> Texts {
        let path = |file: &FileId| self.repository.path(*file).unwrap_or_default().to_owned();
        let is_changed = |(file, text): &(&FileId, &Arc<Text>)| {
            self.moved.contains_key(file)
                || self.repository.source(**file).is_none_or(|source| source.text() != text.text())
        };
        let place = |file: &FileId| self.moved.get(file).cloned().unwrap_or_else(|| path(file));
        let old = self.texts.iter().filter(is_changed).map(|(file, text)| (place(file), Some(text.text().to_owned())));
        let gone = self.moved.keys().chain(&self.removed).map(|file| (path(file), None));
        let new = self.new.iter().map(|(path, text)| (path.clone(), Some(text.clone())));
        old.chain(gone).chain(new).collect()
    }
}

/// What is different between two states of the files. `moved` is where files come from that are elsewhere now.
pub(crate) fn changed(repository: &Repository, before: &Texts, after: &Texts, moved: &Moved) -> Vec<Changed> {
    let saved = |path: &str| repository.id(path).and_then(|file| Some(repository.source(file)?.text().to_owned()));
    let old = |path: &String| before.get(path).cloned().unwrap_or_else(|| saved(path));
    let all = after.iter().map(|(path, after)| {
        let before = old(path);
        let from = moved.get(path).filter(|_| before.is_none()).cloned();
        Changed { path: path.clone(), before, after: after.clone(), from }
    });
    all.filter(|changed| changed.before != changed.after).collect()
}
