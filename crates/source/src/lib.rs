//! Files, byte ranges in them, and the lines and columns that people read.
//!
//! Every language that is read here stands on it: a place is a [`Span`] whatever the file holds. This crate knows text. It
//! does not know any language, nor where files are kept.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod clean;
mod index;
mod sources;
mod span;
mod text;

pub use clean::{clean, shown, sign_for, without_commands, without_marks};
pub use index::to_u32;
pub use sources::Sources;
pub use span::{FileId, Span};
pub use text::{Position, Source};
