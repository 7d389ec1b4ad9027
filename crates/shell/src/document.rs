//! The text of `<<END`.

use crate::At;

/// A here-document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its lines, without the one that ends it.
    pub at: At,
    /// Whether the shell leaves `$` in it alone: its end was quoted.
    pub is_verbatim: bool,
    /// Whether tabs at the beginning of lines are left out: `<<-`.
    pub is_unindented: bool,
}
