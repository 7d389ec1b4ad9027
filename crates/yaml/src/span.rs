/// A file of the repository, by its place in the file table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

impl FileId {
    /// For nodes that no file holds: what a tool generates by itself.
    pub const GENERATED: Self = Self(u32::MAX);
}

/// A byte range in a file. Line and column are worked out from it by [`crate::Source::position`] when somebody asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub const GENERATED: Self = Self { file: FileId::GENERATED, start: 0, end: 0 };

    pub const fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// Whether a file holds this place at all.
    pub fn is_generated(self) -> bool {
        self.file == FileId::GENERATED
    }

    /// The smallest range that covers both. The two must be of one file.
    pub fn to(self, other: Self) -> Self {
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}
