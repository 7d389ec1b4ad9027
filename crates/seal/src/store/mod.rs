//! Where keys are kept: outside of the cluster's life.
//!
//! A store holds one ring. Reading gives the ring and a revision; writing names the revision that was read, so that
//! of two writers at once one is told, and nothing of the other is lost. No store ever drops a key.

#![allow(clippy::disallowed_methods, reason = "key stores are files of their owner, outside of every repository")]

mod age_file;
mod directory;
mod fault;
mod keyring;
mod patience;
mod vault;
mod vault_answer;

use std::fmt;
use std::path::PathBuf;

pub use age_file::{Access, AgeFile, Passphrase, identities_of};
pub use directory::Directory;
pub use fault::{
    AgeFault, DirectoryFault, IdentityError, KeyringFault, PassphraseError, Search, StoreFault, VaultFault,
};
pub use keyring::{Keyring, secret_tool_items};
pub use patience::Patience;
pub use vault::{Vault, VaultAddress};
pub use vault_answer::{VaultAnswer, VaultRefusal};

use diagnostic::Next;
use diagnostic::next::{Again, Program, Seal, Store as StoreNext};

use crate::ring::{Ring, RingError};
use source::{clean, shown};

/// What a store said when it was read; different after every change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revision {
    /// There is nothing yet.
    Nothing,
    /// A digest of what is there.
    Digest([u8; 32]),
    /// The store counts by itself.
    Version(u64),
}

impl Revision {
    fn of(bytes: &[u8]) -> Self {
        let mut digest = [0; 32];
        digest.copy_from_slice(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes).as_ref());
        Self::Digest(digest)
    }
}

/// A ring as it was read. Empty where nothing is kept yet.
#[derive(Debug)]
pub struct Kept {
    pub ring: Ring,
    pub revision: Revision,
}

/// Why a store can't be read or written: what, where, why. Never holds anything of what is kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{store} can't be read: {why}", store = clean(.store))]
    Unreadable { store: String, why: Box<StoreFault> },
    #[error("{store} can't be written: {why}; it is as it was", store = clean(.store))]
    Unwritable { store: String, why: Box<StoreFault> },
    #[error("{store} is locked: {why}", store = clean(.store))]
    Locked { store: String, why: Box<StoreFault> },
    /// Whether it was written is not known; whoever asks again finds out.
    #[error("{store} does not answer: {why}", store = clean(.store))]
    Silent { store: String, why: KeyringFault },
    #[error("{store} is damaged: {source}", store = clean(.store))]
    Damaged { store: String, source: RingError },
    #[error("{store} was changed by another program in the meantime; nothing was written", store = clean(.store))]
    Changed { store: String },
    #[error("{store} holds keys that would be lost; nothing was written", store = clean(.store))]
    WouldLose { store: String },
    #[error("{store} is open to others: {} has mode {mode:o}", shown(.path), store = clean(.store))]
    Open { store: String, path: PathBuf, mode: u32, directory: bool },
    #[error("{store} does not give back what was written to it", store = clean(.store))]
    NotProved { store: String },
}

impl StoreError {
    /// What to type next.
    pub fn next(&self) -> Next {
        match self {
            Self::Unreadable { why, .. } => why.next().unwrap_or(Next::Store(StoreNext::ReadableOrOther)),
            Self::Unwritable { why, .. } => why.next().unwrap_or(Next::Store(StoreNext::WritableOrOther)),
            Self::Locked { why, .. } => why.next().unwrap_or(Next::Store(StoreNext::Unlock)),
            Self::Silent { why, .. } => why.next().unwrap_or(Next::Again(Again::Same)),
            Self::Damaged { source, .. } => source.next(),
            Self::WouldLose { .. } | Self::Changed { .. } => Next::Again(Again::Same),
            Self::Open { path, directory, .. } => {
                Next::Program(Program::Chmod { path: path.clone(), is_directory: *directory })
            }
            Self::NotProved { .. } => Next::Seal(Seal::VerifyBeforeUse),
        }
    }
}

/// Whom an age store is encrypted to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipients {
    /// The identities at hand.
    pub own: Vec<String>,
    /// Those that the settings name.
    pub named: Vec<String>,
    /// Those that the store's own record has: they can open it.
    pub recorded: Vec<String>,
}

impl Recipients {
    /// Those that the next writing would let in.
    pub fn newcomers(&self) -> Vec<&str> {
        without(&self.named, &[&self.own, &self.recorded])
    }

    /// Those that can open it though the settings do not name them.
    pub fn unnamed(&self) -> Vec<&str> {
        without(&self.recorded, &[&self.own, &self.named])
    }
}

fn without<'a>(all: &'a [String], known: &[&Vec<String>]) -> Vec<&'a str> {
    let is_known = |one: &&String| known.iter().any(|known| known.contains(one));
    let mut rest: Vec<&str> = all.iter().filter(|one| !is_known(one)).map(String::as_str).collect();
    rest.sort_unstable();
    rest.dedup();
    rest
}

/// A place that keeps a ring.
pub trait Store: fmt::Debug {
    /// For people: what it is and where.
    fn describe(&self) -> String;

    /// Which one it is, however it is spelt.
    fn identity(&self) -> String;

    /// Tries whether it could be written, and changes nothing. What only writing itself can tell is not found.
    fn probe(&self) -> Result<(), StoreError>;

    fn read(&self) -> Result<Kept, StoreError>;

    /// Whom it is encrypted to, as far as the ring that was read there tells; nobody where a store knows no recipients.
    fn recipients(&self, _ring: &Ring) -> Result<Recipients, StoreError> {
        Ok(Recipients::default())
    }

    /// Writes the ring if the store is still as it was at `revision`.
    fn write(&self, ring: &Ring, revision: &Revision) -> Result<(), StoreError>;
}

/// Writes the ring and reads it back: afterwards every key of it is in the store, and works. Returns what was read
/// back.
pub fn keep(store: &dyn Store, ring: &Ring, before: &Kept) -> Result<Ring, StoreError> {
    if !ring.holds_all_of(&before.ring) {
        return Err(StoreError::WouldLose { store: store.describe() });
    }
    store.write(ring, &before.revision)?;
    let proof = store.read()?.ring;
    let is_proved = proof.holds_all_of(ring) && proof.keys().iter().all(|held| held.pair.works());
    if is_proved { Ok(proof) } else { Err(StoreError::NotProved { store: store.describe() }) }
}
