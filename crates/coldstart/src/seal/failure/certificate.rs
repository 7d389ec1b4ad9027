//! The certificate of the settings can't be sealed with, or not be written.

use std::path::PathBuf;

use diagnostic::Next;
use diagnostic::next::{Edit, Key, Seal};
use source::{clean, shown};
use time::OffsetDateTime;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CertificateFailure {
    #[error("{} exists and is not a certificate: it is not overwritten; nothing was done", shown(.path))]
    InTheWay { path: PathBuf },
    #[error(
        "`seal.certificate` in coldstart.yaml names {}, which is not in the repository {}; nothing was done",
        shown(.path),
        shown(.root)
    )]
    Outside { path: PathBuf, root: PathBuf },
    #[error("{} does not exist, but `seal.certificate` in coldstart.yaml names it", shown(.path))]
    Missing { path: PathBuf },
    #[error(
        "{} belongs to key {key}, which is not in the store: nothing there would open what is sealed with it",
        shown(.path), key = clean(.key))]
    OfOtherKey { path: PathBuf, key: String },
    #[error("{}: the certificate expired on {}, and the store has a valid one", shown(.path), ::seal::date(*.at))]
    Expired { path: PathBuf, at: OffsetDateTime },
}

impl CertificateFailure {
    pub(super) fn next(&self) -> Next {
        match self {
            Self::Outside { .. } => Next::Edit(Edit::CertificateSetting),
            Self::InTheWay { .. } => Next::Key(Key::OtherCertificateFile),
            Self::Missing { .. } | Self::Expired { .. } => Next::Seal(Seal::InitForCertificate),
            Self::OfOtherKey { path, .. } => Next::Seal(Seal::InitOrCertificate { certificate: path.clone() }),
        }
    }
}
