//! The `git` program: the one place from which it is started.
//!
//! [`Git::reading`] and [`Git::bare`] read stored objects of repositories that may be anybody's: nothing that a repository
//! could have configured is run, and nothing is fetched. [`Git::of_user`] does what its user could type, with their
//! settings, hooks and signatures.
//!
//! Knows git's command line. Does not know what the files of a repository are for.

mod blobs;
mod command;
mod failure;
mod lines;
mod revision;
mod status;

pub use command::Git;
pub use failure::GitError;
pub use lines::{ChangedFile, Lines};
pub use revision::Room;
