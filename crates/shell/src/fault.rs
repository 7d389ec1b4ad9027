//! Text that is not understood.

use crate::At;

/// A place that was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    pub at: At,
}

/// Why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A word or a sign that can't stand here.
    Unexpected,
    /// A quote, a bracket or a statement that does not end.
    Unclosed,
    /// Nested deeper than [`crate::DEPTH_MAX`].
    TooDeep,
    /// More than [`crate::BYTES_MAX`] or [`crate::NODES_MAX`], or more work than a text of its size may make.
    TooLarge,
}
