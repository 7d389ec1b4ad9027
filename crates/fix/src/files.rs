//! The files of a repository as edits leave them, in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use diagnostic::{Changed, Unedited, WhyLeft};
use read::Repository;
use source::{FileId, Span};

use crate::house::House;
use crate::text::Text;

/// The files that were edited so far.
pub(crate) struct Files<'a> {
    pub(crate) repository: &'a Repository,
    pub(crate) house: &'a House,
    /// Shared with what they were before, until they are edited.
    texts: BTreeMap<FileId, Arc<Text>>,
    /// Files that were not there.
    new: BTreeMap<String, String>,
}

impl<'a> Files<'a> {
    pub(crate) fn new(repository: &'a Repository, house: &'a House) -> Self {
        Self { repository, house, texts: BTreeMap::new(), new: BTreeMap::new() }
    }

    /// The file that a place is in, to be edited.
    pub(crate) fn open(&mut self, at: Span) -> Result<&mut Text, Unedited> {
        if !self.texts.contains_key(&at.file) {
            let source = self.repository.source(at.file).ok_or(Unedited::Unexpected)?;
            self.texts.insert(at.file, Arc::new(Text::new(at.file, source.text().to_owned())));
        }
        self.texts.get_mut(&at.file).map(Arc::make_mut).ok_or(Unedited::Unexpected)
    }

    /// A file that is not there yet; whether it could be made, or was made just so before.
    pub(crate) fn create(&mut self, path: &str, text: String) -> bool {
        if let Some(made) = self.new.get(path) {
            return *made == text;
        }
        let is_free = self.repository.id(path).is_none();
        if is_free {
            self.new.insert(path.to_owned(), text);
        }
        is_free
    }

    /// Does something, and leaves no trace of it where it fails.
    pub(crate) fn all_or_nothing<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, WhyLeft>,
    ) -> Result<T, WhyLeft> {
        let before = (self.texts.clone(), self.new.clone());
        let done = work(self);
        if done.is_err() {
            (self.texts, self.new) = before;
        }
        done
    }

    /// What the files hold that are not as they were.
    pub(crate) fn texts(&self) -> BTreeMap<String, String> {
        let path = |file: &FileId| self.repository.path(*file).unwrap_or_default().to_owned();
        let is_changed = |(file, text): &(&FileId, &Arc<Text>)| {
            self.repository.source(**file).is_none_or(|source| source.text() != text.text())
        };
        let old = self.texts.iter().filter(is_changed).map(|(file, text)| (path(file), text.text().to_owned()));
        old.chain(self.new.clone()).collect()
    }
}

/// What is different between two states of the files.
pub(crate) fn changed(
    repository: &Repository,
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Vec<Changed> {
    let saved = |path: &str| repository.id(path).and_then(|file| Some(repository.source(file)?.text().to_owned()));
    let old = |path: &String| before.get(path).cloned().or_else(|| saved(path));
    let all = after.iter().map(|(path, after)| Changed { path: path.clone(), before: old(path), after: after.clone() });
    all.filter(|changed| changed.before.as_ref() != Some(&changed.after)).collect()
}
