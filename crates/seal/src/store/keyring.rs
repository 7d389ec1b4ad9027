//! The desktop's own store: Secret Service on Linux and the BSDs, the keychain on macOS.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use edit::Lock;
use keyring_core::api::CredentialStoreApi;
use keyring_core::{Entry, Error};
use zeroize::Zeroizing;

use super::{Kept, KeyringFault, Patience, Revision, Search, Store, StoreError, StoreFault};
use crate::SecretBytes;
use crate::ring::Ring;

const SERVICE: &str = "coldstart";

/// One item that holds a whole ring.
#[derive(Debug)]
pub struct Keyring {
    name: String,
    /// The item can't be locked, so a file is: writers on one machine.
    lock: PathBuf,
    patience: Patience,
}

impl Keyring {
    /// `name` tells rings apart; `lock` is a file for locking only.
    pub fn new(name: impl Into<String>, lock: impl Into<PathBuf>) -> Self {
        Self { name: name.into(), lock: lock.into(), patience: Patience::default() }
    }

    /// How long it may take to answer.
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// Whether it can be read without a question to anybody.
    pub fn is_unlocked(&self) -> bool {
        self.patience.wait(is_unlocked).is_some_and(|said| said.unwrap_or(false))
    }

    /// What the service says of the item. All that may make it ask somebody is behind this, and so ends.
    fn ask<T: Send + 'static>(
        &self,
        what: impl FnOnce(&Entry) -> Result<T, Error> + Send + 'static,
    ) -> Result<Result<T, Error>, StoreError> {
        let name = self.name.clone();
        let answer = self.patience.wait(move || what(&entry(&name)?));
        let seconds = self.patience.at_most.as_secs();
        answer.ok_or_else(|| StoreError::Silent { store: self.describe(), why: KeyringFault::Silent { seconds } })
    }

    fn failed(&self, error: &Error) -> StoreError {
        let store = self.describe();
        match error {
            Error::NoStorageAccess(_) => StoreError::Locked { store, why: Box::new(fault(error).into()) },
            Error::Ambiguous(entries) => {
                let search = Some(Search { service: SERVICE, user: user(&self.name) });
                let why = KeyringFault::Several { count: entries.len(), search };
                StoreError::Unreadable { store, why: Box::new(why.into()) }
            }
            _ => StoreError::Unreadable { store, why: Box::new(fault(error).into()) },
        }
    }

    fn bytes(&self) -> Result<Option<SecretBytes>, StoreError> {
        let read = self.ask(|entry| match entry.get_secret() {
            // Some services show nothing of what is locked: what is not seen there may well be there, and whoever wrote a
            // new item would write over it.
            Err(Error::NoEntry) if unlock()? => entry.get_secret(),
            read => read,
        });
        match read? {
            Ok(bytes) => Ok(Some(SecretBytes::new(bytes))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }
}

fn user(name: &str) -> String {
    format!("sealing-keys/{name}")
}

fn entry(name: &str) -> Result<Entry, Error> {
    let label = format!("coldstart: sealing keys ({name})");
    let modifiers = HashMap::from([("label", label.as_str())]);
    // The keychain knows no labels.
    let modifiers = if cfg!(target_os = "macos") { None } else { Some(&modifiers) };
    connect()?.build(SERVICE, &user(name), modifiers)
}

impl Store for Keyring {
    fn describe(&self) -> String {
        let what = if cfg!(target_os = "macos") { "the keychain" } else { "the Secret Service" };
        format!("{what} (item `{}`)", self.name)
    }

    fn identity(&self) -> String {
        format!("keyring:{}", self.name)
    }

    /// What can be read can be written here.
    fn probe(&self) -> Result<(), StoreError> {
        self.bytes().map(drop)
    }

    fn read(&self) -> Result<Kept, StoreError> {
        let Some(bytes) = self.bytes()? else {
            return Ok(Kept { ring: Ring::default(), revision: Revision::Nothing });
        };
        let ring = Ring::from_json(bytes.expose());
        let ring = ring.map_err(|source| StoreError::Damaged { store: self.describe(), source })?;
        Ok(Kept { ring, revision: Revision::of(bytes.expose()) })
    }

    fn write(&self, ring: &Ring, revision: &Revision) -> Result<(), StoreError> {
        let unwritable = |why: StoreFault| StoreError::Unwritable { store: self.describe(), why: Box::new(why) };
        let json = ring.to_json().map_err(|error| unwritable(error.into()))?;
        let _lock = Lock::file(&self.lock).map_err(|error| unwritable(error.into()))?;
        // Unlocked here, if it has to be: a question that is answered too late must not be followed by a write.
        let now = self.bytes()?.map_or(Revision::Nothing, |bytes| Revision::of(bytes.expose()));
        if now != *revision {
            return Err(StoreError::Changed { store: self.describe() });
        }
        self.ask(move |entry| entry.set_secret(json.expose()))?.map_err(|error| match error {
            Error::NoStorageAccess(_) => self.failed(&error),
            other => unwritable(fault(&other).into()),
        })
    }
}

/// The items that people make with `secret-tool store service sealed-secrets key private_key` and `public_key`, one
/// text after the other; nothing where one of them is missing.
pub fn secret_tool_items(patience: &Patience) -> Result<Option<SecretBytes>, KeyringFault> {
    let answer = patience.wait(|| match items() {
        Ok(None) if unlock().map_err(|error| fault(&error))? => items(),
        read => read,
    });
    answer.unwrap_or_else(|| Err(KeyringFault::Silent { seconds: patience.at_most.as_secs() }))
}

/// Every item of these names: of several keys, whoever adopts them sees all.
fn items() -> Result<Option<SecretBytes>, KeyringFault> {
    let store = connect().map_err(|error| fault(&error))?;
    let mut text = crate::SecretText::default();
    for key in ["private_key", "public_key"] {
        let found = store.search(&HashMap::from([("service", "sealed-secrets"), ("key", key)]));
        let found = found.map_err(|error| fault(&error))?;
        if found.is_empty() {
            return Ok(None);
        }
        for entry in found {
            let bytes = Zeroizing::new(entry.get_secret().map_err(|error| fault(&error))?);
            text.push(std::str::from_utf8(&bytes).map_err(|_| KeyringFault::NotText { item: key })?);
            text.push("\n");
        }
    }
    Ok(Some(text.into_bytes()))
}

/// What an error says. Some carry what was stored: those say nothing of it.
fn fault(error: &Error) -> KeyringFault {
    match error {
        Error::PlatformFailure(source) => KeyringFault::Platform { said: source.to_string() },
        Error::NoStorageAccess(_) => KeyringFault::StillLocked,
        Error::BadEncoding(_) | Error::BadDataFormat(..) => KeyringFault::NotOurs,
        Error::Ambiguous(entries) => KeyringFault::Several { count: entries.len(), search: None },
        other => KeyringFault::Other { said: other.to_string() },
    }
}

type AnyStore = Arc<dyn CredentialStoreApi + Send + Sync>;

#[cfg(all(unix, not(target_os = "macos")))]
fn connect() -> Result<AnyStore, Error> {
    let store: AnyStore = zbus_secret_service_keyring_store::Store::new()?;
    Ok(store)
}

#[cfg(target_os = "macos")]
fn connect() -> Result<AnyStore, Error> {
    let store: AnyStore = apple_native_keyring_store::keychain::Store::new()?;
    Ok(store)
}

#[cfg(not(unix))]
fn connect() -> Result<AnyStore, Error> {
    Err(Error::NotSupportedByStore("there is no Secret Service on this system".to_owned()))
}

/// Has the keyring unlocked that new items go to. Says whether it was locked.
#[cfg(all(unix, not(target_os = "macos")))]
fn unlock() -> Result<bool, Error> {
    with_default(|keyring| {
        if !keyring.is_locked()? {
            return Ok(false);
        }
        keyring.unlock()?;
        keyring.ensure_unlocked()?;
        Ok(true)
    })
}

#[cfg(all(unix, not(target_os = "macos")))]
fn is_unlocked() -> Result<bool, Error> {
    with_default(|keyring| Ok(!keyring.is_locked()?))
}

/// The keyring that new items go to.
#[cfg(all(unix, not(target_os = "macos")))]
fn with_default<T>(
    ask: impl FnOnce(&secret_service::blocking::Collection<'_>) -> Result<T, secret_service::Error>,
) -> Result<T, Error> {
    use secret_service::blocking::SecretService;
    use secret_service::{EncryptionType, Error as ServiceError};

    let failed = |error: ServiceError| match error {
        ServiceError::Locked | ServiceError::Prompt => Error::NoStorageAccess(Box::new(error)),
        other => Error::PlatformFailure(Box::new(other)),
    };
    // Nothing secret passes here.
    let service = SecretService::connect(EncryptionType::Plain).map_err(failed)?;
    match service.get_default_collection() {
        // Not even an empty one: a new item would have nowhere to go.
        Err(ServiceError::NoResult) => Err(Error::PlatformFailure("there is no keyring in it yet".into())),
        found => found.and_then(|keyring| ask(&keyring)).map_err(failed),
    }
}

/// The keychain tells what is locked from what is not there.
#[cfg(not(all(unix, not(target_os = "macos"))))]
fn unlock() -> Result<bool, Error> {
    Ok(false)
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn is_unlocked() -> Result<bool, Error> {
    Ok(true)
}
