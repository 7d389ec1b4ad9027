//! Why a command of `seal` could not do its work.

use std::path::PathBuf;

use ::seal::generated::GenerateError;
use ::seal::key::KeyError;
use ::seal::manifest::{EditError, SecretError};
use ::seal::store::{LockError, StoreError};
use ::seal::{OpenError, RingError};

#[derive(Debug, thiserror::Error)]
pub(crate) enum SealFailure {
    #[error("{0}")]
    Told(String),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: {source}", .path.display())]
    Key { path: PathBuf, source: KeyError },
    #[error(transparent)]
    NewKey(#[from] KeyError),
    #[error(transparent)]
    Ring(#[from] RingError),
    #[error("{place}: {source}")]
    Secret { place: String, source: SecretError },
    #[error("{}: {source}; nothing was written", .path.display())]
    Edit { path: PathBuf, source: EditError },
    #[error("{}: {source}", .path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("{} of {}: {source}", .key, .path.display())]
    Open { path: PathBuf, key: String, source: OpenError },
    #[error("{}: {source}", .path.display())]
    Generate { path: PathBuf, source: GenerateError },
    #[error("the cluster: {0}")]
    Cluster(String),
    #[error("git: {0}")]
    Git(String),
    #[error("the store holds no key yet: {store}\n  next: coldstart seal init")]
    NoKeys { store: String },
}

impl SealFailure {
    pub(crate) fn told(text: impl Into<String>) -> Self {
        Self::Told(text.into())
    }

    /// For `map_err`: a file and what happened to it.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
