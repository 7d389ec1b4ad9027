//! All keys of a cluster, old ones too: what is sealed with an old key must still open.

use std::fmt;

use diagnostic::Next;
use diagnostic::next::{Seal, Store};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::envelope::{Envelope, OpenError};
use crate::key::{Fingerprint, KeyError, KeyPair};
use crate::{SecretBytes, SecretText};
use source::clean;

const VERSION: u32 = 1;
/// Ten keys of 8192 bits are smaller than a tenth of this.
pub const RING_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A key and since when it is kept.
#[derive(Debug)]
pub struct Held {
    pub pair: KeyPair,
    pub added: OffsetDateTime,
}

/// Why a ring can't be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum RingError {
    #[error("it is not a key ring of coldstart: {0}")]
    Format(FormatFault),
    #[error("it was written by a later version of coldstart (format {0}, known: {VERSION})")]
    Version(u32),
    #[error("one of its keys is bad: {0}")]
    Key(#[from] KeyError),
    #[error("key {it} is already there", it = clean(.0))]
    Duplicate(String),
}

/// What is wrong with the text of a ring. Never holds any part of it.
#[derive(Debug, thiserror::Error)]
pub enum FormatFault {
    #[error("at line {line}, column {column}")]
    At { line: usize, column: usize },
    #[error("a key's `added` is not a time")]
    BadTime,
    /// The words of a library, about what was to be written.
    #[error("{said}", said = clean(.said))]
    Library { said: String },
}

impl RingError {
    /// What to type next.
    pub fn next(&self) -> Next {
        match self {
            Self::Version(_) => Next::Store(Store::LaterVersion),
            Self::Duplicate(_) => Next::Seal(Seal::VerifyWhatIsThere),
            Self::Key(source) => source.certain_next().unwrap_or(Next::Seal(Seal::RestoreOrBackup)),
            Self::Format(_) => Next::Seal(Seal::RestoreOrBackup),
        }
    }
}

/// Keys in the order in which the controller prefers them, the newest last: by the first day of their certificates.
#[derive(Debug, Default)]
pub struct Ring {
    keys: Vec<Held>,
    /// Whom an age file is encrypted to, so that writing it anew locks nobody out.
    pub recipients: Vec<String>,
}

impl Ring {
    pub fn keys(&self) -> &[Held] {
        &self.keys
    }

    pub fn into_keys(self) -> Vec<Held> {
        self.keys
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key to seal with: the newest whose certificate is good already. One that is good only later counts where
    /// there is no other.
    #[expect(clippy::disallowed_methods, reason = "whether a certificate is good is a question of today")]
    pub fn newest(&self) -> Option<&KeyPair> {
        self.newest_at(OffsetDateTime::now_utc())
    }

    /// As [`Ring::newest`], at another time.
    pub fn newest_at(&self, now: OffsetDateTime) -> Option<&KeyPair> {
        let has_begun = |held: &&Held| held.pair.certificate().not_before() <= now;
        let held = self.keys.iter().rev().find(has_begun).or_else(|| self.keys.last());
        held.map(|held| &held.pair)
    }

    pub fn get(&self, fingerprint: Fingerprint) -> Option<&KeyPair> {
        self.keys.iter().map(|held| &held.pair).find(|pair| pair.fingerprint() == fingerprint)
    }

    pub fn contains(&self, fingerprint: Fingerprint) -> bool {
        self.get(fingerprint).is_some()
    }

    /// Whether every key of `other` is here as well.
    pub fn holds_all_of(&self, other: &Self) -> bool {
        other.keys.iter().all(|held| self.contains(held.pair.fingerprint()))
    }

    /// Adds a key. A key that is there is never replaced.
    pub fn add(&mut self, pair: KeyPair, added: OffsetDateTime) -> Result<(), RingError> {
        if self.contains(pair.fingerprint()) {
            return Err(RingError::Duplicate(pair.id()));
        }
        self.keys.push(Held { pair, added });
        self.keys.sort_by_key(|held| (held.pair.certificate().not_before(), held.pair.fingerprint()));
        Ok(())
    }

    /// Opens a value, and says which key did.
    pub fn open(&self, sealed: &Envelope, label: &[u8]) -> Result<(&KeyPair, SecretBytes), OpenError> {
        for held in self.keys.iter().rev() {
            match held.pair.try_open(sealed, label) {
                Err(OpenError::NoKey) => {}
                tried => return tried.map(|value| (&held.pair, value)),
            }
        }
        Err(OpenError::NoKey)
    }

    /// Another ring of the same keys. Said out loud, because every copy of a key is one more to look after.
    pub fn duplicate(&self) -> Result<Self, RingError> {
        Self::from_json(self.to_json()?.expose())
    }

    /// Another ring of some of the same keys.
    pub fn only(&self, is_wanted: impl Fn(Fingerprint) -> bool) -> Result<Self, RingError> {
        let mut some = self.duplicate()?;
        some.keys.retain(|held| is_wanted(held.pair.fingerprint()));
        Ok(some)
    }

    /// The whole ring, private keys and all.
    pub fn to_json(&self) -> Result<SecretBytes, RingError> {
        let keys: Result<Vec<Written>, RingError> = self.keys.iter().map(Written::of).collect();
        let file = File { version: VERSION, recipients: self.recipients.clone(), keys: keys? };
        // Large enough at once: a buffer that grows leaves copies behind.
        let bytes =
            file.keys.iter().map(|key| 2 * (key.private_key.len() + key.certificate.len()) + 512).sum::<usize>();
        let mut json = Vec::with_capacity(bytes + 8 * 1024);
        serde_json::to_writer_pretty(&mut json, &file)
            .map_err(|error| RingError::Format(FormatFault::Library { said: error.to_string() }))?;
        json.push(b'\n');
        Ok(SecretBytes::new(json))
    }

    pub fn from_json(json: &[u8]) -> Result<Self, RingError> {
        // What serde_json says may quote the text: only the place is told.
        let format = |error: &serde_json::Error| {
            RingError::Format(FormatFault::At { line: error.line(), column: error.column() })
        };
        let version: Version = serde_json::from_slice(json).map_err(|error| format(&error))?;
        if version.version != VERSION {
            return Err(RingError::Version(version.version));
        }
        let file: File = serde_json::from_slice(json).map_err(|error| format(&error))?;
        let mut ring = Self { keys: Vec::new(), recipients: file.recipients.clone() };
        for key in &file.keys {
            let added = OffsetDateTime::parse(&key.added, &Rfc3339);
            let added = added.map_err(|_| RingError::Format(FormatFault::BadTime))?;
            ring.add(KeyPair::from_pem(&key.private_key, &key.certificate)?, added)?;
        }
        Ok(ring)
    }
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    recipients: Vec<String>,
    keys: Vec<Written>,
}

#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
struct Written {
    added: String,
    certificate: String,
    private_key: String,
}

impl Written {
    fn of(held: &Held) -> Result<Self, RingError> {
        let added = held
            .added
            .format(&Rfc3339)
            .map_err(|error| RingError::Format(FormatFault::Library { said: error.to_string() }))?;
        let pem: SecretText = held.pair.private_key_pem();
        let certificate = held.pair.certificate().to_pem();
        Ok(Self { added, certificate, private_key: pem.expose().to_owned() })
    }
}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written").field("added", &self.added).finish_non_exhaustive()
    }
}
