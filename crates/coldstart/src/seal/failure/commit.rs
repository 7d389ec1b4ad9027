//! Git did not take what was written, or would not.

use std::path::PathBuf;

use diagnostic::Next;
use diagnostic::next::Git;
use source::{clean, shown};

#[derive(Debug, thiserror::Error)]
pub(crate) enum CommitFailure {
    #[error("git: {0}")]
    Git(#[from] GitFault),
    #[error("git: {0}\n  nothing was done")]
    NotReady(NotReady),
    #[error("git: {source}\n  written, but not committed: {}{}", .files.join(" "), draw::words::and_more(0, *.more))]
    NotCommitted { source: GitFault, files: Vec<String>, more: usize },
    /// What was committed in an earlier run is still here.
    #[error("git: {source}")]
    NotPushed { source: GitFault, next: Box<Git> },
    #[error("git: {source}\n  committed {commit}, but not pushed", commit = clean(.commit))]
    CommittedNotPushed { source: GitFault, commit: String, next: Box<Git> },
}

/// Why Git did not do what it was told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitFault {
    #[error("it can't be started: {0}")]
    NotStarted(std::io::Error),
    #[error(transparent)]
    NotRun(exec::ExecError),
    #[error("{command} failed: {}", .said.as_deref().unwrap_or("it does not say why; a hook may have refused it"), command = clean(.command))]
    Failed { command: String, said: Option<String> },
}

impl GitFault {
    /// Whether Git's own words have these in them.
    pub(crate) fn says(&self, words: &str) -> bool {
        matches!(self, Self::Failed { said: Some(said), .. } if said.contains(words))
    }
}

/// What would keep a commit or a push from being made, told before anything is written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotReady {
    #[error("{0}")]
    NoRepository(GitFault),
    #[error("{0}")]
    NoCommitter(GitFault),
    #[error("a {operation} is under way, and single files can't be committed in it")]
    UnderWay { operation: &'static str },
    #[error("{} exists: another git is at work, or one that was killed left it, and nothing can be committed", shown(.lock))]
    Locked { lock: PathBuf },
    #[error("{} is outside {}", shown(.path), shown(.top))]
    Outside { path: PathBuf, top: PathBuf },
    #[error("{file} is ignored, and would be in no commit", file = clean(.file))]
    Ignored { file: String },
    #[error("HEAD is detached: there is no branch to push")]
    Detached,
    #[error("branch {branch} has no upstream to push to", branch = clean(.branch))]
    NoUpstream { branch: String, remote: Option<String> },
}

impl CommitFailure {
    pub(super) fn next(&self) -> Next {
        Next::Git(match self {
            Self::Git(_) => Git::Status,
            Self::NotReady(why) => why.next(),
            Self::NotCommitted { source, files, .. } => {
                Git::Commit { files: files.clone(), force: source.says("ignored") }
            }
            Self::NotPushed { next, .. } | Self::CommittedNotPushed { next, .. } => Git::clone(next),
        })
    }
}

impl NotReady {
    fn next(&self) -> Git {
        match self {
            Self::NoRepository(_) => Git::InitOrUncommitted,
            Self::NoCommitter(_) => Git::ConfigUser,
            Self::UnderWay { operation } => Git::FinishOperation { operation },
            Self::Locked { lock } => Git::RemoveLock { lock: lock.clone() },
            Self::Outside { .. } => Git::OutInside,
            Self::Ignored { file } => Git::Unignore { file: file.clone() },
            Self::Detached => Git::Switch,
            Self::NoUpstream { branch, remote } => {
                Git::SetUpstream { remote: remote.clone(), branch: branch.clone(), again: true }
            }
        }
    }
}
