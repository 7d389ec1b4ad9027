//! What a command reads from and writes to.

use crate::{At, Word};

/// One redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    pub kind: RedirectKind,
    /// The file, the other descriptor, the text, or the end of the document.
    pub target: Word,
    pub at: At,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`, `<>`, `<&`
    Input,
    /// `>`, `>|`, `&>`, `>&`
    Output,
    /// `>>`, `&>>`
    Append,
    /// `<<<`
    Text,
    /// `<<`, with the place of the document in [`crate::Script::documents`]. None where the text ends before it.
    Document(Option<usize>),
}
