//! The repository as whoever shows places of it asks for them.

use source::{FileId, Source, Sources};

use super::Repository;

impl Sources for Repository {
    fn path(&self, file: FileId) -> Option<&str> {
        Self::path(self, file)
    }

    fn source(&self, file: FileId) -> Option<&Source> {
        Self::source(self, file)
    }
}
