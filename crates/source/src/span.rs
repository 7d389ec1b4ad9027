//! Places: a file, and a range of bytes in it.

/// A file of the repository, by its place in the file table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

impl FileId {
    /// For nodes that no file holds: what a tool generates by itself.
    pub const GENERATED: Self = Self(u32::MAX);

    /// The place in the file table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A byte range in a file. Line and column are worked out from it by [`crate::Source::position`] when they are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file that holds it.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

impl Span {
    /// The place of what no file holds.
    pub const GENERATED: Self = Self { file: FileId::GENERATED, start: 0, end: 0 };

    /// A range of a file.
    pub const fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// Whether no file holds this place.
    pub fn is_generated(self) -> bool {
        self.file == FileId::GENERATED
    }

    /// The smallest range that covers both. The two must be of one file.
    pub fn to(self, other: Self) -> Self {
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}
