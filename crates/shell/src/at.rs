//! A place in a text.

/// A range of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

impl At {
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Whether another place lies in this one.
    pub const fn holds(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}
