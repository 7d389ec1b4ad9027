//! The desktop's own store: Secret Service on Linux and the BSDs, the keychain on macOS.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use keyring_core::api::CredentialStoreApi;
use keyring_core::{Entry, Error};
use zeroize::Zeroizing;

use super::{Kept, Lock, Revision, Store, StoreError};
use crate::SecretBytes;
use crate::ring::Ring;

const SERVICE: &str = "coldstart";

/// One item that holds a whole ring.
#[derive(Debug)]
pub struct Keyring {
    name: String,
    /// The item can't be locked, so a file is: writers on one machine.
    lock: PathBuf,
}

impl Keyring {
    /// `name` tells rings apart; `lock` is a file for locking only.
    pub fn new(name: impl Into<String>, lock: impl Into<PathBuf>) -> Self {
        Self { name: name.into(), lock: lock.into() }
    }

    fn entry(&self) -> Result<Entry, StoreError> {
        let label = format!("coldstart: sealing keys ({})", self.name);
        let modifiers = HashMap::from([("label", label.as_str())]);
        // The keychain knows no labels.
        let modifiers = if cfg!(target_os = "macos") { None } else { Some(&modifiers) };
        let entry = connect().and_then(|store| store.build(SERVICE, &format!("sealing-keys/{}", self.name), modifiers));
        entry.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &Error) -> StoreError {
        let store = self.describe();
        match error {
            Error::NoStorageAccess(_) => StoreError::Locked { store, why: say(error) },
            _ => StoreError::Unreadable { store, why: say(error) },
        }
    }

    fn bytes(&self, entry: &Entry) -> Result<Option<SecretBytes>, StoreError> {
        match entry.get_secret() {
            Ok(bytes) => Ok(Some(SecretBytes::new(bytes))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }
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
        self.bytes(&self.entry()?).map(drop)
    }

    fn read(&self) -> Result<Kept, StoreError> {
        let Some(bytes) = self.bytes(&self.entry()?)? else {
            return Ok(Kept { ring: Ring::default(), revision: Revision::Nothing });
        };
        let ring = Ring::from_json(bytes.expose());
        let ring = ring.map_err(|source| StoreError::Damaged { store: self.describe(), source })?;
        Ok(Kept { ring, revision: Revision::of(bytes.expose()) })
    }

    fn write(&self, ring: &Ring, revision: &Revision) -> Result<(), StoreError> {
        let unwritable = |why: String| StoreError::Unwritable { store: self.describe(), why };
        let json = ring.to_json().map_err(|error| unwritable(error.to_string()))?;
        let _lock = Lock::file(&self.lock).map_err(|error| unwritable(error.to_string()))?;
        let entry = self.entry()?;
        let now = self.bytes(&entry)?.map_or(Revision::Nothing, |bytes| Revision::of(bytes.expose()));
        if now != *revision {
            return Err(StoreError::Changed { store: self.describe() });
        }
        entry.set_secret(json.expose()).map_err(|error| unwritable(say(&error)))
    }
}

/// The items that people make with `secret-tool store service sealed-secrets key private_key` and `public_key`, one
/// text after the other; nothing where one of them is missing.
pub fn secret_tool_items() -> Result<Option<SecretBytes>, String> {
    let store = connect().map_err(|error| say(&error))?;
    let mut text = crate::SecretText::default();
    for key in ["private_key", "public_key"] {
        let found = store.search(&HashMap::from([("service", "sealed-secrets"), ("key", key)]));
        let found = found.map_err(|error| say(&error))?;
        let Some(entry) = found.first() else { return Ok(None) };
        let bytes = Zeroizing::new(entry.get_secret().map_err(|error| say(&error))?);
        text.push(std::str::from_utf8(&bytes).map_err(|_| format!("the item `{key}` is no text"))?);
        text.push("\n");
    }
    Ok(Some(text.into_bytes()))
}

/// What an error says. Some carry what was stored: those say nothing of it.
fn say(error: &Error) -> String {
    match error {
        Error::PlatformFailure(source) => source.to_string(),
        Error::NoStorageAccess(source) => {
            format!("{source}\n  next: unlock the keyring, or use another store: --store age:FILE")
        }
        Error::BadEncoding(_) | Error::BadDataFormat(..) => "what is stored there is not ours".to_owned(),
        Error::Ambiguous(entries) => format!("{} items have this name", entries.len()),
        other => other.to_string(),
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
