//! What a build carries along: the files, and what it has found out about them so far.
//!
//! Everything that reads a file goes through here, so that limits, the list of read files and the reports of what could
//! not be read are kept in one place.

use std::collections::BTreeSet;

use source::{FileId, Span};
use yaml::{Budget, Cost, Document, Node, Problem};

use crate::{Blind, BuildError, Failure, Files, LimitError, Overlooked, PathKind, path};

/// Deeper nesting of bases is taken for a loop.
pub(crate) const DIRECTORIES_DEEP_MAX: usize = 64;
/// Directories built in one build, each time counted. Bases that include each other twice grow without end.
pub(crate) const DIRECTORIES_MAX: usize = 200_000;
/// Objects read in one build.
pub(crate) const OBJECTS_MAX: usize = 200_000;
/// Reports kept of one build; more say nothing new.
const REPORTS_MAX: usize = 1_000;

pub(crate) struct Builder<'f> {
    pub(crate) files: &'f dyn Files,
    pub(crate) failures: Vec<Failure>,
    pub(crate) blind: Vec<Blind>,
    pub(crate) read: BTreeSet<String>,
    /// The directories that are being built right now, outermost first.
    pub(crate) stack: Vec<String>,
    pub(crate) directories: usize,
    pub(crate) objects: usize,
    pub(crate) budget: Budget,
    /// Set when a limit was hit: the rest is left alone, and said so once.
    pub(crate) exhausted: bool,
}

impl<'f> Builder<'f> {
    pub(crate) fn new(files: &'f dyn Files, budget: Budget) -> Self {
        Self {
            files,
            failures: Vec::new(),
            blind: Vec::new(),
            read: BTreeSet::new(),
            stack: Vec::new(),
            directories: 0,
            objects: 0,
            budget,
            exhausted: false,
        }
    }

    pub(crate) fn fail(&mut self, error: impl Into<BuildError>, span: Span) {
        let error = error.into();
        if let Some(limit) = error.limit() {
            return self.exhaust(limit, span);
        }
        // What was left alone may be why.
        if self.failures.len() < REPORTS_MAX && !self.exhausted {
            self.failures.push(Failure { error, span });
        }
    }

    pub(crate) fn overlook(&mut self, what: Overlooked, span: Span) {
        if self.blind.len() < REPORTS_MAX {
            self.blind.push(Blind { what, span });
        }
    }

    /// Leaves the rest of the build alone: it is beyond a limit.
    pub(crate) fn exhaust(&mut self, limit: impl Into<LimitError>, span: Span) {
        if !self.exhausted {
            self.exhausted = true;
            self.blind.push(Blind { what: Overlooked::Beyond(limit.into()), span });
        }
    }

    /// Takes what something costs before it is done; false where that is too much, now or before.
    pub(crate) fn affords(&mut self, cost: Cost, span: Span) -> bool {
        if !self.exhausted
            && let Err(spent) = self.budget.spend(cost)
        {
            self.exhaust(spent, span);
        }
        !self.exhausted
    }

    /// The path of a file that a kustomization in `directory` names. Says why when there is none to read.
    pub(crate) fn file(&mut self, directory: &str, name: &Node) -> Option<String> {
        let text = name.text().unwrap_or_default();
        if path::is_url(text) {
            self.overlook(Overlooked::Fetched { address: text.to_owned() }, name.span);
            return None;
        }
        let Some(path) = path::join(directory, text) else {
            self.fail(BuildError::Outside { path: text.to_owned() }, name.span);
            return None;
        };
        match self.files.kind(&path) {
            PathKind::File => Some(path),
            PathKind::Directory => {
                self.fail(BuildError::DirectoryForFile { path: text.to_owned() }, name.span);
                None
            }
            PathKind::Missing => {
                self.fail(BuildError::Missing { path: text.to_owned() }, name.span);
                None
            }
        }
    }

    /// The bytes of a file at a path that [`Self::file`] gave.
    pub(crate) fn bytes(&mut self, path: &str, span: Span) -> Option<&'f [u8]> {
        let bytes = self.files.bytes(path);
        if bytes.is_some() {
            self.read.insert(path.to_owned());
        } else {
            let why = self.files.obstacle(path);
            self.fail(BuildError::Unreadable { path: path.to_owned(), why }, span);
        }
        bytes
    }

    /// The documents of a YAML file at a path that [`Self::file`] gave.
    pub(crate) fn documents(&mut self, path: &str, span: Span) -> Option<(FileId, &'f [Document])> {
        let documents = self.files.documents(path);
        if documents.is_some() {
            self.read.insert(path.to_owned());
        } else {
            let why = self.files.obstacle(path);
            self.fail(BuildError::NoText { path: path.to_owned(), why }, span);
        }
        documents
    }

    /// The values of all documents that have one. Documents without are reported if that is not as it should be.
    pub(crate) fn values(&mut self, documents: &[Document]) -> Vec<Node> {
        let unread = documents.iter().filter(|document| document.root.is_none());
        for problem in unread.flat_map(|document| &document.problems) {
            self.misread(problem);
        }
        documents.iter().filter_map(|document| document.root.clone()).collect()
    }

    /// Tells why a document could not be read.
    pub(crate) fn misread(&mut self, problem: &Problem) {
        if problem.is_limit {
            self.exhaust(LimitError::Document(problem.message.clone()), problem.span);
        } else {
            self.fail(BuildError::Yaml(problem.message.clone()), problem.span);
        }
    }

    /// The same for documents of which every problem counts. Objects and configurations are read that strictly: a key
    /// that stands twice is fine only in a patch.
    pub(crate) fn strict_values(&mut self, documents: &[Document]) -> Vec<Node> {
        for problem in documents.iter().flat_map(|document| &document.problems) {
            self.misread(problem);
        }
        documents.iter().filter_map(|document| document.root.clone()).collect()
    }
}
