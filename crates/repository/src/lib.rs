//! The files of a repository: found as Git sees them, read once, within limits, on every core.
//!
//! [`Tree`] is all files below one directory. [`Unsaved`] holds texts that win over those on the disk. What could not be
//! read is [`Skipped`], with why.
//!
//! This crate knows directories, links, what Git and Flux's `.sourceignore` leave out, and sizes. It does not know any
//! format, nor what a file is for.

pub mod file;
mod index;
mod packages;
pub mod parallel;
pub mod path;
mod root;
mod source_ignore;
mod tree;
mod unread;
mod unsaved;
mod walk;

pub use index::IndexError;
pub use packages::{Packages, hold_packages};
pub use root::git_root;
pub use tree::{FILE_BYTES_MAX, FILES_MAX, Kind, OpenError, Tree};
pub use unread::{LinkError, Skipped, Unread};
pub use unsaved::Unsaved;
