//! The keys of a store: there are none, or not those that are needed.

use std::fmt;
use std::path::PathBuf;

use diagnostic::Next;
use diagnostic::next::{Again, Edit, Seal, Store};
use source::clean;

#[derive(Debug, thiserror::Error)]
pub(crate) enum KeysFailure {
    #[error("the store holds no key yet: {store}", store = clean(.store))]
    NoneYet { store: String },
    #[error("there is no key")]
    NoNewest,
    #[error("the store holds no key: {store}\n  there was one: {trace}", store = clean(.store))]
    Lost { store: String, trace: Trace, has_backup: bool },
    #[error(
        "{store} holds no key, and there was one: {trace}\n  a new key would not open anything that was sealed before; nothing was done", store = clean(.store))]
    WouldBeginAgain { store: String, trace: Trace, has_backup: bool },
    #[error("{store} holds a key already: {newest}", store = clean(.store), newest = clean(.newest))]
    ThereAlready { store: String, newest: String },
    #[error("there is nothing to restore: {store} holds no key", store = clean(.store))]
    NothingToRestore { store: String },
    #[error(
        "coldstart.yaml names the recipient {recipient}, which can't open {store} yet and would have every private key\n  --yes does not accept it; nothing was done",
        recipient = clean(.recipient),
        store = clean(.store)
    )]
    NewRecipient { store: String, recipient: String },
    #[error("`seal.recipients` in coldstart.yaml still names {recipient}; nothing was done", recipient = clean(.recipient))]
    RecipientIsNamed { recipient: String },
    #[error("{recipient} is the recipient of your own identity: you could not open the store; nothing was done", recipient = clean(.recipient))]
    RecipientIsYou { recipient: String },
    #[error("the store is not encrypted to {recipient}; nothing was done", recipient = clean(.recipient))]
    NoRecipient { recipient: String },
    #[error("there is no other store")]
    NoSecondStore,
    #[error("both stores are the same one: {store}; nothing was done", store = clean(.store))]
    SameStore { store: String },
    #[error(
        "the second store holds no key, and the first one does: {store} may not be mounted; nothing was written there", store = clean(.store))]
    SecondIsEmpty { store: String },
    #[error("{store} does not give back key {key}", store = clean(.store), key = clean(.key))]
    NotGivenBack { store: String, key: String },
    #[error("key {key} of the store is damaged", key = clean(.key))]
    Damaged { key: String },
    #[error(
        "a rotation to key {key} is not finished, and that key has {bits} bits and {days} days: --bits and --days can't change it\n  nothing was done", key = clean(.key))]
    RotationUnderWay { key: String, bits: usize, days: i64 },
}

/// What shows that keys were there before.
#[derive(Debug)]
pub(crate) enum Trace {
    /// Another store has some.
    SecondStore { store: String },
    /// A certificate of one is there.
    Certificate { path: PathBuf },
    /// SealedSecrets are there: the first, and how many more.
    Sealed { first: String, more: usize },
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SecondStore { store } => write!(f, "{store} holds keys"),
            Self::Certificate { path } => write!(f, "{} is the certificate of one", path.display()),
            Self::Sealed { first, more: 0 } => write!(f, "{first} was sealed with one"),
            Self::Sealed { first, more } => write!(f, "{first} and {more} more were sealed with one"),
        }
    }
}

impl KeysFailure {
    pub(super) fn next(&self) -> Next {
        Next::Seal(match self {
            Self::NoneYet { .. } | Self::NoNewest => Seal::Init,
            Self::Lost { has_backup: true, .. } => Seal::Restore,
            Self::Lost { has_backup: false, .. } => Seal::RestoreFromAnywhere,
            Self::WouldBeginAgain { has_backup, .. } => Seal::NewKeyAllTheSame { has_backup: *has_backup },
            Self::ThereAlready { .. } => Seal::RotateOrAdopt,
            Self::NothingToRestore { .. } => Seal::RestoreFromFilled,
            Self::NewRecipient { recipient, .. } => {
                return Next::Again(Again::WithNewRecipient { recipient: recipient.clone() });
            }
            Self::RecipientIsNamed { .. } => return Next::Edit(Edit::Recipient),
            Self::RecipientIsYou { .. } => return Next::Again(Again::WithOtherIdentity),
            Self::NoRecipient { .. } => Seal::Verify,
            Self::NoSecondStore => return Next::Store(Store::NameSecond),
            Self::SameStore { .. } => return Next::Store(Store::OtherDisk),
            Self::SecondIsEmpty { .. } => Seal::BackupAgain,
            Self::NotGivenBack { .. } => Seal::BackupElsewhere,
            Self::Damaged { .. } => Seal::RestoreFromBackup,
            Self::RotationUnderWay { .. } => return Next::Again(Again::WithoutBitsAndDays),
        })
    }
}
