//! Why a file was not read.

use std::io::ErrorKind;

use crate::index::IndexError;

/// A file that was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// From the root; empty where it is not one file.
    pub path: String,
    /// Why.
    pub why: Unread,
}

/// Why a file, a directory, or a part of a repository was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Unread {
    /// The system does not let us.
    #[error("cannot be read: {0}")]
    Failed(ErrorKind),
    /// Bytes that are no text.
    #[error("is not UTF-8 text")]
    NotUtf8,
    /// Text with bytes of zero.
    #[error("is a binary file")]
    Binary,
    /// A device, a pipe, a socket.
    #[error("is not a regular file")]
    NotRegular,
    /// No file at all.
    #[error("is a directory")]
    Directory,
    /// More than is read of one file.
    #[error("is larger than {} MiB", .bytes_max / (1024 * 1024))]
    TooLarge {
        /// The limit.
        bytes_max: u64,
    },
    /// Nothing could refer to it.
    #[error("has a name that is not UTF-8")]
    NameNotUtf8,
    /// A link that is not followed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The repository is too large to be looked at as a whole.
    #[error("more than {files_max} files or {directories_max} directories: the rest was not read")]
    TooMany {
        /// The limit of files.
        files_max: usize,
        /// The limit of directories.
        directories_max: usize,
    },
    /// Links lead to too much.
    #[error(
        "more than {directories_max} directories, or {} MiB of files, behind symbolic links: the rest was not read",
        .bytes_max / (1024 * 1024)
    )]
    TooManyLinked {
        /// The limit of directories.
        directories_max: usize,
        /// The limit of all files together.
        bytes_max: u64,
    },
    /// A directory behind a link has too many links of its own.
    #[error("has more than {links_max} symbolic links, behind another one: the rest of such links were not followed")]
    ManyLinks {
        /// The limit of links.
        links_max: usize,
    },
    /// Git's index could not be used.
    #[error("{0}: files that are both tracked and ignored were not read")]
    Index(IndexError),
}

/// Why a link is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum LinkError {
    /// Nothing is there.
    #[error("is a symbolic link to a file that does not exist")]
    Nothing,
    /// It may not be read.
    #[error("is a symbolic link to a file that may not be read")]
    NotPermitted,
    /// The system can't follow it.
    #[error("is a symbolic link that can't be followed")]
    Nowhere,
    /// It leads out of the repository.
    #[error("is a symbolic link that leaves the repository")]
    Outside,
    /// It leads into `.git`.
    #[error("is a symbolic link into Git's own files")]
    IntoGit,
    /// It leads to a directory that it is in.
    #[error("is a symbolic link to itself")]
    Circle,
    /// Too many on one path.
    #[error("is behind too many symbolic links")]
    TooMany,
}
