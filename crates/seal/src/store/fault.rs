//! Why a store did not do it, for each kind of store. Never holds anything of what is kept.

use std::io;
use std::path::PathBuf;

use diagnostic::Next;
use diagnostic::next::{Again, Program, Seal, Store};
use edit::LockError;

use super::VaultRefusal;
use crate::age_program::AgeProgramError;
use crate::key::KeyError;
use crate::ring::RingError;
use source::{clean, shown};

/// Why a store could not be read, written or unlocked.
#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Ring(#[from] RingError),
    #[error(transparent)]
    Age(#[from] AgeFault),
    #[error(transparent)]
    Directory(#[from] DirectoryFault),
    #[error(transparent)]
    Keyring(#[from] KeyringFault),
    #[error(transparent)]
    Vault(#[from] VaultFault),
}

impl StoreFault {
    /// What to type next, where the fault itself says so.
    pub fn next(&self) -> Option<Next> {
        match self {
            Self::Lock(LockError::Held(_)) => Some(Next::Again(Again::Same)),
            Self::Ring(RingError::Key(source)) => source.certain_next(),
            Self::Io(_) | Self::Lock(LockError::Io { .. }) | Self::Ring(_) => None,
            Self::Age(fault) => fault.next(),
            Self::Directory(fault) => fault.next(),
            Self::Keyring(fault) => fault.next(),
            Self::Vault(fault) => fault.next(),
        }
    }
}

/// What can be wrong with an age file, or with what opens it.
#[derive(Debug, thiserror::Error)]
pub enum AgeFault {
    #[error("it is not an age file, or is damaged")]
    NotAge,
    #[error("it was changed after it was written, or is damaged")]
    Altered,
    #[error("it is damaged or cut off")]
    CutOff,
    #[error("it is encrypted to age identities")]
    NeedsIdentities,
    #[error("it is encrypted with a passphrase")]
    NeedsPassphrase,
    #[error("the passphrase is wrong")]
    WrongPassphrase,
    #[error("none of the identities opens it")]
    NoMatch,
    #[error("opening it would take too long: it was not written by coldstart")]
    TooMuchWork,
    #[error("one of its recipients is post-quantum, and age can't mix those with others")]
    PostQuantumRecipient,
    #[error("`{recipient}` is not an age recipient (age1…)", recipient = clean(.recipient))]
    BadRecipient { recipient: String },
    #[error(transparent)]
    Passphrase(#[from] PassphraseError),
    #[error(transparent)]
    Program(#[from] AgeProgramError),
    #[error(transparent)]
    Decrypt(#[from] age::DecryptError),
    #[error(transparent)]
    Encrypt(#[from] age::EncryptError),
}

impl AgeFault {
    fn next(&self) -> Option<Next> {
        match self {
            Self::NotAge | Self::Altered | Self::CutOff => Some(Next::Seal(Seal::RestoreOrBackup)),
            Self::NeedsIdentities => Some(Next::Store(Store::Identity)),
            Self::NeedsPassphrase => Some(Next::Store(Store::NoIdentity)),
            Self::PostQuantumRecipient => Some(Next::Store(Store::PostQuantumIdentity)),
            Self::Passphrase(error) => error.next(),
            Self::WrongPassphrase
            | Self::NoMatch
            | Self::TooMuchWork
            | Self::BadRecipient { .. }
            | Self::Program(_)
            | Self::Decrypt(_)
            | Self::Encrypt(_) => None,
        }
    }
}

/// Why there is no passphrase.
#[derive(Debug, thiserror::Error)]
pub enum PassphraseError {
    #[error("it needs a passphrase")]
    NobodyToAsk,
    #[error("the two are not the same")]
    Different,
    #[error("the passphrase is not text")]
    NotText,
    #[error("the passphrase is empty")]
    Empty,
    #[error("{}: {source}", shown(.path))]
    File { path: PathBuf, source: io::Error },
}

impl PassphraseError {
    fn next(&self) -> Option<Next> {
        match self {
            Self::NobodyToAsk => Some(Next::Store(Store::Passphrase)),
            Self::Different => Some(Next::Again(Again::Same)),
            Self::NotText | Self::Empty | Self::File { .. } => None,
        }
    }
}

/// Why a text gives no age identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    #[error("it is a post-quantum identity, which only the program `age` can use")]
    PostQuantum,
    #[error("a line of it is not an age identity (AGE-SECRET-KEY-1…)")]
    BadLine,
    #[error("there is no age identity in it")]
    NothingThere,
}

/// What can be wrong with a directory of keys.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryFault {
    #[error("{name}: {source}", name = clean(.name))]
    File { name: String, source: io::Error },
    #[error("{name} and its .crt are not PEM", name = clean(.name))]
    NotPem { name: String },
    #[error("{name}: {source}", name = clean(.name))]
    Pair { name: String, source: KeyError },
    #[error("{} already exists", shown(.path))]
    Exists { path: PathBuf },
}

impl DirectoryFault {
    fn next(&self) -> Option<Next> {
        match self {
            Self::Pair { source, .. } => source.certain_next(),
            Self::File { .. } | Self::NotPem { .. } | Self::Exists { .. } => None,
        }
    }
}

/// What a keyring of the desktop says.
#[derive(Debug, thiserror::Error)]
pub enum KeyringFault {
    /// The service's own words: there may be none.
    #[error("{said}", said = clean(.said))]
    Platform { said: String },
    #[error("it was not unlocked")]
    StillLocked,
    #[error("no answer for {seconds} s; it may be waiting to be unlocked")]
    Silent { seconds: u64 },
    #[error("what is stored there was not written by coldstart")]
    NotOurs,
    #[error("{count} items have this name")]
    Several { count: usize, search: Option<Search> },
    #[error("the item `{item}` is not text")]
    NotText { item: &'static str },
    /// The library's own words.
    #[error("{said}", said = clean(.said))]
    Other { said: String },
}

/// What items of a keyring are looked for by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    pub service: &'static str,
    pub user: String,
}

impl KeyringFault {
    /// What to type next, where the fault itself says so.
    pub fn next(&self) -> Option<Next> {
        match self {
            Self::Platform { .. } => Some(Next::Store(Store::SessionOrOther)),
            Self::StillLocked | Self::Silent { .. } => Some(Next::Store(Store::UnlockKeyring)),
            Self::Several { search: Some(Search { service, user }), .. } => {
                Some(Next::Store(Store::RemoveOthers { service, user: user.clone() }))
            }
            Self::Several { search: None, .. } | Self::NotOurs | Self::NotText { .. } | Self::Other { .. } => None,
        }
    }
}

/// Why a Vault server was not asked, or did not give the keys.
#[derive(Debug, thiserror::Error)]
pub enum VaultFault {
    #[error("the certificate authority is not a PEM certificate")]
    BadAuthority,
    #[error("the token is not text")]
    BadToken,
    #[error(transparent)]
    Request(#[from] ureq::Error),
    #[error("its version {version} was deleted")]
    Deleted { mount: String, path: String, version: u64 },
    #[error(transparent)]
    Refused(#[from] VaultRefusal),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl VaultFault {
    fn next(&self) -> Option<Next> {
        match self {
            Self::BadAuthority | Self::BadToken | Self::Json(_) => None,
            Self::Request(_) => Some(Next::Program(Program::VaultStatusOrAddress)),
            Self::Deleted { mount, path, version } => {
                let (mount, path) = (mount.clone(), path.clone());
                Some(Next::Program(Program::VaultUndelete { mount, version: *version, path }))
            }
            Self::Refused(refusal) => refusal.next(),
        }
    }
}
