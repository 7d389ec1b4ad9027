//! Why a command of `seal` could not do its work, grouped by what it failed at, and what to type next. Knows no terminal:
//! the words of what to type next are made where a failure is printed.

mod adopt;
mod certificate;
mod cluster;
mod commit;
mod input;
mod keys;
mod store;
mod write;

use std::io::ErrorKind;
use std::path::PathBuf;

use ::seal::generated::GenerateError;
use ::seal::key::KeyError;
use ::seal::manifest::{EditError, SecretError};
use ::seal::store::StoreError;
use ::seal::{OpenError, RingError};
use diagnostic::Next;
use diagnostic::next::{Again, Key};
use edit::LockError;

pub(crate) use adopt::{AdoptFailure, FoundPair};
pub(crate) use certificate::CertificateFailure;
pub(crate) use cluster::{ClusterFailure, RequestFault, Step};
pub(crate) use commit::{CommitFailure, GitFault, NotReady};
pub(crate) use input::{DeclarationFault, EmptyValue, InputFailure, StructureFault, Unanswered};
pub(crate) use keys::{KeysFailure, Trace};
pub(crate) use store::StoreFailure;
pub(crate) use write::{NotAFile, WriteFailure};

use crate::failure::Failure;
use source::{clean, shown};

#[derive(Debug, thiserror::Error)]
pub(crate) enum SealFailure {
    #[error(transparent)]
    Repository(repository::OpenError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    WhichStore(#[from] StoreFailure),
    #[error(transparent)]
    Keys(#[from] KeysFailure),
    #[error(transparent)]
    Adopt(#[from] AdoptFailure),
    #[error(transparent)]
    Certificate(#[from] CertificateFailure),
    #[error("{}: {source}", shown(.path))]
    Key { path: PathBuf, source: KeyError },
    #[error(transparent)]
    NewKey(#[from] KeyError),
    #[error(transparent)]
    Ring(#[from] RingError),
    #[error(transparent)]
    Input(#[from] InputFailure),
    #[error("{place}: {source}", place = clean(.place))]
    Secret { place: String, source: SecretError },
    #[error(transparent)]
    Write(#[from] WriteFailure),
    #[error("{}: {source}; nothing was written", shown(.path))]
    Edit { path: PathBuf, source: EditError },
    #[error("{}: {source}", shown(.path))]
    File { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("{} of {}: {source}", .key, shown(.path))]
    Open { path: PathBuf, key: String, source: OpenError },
    #[error("{}: {source}", shown(.path))]
    Generate { path: PathBuf, source: GenerateError },
    #[error("the cluster: {0}")]
    Cluster(#[from] ClusterFailure),
    #[error(transparent)]
    Commit(#[from] CommitFailure),
    /// A rotation stopped after its key was kept.
    #[error("{}\n  key {key} is kept: run coldstart seal rotate again to continue with it", .failure.told(), key = clean(.key))]
    Unfinished { key: String, failure: Box<Failure> },
}

impl SealFailure {
    /// For `map_err`: a file and what happened to it.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }

    /// What to type next.
    pub(crate) fn next(&self) -> Option<Next> {
        Some(match self {
            // It is in the failure that stopped it.
            Self::Unfinished { .. } => return None,
            Self::Repository(_) => Next::Again(Again::WithRepository),
            Self::Store(error) => error.next(),
            Self::WhichStore(failure) => failure.next(),
            Self::Keys(failure) => failure.next(),
            Self::Adopt(failure) => return failure.next(),
            Self::Certificate(failure) => failure.next(),
            Self::Key { source: KeyError::NoCertificate | KeyError::BadCertificate(_), .. } => {
                Next::Key(Key::CertificateFile)
            }
            Self::Key { source, .. } | Self::NewKey(source) => source.next(),
            Self::Ring(error) => error.next(),
            Self::Input(failure) => failure.next(),
            Self::Secret { source, .. } => source.next(),
            Self::Write(failure) => return failure.next(),
            Self::Edit { source, .. } => source.next(),
            Self::File { source, .. } | Self::Lock(LockError::Io { source, .. }) => about_file(source.kind()),
            Self::Lock(LockError::Held(_)) => Next::Again(Again::Same),
            Self::Open { source, .. } => source.next(),
            Self::Generate { source, .. } => source.next(),
            Self::Cluster(failure) => failure.next(),
            Self::Commit(failure) => failure.next(),
        })
    }
}

fn about_file(kind: ErrorKind) -> Next {
    Next::Again(match kind {
        ErrorKind::NotFound => Again::WithFileThatExists,
        ErrorKind::PermissionDenied => Again::AsOwner,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Again::OnceRoom,
        ErrorKind::ReadOnlyFilesystem => Again::WithWritablePlace,
        ErrorKind::IsADirectory | ErrorKind::NotADirectory => Again::WithFile,
        _ => Again::OnceUsable,
    })
}
