//! Keys that could not be adopted.

use ::seal::key::{AdoptError, Adopted};
use ::seal::store::KeyringFault;
use diagnostic::Next;
use diagnostic::next::{Again, Key, Program, Seal};
use source::clean;

#[derive(Debug, thiserror::Error)]
pub(crate) enum AdoptFailure {
    #[error(
        "the store has key {key} already, and --new-certificate does not renew its certificate, which has expired; nothing was done", key = clean(.key))]
    RenewsNothing { key: String },
    #[error("the Secret Service: {0}")]
    SecretService(KeyringFault),
    #[error(
        "the Secret Service has no items `service sealed-secrets key private_key` and `public_key`; nothing was adopted"
    )]
    NoItems,
    #[error("{name} is not text; nothing was adopted", name = clean(.name))]
    NotText { name: String },
    #[error("{0}\n  nothing was adopted")]
    Unusable(AdoptError),
    #[error("no pair is called `{pick}`; there is:{}", listed(.pairs), pick = clean(.pick))]
    NoSuchPair { pick: String, pairs: Vec<FoundPair> },
    #[error("there are several pairs in it:{}", listed(.0))]
    SeveralPairs(Vec<FoundPair>),
}

/// A pair by its id, and where it stands.
#[derive(Debug)]
pub(crate) struct FoundPair {
    id: String,
    place: String,
}

impl FoundPair {
    pub(crate) fn of(adopted: &Adopted) -> Self {
        Self { id: adopted.pair.id(), place: adopted.place.clone() }
    }
}

fn listed(pairs: &[FoundPair]) -> String {
    let lines: Vec<String> = pairs.iter().map(|one| format!("\n  {} {}", one.id, one.place)).collect();
    lines.concat()
}

impl AdoptFailure {
    pub(super) fn next(&self) -> Option<Next> {
        Some(match self {
            Self::RenewsNothing { .. } => Next::Seal(Seal::RotateForCertificate),
            Self::SecretService(fault) => return fault.next(),
            Self::NoItems => Next::Key(Key::SecretToolOrFile),
            Self::NotText { .. } => Next::Program(Program::OpensslPem),
            Self::Unusable(error) => error.error.next(),
            Self::NoSuchPair { .. } => Next::Again(Again::WithPick),
            Self::SeveralPairs(_) => Next::Again(Again::WithPickPlace),
        })
    }
}
