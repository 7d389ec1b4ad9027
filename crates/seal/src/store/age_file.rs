//! A file encrypted with age: to a passphrase, or to the recipients of identities. The default store.

use std::cell::RefCell;
use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use age::armor::{ArmoredReader, ArmoredWriter, Format};
use age::secrecy::SecretString;
use age::{DecryptError, Decryptor, Encryptor, scrypt, x25519};
use edit::{Lock, Readers, make_private_directory, probe, replace_for_good, resolved};
use source::shown;

use super::{AgeFault, IdentityError, Kept, PassphraseError, Recipients, Revision, Store, StoreError, StoreFault};
use crate::SecretBytes;
use crate::age_program::{self, AgeProgramError, POST_QUANTUM_IDENTITY, POST_QUANTUM_RECIPIENT};
use crate::ring::{RING_BYTES_MAX, Ring};

/// The work factor that age itself writes: about a second, and 256 MiB. Written down because the library would
/// measure the machine, and a file that is made on a fast one must open on a slow one.
const WORK_FACTOR_LOG2: u8 = 18;
/// More than this is an attack on the reader.
const WORK_FACTOR_LOG2_MAX: u8 = 22;

/// How the file opens.
pub enum Access {
    /// Asked for when it is needed, at most once.
    Passphrase(Passphrase),
    Identities {
        identities: Vec<x25519::Identity>,
        /// Who else is to be able to open it, beside the identities themselves and whoever could before.
        recipients: Vec<String>,
    },
    /// Identities that only the `age` program can use, as an identity file has them.
    Program { identities: SecretBytes, recipients: Vec<String> },
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passphrase(_) => "Access(passphrase)",
            Self::Identities { .. } => "Access(identities)",
            Self::Program { .. } => "Access(identities for the program age)",
        })
    }
}

/// Where a passphrase comes from.
pub struct Passphrase {
    /// Gets `true` when the passphrase is a new one.
    ask: Box<dyn Fn(bool) -> Result<SecretBytes, PassphraseError>>,
    known: RefCell<Option<SecretString>>,
}

impl Passphrase {
    pub fn new(ask: impl Fn(bool) -> Result<SecretBytes, PassphraseError> + 'static) -> Self {
        Self { ask: Box::new(ask), known: RefCell::new(None) }
    }

    fn get(&self, is_new: bool) -> Result<SecretString, PassphraseError> {
        if let Some(known) = &*self.known.borrow() {
            return Ok(known.clone());
        }
        let said = (self.ask)(is_new)?;
        let text = said.expose_text().ok_or(PassphraseError::NotText)?;
        if text.is_empty() {
            return Err(PassphraseError::Empty);
        }
        let said = SecretString::from(text.to_owned());
        *self.known.borrow_mut() = Some(said.clone());
        Ok(said)
    }

    fn forget(&self) {
        *self.known.borrow_mut() = None;
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(not shown)")
    }
}

/// The identities of an age key file, as `age-keygen` writes it.
pub fn identities_of(text: &str) -> Result<Vec<x25519::Identity>, IdentityError> {
    let mut identities = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with(POST_QUANTUM_IDENTITY) {
            return Err(IdentityError::PostQuantum);
        }
        let identity = x25519::Identity::from_str(line);
        identities.push(identity.map_err(|_| IdentityError::BadLine)?);
    }
    if identities.is_empty() { Err(IdentityError::NothingThere) } else { Ok(identities) }
}

#[derive(Debug)]
pub struct AgeFile {
    path: PathBuf,
    access: Access,
}

impl AgeFile {
    pub fn new(path: impl Into<PathBuf>, access: Access) -> Self {
        Self { path: path.into(), access }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn unreadable(&self, why: impl Into<StoreFault>) -> StoreError {
        StoreError::Unreadable { store: self.describe(), why: Box::new(why.into()) }
    }

    fn unwritable(&self, why: impl Into<StoreFault>) -> StoreError {
        StoreError::Unwritable { store: self.describe(), why: Box::new(why.into()) }
    }

    fn locked(&self, why: impl Into<AgeFault>) -> StoreError {
        StoreError::Locked { store: self.describe(), why: Box::new(why.into().into()) }
    }

    /// The encrypted file; nothing where there is none.
    fn bytes(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let file = match fs::File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.unreadable(error)),
        };
        let mut bytes = Vec::new();
        let limit = 2 * RING_BYTES_MAX as u64;
        file.take(limit).read_to_end(&mut bytes).map_err(|error| self.unreadable(error))?;
        Ok(Some(bytes))
    }

    fn decrypt(&self, bytes: &[u8]) -> Result<SecretBytes, StoreError> {
        let decryptor = Decryptor::new_buffered(ArmoredReader::new(bytes));
        let decryptor = decryptor.map_err(|_| self.unreadable(AgeFault::NotAge))?;
        let opened = match (&self.access, decryptor.is_scrypt()) {
            (Access::Passphrase(passphrase), true) => {
                let said = passphrase.get(false).map_err(|why| self.locked(why))?;
                let mut identity = scrypt::Identity::new(said);
                identity.set_max_work_factor(WORK_FACTOR_LOG2_MAX);
                let opened = decryptor.decrypt(std::iter::once(&identity as &dyn age::Identity));
                if opened.is_err() {
                    passphrase.forget();
                }
                opened
            }
            (Access::Identities { identities, .. }, false) => {
                decryptor.decrypt(identities.iter().map(|identity| identity as &dyn age::Identity))
            }
            (Access::Program { identities, .. }, false) => return self.decrypt_by_program(bytes, identities),
            (Access::Passphrase(_), false) => {
                return Err(self.locked(AgeFault::NeedsIdentities));
            }
            (Access::Identities { .. } | Access::Program { .. }, true) => {
                return Err(self.locked(AgeFault::NeedsPassphrase));
            }
        };
        let reader = opened.map_err(|error| match error {
            DecryptError::DecryptionFailed | DecryptError::KeyDecryptionFailed => {
                self.locked(AgeFault::WrongPassphrase)
            }
            DecryptError::NoMatchingKeys => self.locked(AgeFault::NoMatch),
            DecryptError::ExcessiveWork { .. } => self.unreadable(AgeFault::TooMuchWork),
            DecryptError::InvalidMac => self.unreadable(AgeFault::Altered),
            other => self.unreadable(AgeFault::Decrypt(other)),
        })?;
        SecretBytes::read(reader, RING_BYTES_MAX).map_err(|_| self.unreadable(AgeFault::CutOff))
    }

    fn decrypt_by_program(&self, bytes: &[u8], identities: &SecretBytes) -> Result<SecretBytes, StoreError> {
        age_program::decrypt(bytes, identities).map_err(|error| match error {
            AgeProgramError::NoMatch => self.locked(error),
            other => self.unreadable(AgeFault::Program(other)),
        })
    }

    fn encrypt(&self, ring: &Ring) -> Result<Vec<u8>, StoreError> {
        match &self.access {
            Access::Passphrase(passphrase) => {
                let said = passphrase.get(true).map_err(|why| self.locked(why))?;
                let mut recipient = scrypt::Recipient::new(said);
                recipient.set_work_factor(WORK_FACTOR_LOG2);
                let only: Box<dyn age::Recipient> = Box::new(recipient);
                self.armored(Encryptor::with_recipients(std::iter::once(&*only)), &self.json(ring, Vec::new())?)
            }
            Access::Identities { recipients, .. } => {
                let all = everybody(self.own()?, recipients, ring);
                let parsed: Vec<x25519::Recipient> =
                    all.iter().map(|text| self.recipient(text)).collect::<Result<_, _>>()?;
                let encryptor = Encryptor::with_recipients(parsed.iter().map(|one| one as &dyn age::Recipient));
                self.armored(encryptor, &self.json(ring, all)?)
            }
            Access::Program { recipients, .. } => {
                let all = everybody(self.own()?, recipients, ring);
                let json = self.json(ring, all.clone())?;
                age_program::encrypt(&json, &all).map_err(|error| self.unwritable(AgeFault::Program(error)))
            }
        }
    }

    /// The recipients of the identities at hand.
    fn own(&self) -> Result<Vec<String>, StoreError> {
        match &self.access {
            Access::Passphrase(_) => Ok(Vec::new()),
            Access::Identities { identities, .. } => {
                Ok(identities.iter().map(|identity| identity.to_public().to_string()).collect())
            }
            Access::Program { identities, .. } => {
                age_program::recipients(identities).map_err(|error| self.unwritable(AgeFault::Program(error)))
            }
        }
    }

    fn recipient(&self, text: &str) -> Result<x25519::Recipient, StoreError> {
        if text.starts_with(POST_QUANTUM_RECIPIENT) {
            return Err(self.unwritable(AgeFault::PostQuantumRecipient));
        }
        let bad = |_| self.unwritable(AgeFault::BadRecipient { recipient: text.to_owned() });
        x25519::Recipient::from_str(text).map_err(bad)
    }

    /// The ring with the recipients that it is about to be encrypted to.
    fn json(&self, ring: &Ring, recipients: Vec<String>) -> Result<SecretBytes, StoreError> {
        let json = ring.duplicate().and_then(|mut copy| {
            copy.recipients = recipients;
            copy.to_json()
        });
        json.map_err(|source| StoreError::Damaged { store: self.describe(), source })
    }

    fn armored(
        &self,
        encryptor: Result<Encryptor, age::EncryptError>,
        plain: &SecretBytes,
    ) -> Result<Vec<u8>, StoreError> {
        let encryptor = encryptor.map_err(|error| self.unwritable(AgeFault::Encrypt(error)))?;
        let mut bytes = Vec::new();
        let written: io::Result<()> = (|| {
            let armor = ArmoredWriter::wrap_output(&mut bytes, Format::AsciiArmor)?;
            let mut writer = encryptor.wrap_output(armor)?;
            writer.write_all(plain.expose())?;
            writer.finish()?.finish().map(drop)
        })();
        written.map_err(|error| self.unwritable(error))?;
        Ok(bytes)
    }
}

/// Whose identities are at hand, who is named, and who could open it before.
fn everybody(own: Vec<String>, named: &[String], ring: &Ring) -> Vec<String> {
    let mut all = own;
    all.extend(named.iter().chain(&ring.recipients).cloned());
    all.sort();
    all.dedup();
    all
}

impl Store for AgeFile {
    fn describe(&self) -> String {
        format!("the age file {}", shown(&self.path))
    }

    fn identity(&self) -> String {
        format!("age:{}", resolved(&self.path).display())
    }

    fn probe(&self) -> Result<(), StoreError> {
        // A passphrase that is not known yet would be asked for; recipients can be wrong.
        if !matches!(self.access, Access::Passphrase(_)) {
            self.encrypt(&Ring::default())?;
        }
        probe(&self.path).map_err(|error| self.unwritable(error))
    }

    fn read(&self) -> Result<Kept, StoreError> {
        let Some(bytes) = self.bytes()? else {
            return Ok(Kept { ring: Ring::default(), revision: Revision::Nothing });
        };
        let json = self.decrypt(&bytes)?;
        let ring = Ring::from_json(json.expose());
        let ring = ring.map_err(|source| StoreError::Damaged { store: self.describe(), source })?;
        Ok(Kept { ring, revision: Revision::of(&bytes) })
    }

    fn recipients(&self, ring: &Ring) -> Result<Recipients, StoreError> {
        let named = match &self.access {
            Access::Passphrase(_) => Vec::new(),
            Access::Identities { recipients, .. } | Access::Program { recipients, .. } => recipients.clone(),
        };
        Ok(Recipients { own: self.own()?, named, recorded: ring.recipients.clone() })
    }

    fn write(&self, ring: &Ring, revision: &Revision) -> Result<(), StoreError> {
        let encrypted = self.encrypt(ring)?;
        if let Some(parent) = self.path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            make_private_directory(parent).map_err(|error| self.unwritable(error))?;
        }
        let _lock = Lock::beside(&self.path).map_err(|error| self.unwritable(error))?;
        let now = self.bytes()?.map_or(Revision::Nothing, |bytes| Revision::of(&bytes));
        if now != *revision {
            return Err(StoreError::Changed { store: self.describe() });
        }
        replace_for_good(&self.path, &encrypted, Readers::Owner).map_err(|error| self.unwritable(error))
    }
}
