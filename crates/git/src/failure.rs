//! Why git did not do it.

use std::io;
use std::path::PathBuf;

use exec::ExecError;
use source::{clean, shown};

/// Why git did not do it.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program did not run to its end.
    #[error(transparent)]
    NotRun(#[from] ExecError),
    /// It ran and refused.
    #[error("git failed: {said}", said = clean(.said))]
    Failed {
        /// Its command: `ls-tree`.
        command: String,
        /// What it said first.
        said: String,
    },
    /// Git knows no repository that a directory belongs to.
    #[error("{} is not in a Git repository", shown(.path))]
    NotARepository {
        /// The directory.
        path: PathBuf,
        /// What it said first.
        said: String,
    },
    /// No commit has this name.
    #[error("no such revision")]
    UnknownRevision,
    /// No commit of this clone has this name, and the clone does not hold all commits.
    #[error("no such revision in this clone, which is shallow: it holds the latest commits only")]
    Shallow,
    /// The clone does not hold all objects of the revision, and nothing is fetched here.
    #[error("this clone does not hold all files of that revision: it is a partial clone (`git clone --filter`)")]
    Partial,
    /// The revision is more than is laid out.
    #[error("that revision has more than {files_max} files or {} MiB", .bytes_max / (1024 * 1024))]
    TooLarge {
        /// The limit of files.
        files_max: usize,
        /// The limit of bytes of all of them.
        bytes_max: u64,
    },
    /// `git cat-file` ended before it had answered everything.
    #[error("git failed: `git cat-file` ended early")]
    EndedEarly,
    /// What git gave can't be written down.
    #[error("cannot put its files into a temporary directory: {0}")]
    Write(#[from] io::Error),
}
