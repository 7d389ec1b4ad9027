//! Changes files: the one place from which files of a repository are written.
//!
//! A change goes through four steps, each of which may be the last:
//!
//! 1. [`apply`] makes a new text of an old one by [`Edit`]s of its bytes. [`checked`] reads both and compares: the new text
//!    must say what was wanted, and nothing else.
//! 2. [`Guard`] keeps other writers of the directory away; [`Lock`] is the same for one file.
//! 3. [`replace`], or for one that must not have changed [`replace_unchanged`], puts the new text in the place of the old
//!    one: written beside it, synced, renamed, so that whoever reads the file reads one of both.
//! 4. [`Changes`] does that for many files: all of them are written before the first is renamed, and what was renamed goes
//!    back if one can't be. With a [`Journal`], the next run does the same for one that was killed.
//!
//! This crate knows bytes, files and directories. It does not know any format: what a text says is up to who reads it.

mod changes;
mod file;
mod guard;
mod journal;
mod lock;
mod path;
mod scratch;
mod text;

pub use changes::{Change, Changes, ChangesError, Faults, Step};
pub use file::{
    Readers, create, open_to_append, probe, remove_stale, replace, replace_for_good, replace_unchanged, write,
};
pub use guard::Guard;
pub use journal::{Journal, UndoError};
pub use lock::{Lock, LockError};
pub use path::{below, make_private_directory, resolved, with_parents};
pub use scratch::Scratch;
pub use text::{Edit, EditError, apply, checked, with_line_ends_of};
