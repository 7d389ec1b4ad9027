//! The certificate of the settings can't be sealed with, or not be written.

use std::path::PathBuf;

use diagnostic::Next;
use diagnostic::next::{Key, Seal};
use time::OffsetDateTime;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CertificateFailure {
    #[error("{} exists and is not a certificate: it is not overwritten; nothing was done", .path.display())]
    InTheWay { path: PathBuf },
    #[error("{} does not exist, but `seal.certificate` in coldstart.yaml names it", .path.display())]
    Missing { path: PathBuf },
    #[error(
        "{} belongs to key {key}, which is not in the store: nothing there would open what is sealed with it",
        .path.display()
    )]
    OfOtherKey { path: PathBuf, key: String },
    #[error("{}: the certificate expired on {}, and the store has a valid one", .path.display(), ::seal::date(*.at))]
    Expired { path: PathBuf, at: OffsetDateTime },
}

impl CertificateFailure {
    pub(super) fn next(&self) -> Next {
        match self {
            Self::InTheWay { .. } => Next::Key(Key::OtherCertificateFile),
            Self::Missing { .. } | Self::Expired { .. } => Next::Seal(Seal::InitForCertificate),
            Self::OfOtherKey { path, .. } => Next::Seal(Seal::InitOrCertificate { certificate: path.clone() }),
        }
    }
}
