//! Which store is meant can't be told, or what would open it is not there.

use std::path::PathBuf;

use ::seal::store::IdentityError;
use diagnostic::Next;
use diagnostic::next::{Program, Store};
use source::{clean, shown};

#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreFailure {
    #[error("`{text}` is not a store", text = clean(.text))]
    Form { text: String },
    #[error("`vault:{place}` is not MOUNT/PATH", place = clean(.place))]
    VaultForm { place: String },
    #[error("no address of a Vault server")]
    NoVaultAddress,
    #[error("no token for the Vault server")]
    NoVaultToken,
    #[error("{}: {source}", shown(.path))]
    BadIdentity { path: PathBuf, source: IdentityError },
    #[error(
        "`seal.recipients` in coldstart.yaml can't open {}, which a passphrase opens: age can't combine that with recipients\n  nothing was done",
        shown(.path)
    )]
    RecipientsWithPassphrase { path: PathBuf },
    #[error("there is no home directory to keep keys in")]
    NoHome,
}

impl StoreFailure {
    pub(super) fn next(&self) -> Next {
        Next::Store(match self {
            Self::Form { .. } => Store::Forms,
            Self::VaultForm { .. } => Store::VaultForm,
            Self::NoVaultAddress => return Next::Program(Program::VaultAddress),
            Self::NoVaultToken => return Next::Program(Program::VaultLogin),
            Self::BadIdentity { .. } => Store::MakeIdentity,
            Self::RecipientsWithPassphrase { .. } => Store::IdentityOrNoRecipients,
            Self::NoHome => Store::AgeFile,
        })
    }
}
