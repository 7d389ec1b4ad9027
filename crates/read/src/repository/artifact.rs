//! The files of one artifact: several sources may be this repository, and each leaves out something else.

use ::repository::{Kind, Tree};
use kustomize::{Files, PathKind};
use model::ObjectRef;
use source::FileId;
use yaml::{Document, EcoString, Node};

/// What a source that is this repository says in `spec.ignore`.
#[derive(Debug)]
pub(crate) struct IgnoreOfSource {
    pub(crate) source: ObjectRef,
    /// The file that defines it.
    pub(crate) file: String,
    pub(crate) text: String,
}

/// See [`super::Repository::ignored_by`].
pub(super) fn ignored_by(ignored: &[IgnoreOfSource], source: &ObjectRef) -> Option<usize> {
    // Some sources get their namespace only when built.
    let is_it = |one: &IgnoreOfSource| {
        let is_there = one.source.namespace.is_empty() || one.source.namespace == source.namespace;
        one.source.kind == source.kind && one.source.name == source.name && is_there
    };
    let mut all = (0..).zip(ignored).filter(|(_, one)| is_it(one));
    let (first, one) = all.next()?;
    all.all(|(_, other)| other.text == one.text).then_some(first)
}

/// A repository of which only what is in the artifact of a source is there.
pub(super) struct OfArtifact<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) tree: &'a Tree,
    pub(super) source: usize,
}

impl OfArtifact<'_> {
    fn has(&self, path: &str) -> bool {
        match self.files.kind(path) {
            PathKind::Directory => path.is_empty() || self.tree.is_in_artifact(path, Some(self.source)),
            PathKind::File => !self.tree.is_left_out(path, Kind::File, Some(self.source)),
            PathKind::Missing => false,
        }
    }
}

impl Files for OfArtifact<'_> {
    fn kind(&self, path: &str) -> PathKind {
        if self.has(path) { self.files.kind(path) } else { PathKind::Missing }
    }

    fn list(&self, directory: &str) -> Vec<String> {
        self.files.list(directory)
    }

    fn documents(&self, path: &str) -> Option<(FileId, &[Document])> {
        self.files.documents(path).filter(|_| self.has(path))
    }

    fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.files.bytes(path).filter(|_| self.has(path))
    }

    fn shared_text(&self, path: &str) -> Option<EcoString> {
        self.files.shared_text(path).filter(|_| self.has(path))
    }

    fn obstacle(&self, path: &str) -> Option<String> {
        self.files.obstacle(path)
    }

    fn source(&self, file: FileId) -> Option<&str> {
        self.files.source(file)
    }

    fn is_left_out(&self, path: &str, _kind: PathKind) -> bool {
        !self.has(path)
    }

    fn inline(&self, block: &Node, parse: &dyn Fn() -> Vec<Document>) -> Vec<Document> {
        self.files.inline(block, parse)
    }
}
