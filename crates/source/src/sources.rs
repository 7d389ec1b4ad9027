//! Many files, by their ids.

use crate::span::{FileId, Span};
use crate::text::{Position, Source};

/// Where the text that spans point at is to be had.
pub trait Sources {
    /// The repository-relative path of a file.
    fn path(&self, file: FileId) -> Option<&str>;

    /// The text of a file, if it is text.
    fn source(&self, file: FileId) -> Option<&Source>;

    /// The path, line and column of a place; nothing for what no file holds.
    fn locate(&self, span: Span) -> Option<(&str, Position)> {
        if span.is_generated() {
            return None;
        }
        let path = self.path(span.file)?;
        let start = Position { line: 1, column: 1 };
        Some((path, self.source(span.file).map_or(start, |source| source.position(span))))
    }
}
