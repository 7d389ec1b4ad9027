//! Where keys are kept: outside of the cluster's life.
//!
//! A store holds one ring. Reading gives the ring and a revision; writing names the revision that was read, so that
//! of two writers at once one is told, and nothing of the other is lost. No store ever drops a key.

mod age_file;
mod directory;
mod keyring;
mod lock;
mod patience;
mod vault;
mod vault_answer;

use std::fmt;
use std::path::PathBuf;

pub use age_file::{Access, AgeFile, Passphrase, identities_of};
pub use directory::Directory;
pub use keyring::{Keyring, secret_tool_items};
pub use lock::{
    Lock, LockError, probe_file, remove_stale, replace_unchanged, replace_whole, resolved, write_atomically,
};
pub use patience::Patience;
pub use vault::{Vault, VaultAddress};
pub use vault_answer::{VaultAnswer, VaultRefusal};

use crate::ring::{Ring, RingError};

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
    #[error("{store} can't be read: {why}")]
    Unreadable { store: String, why: String },
    #[error("{store} can't be written: {}", as_it_was(.why))]
    Unwritable { store: String, why: String },
    #[error("{store} is locked: {why}")]
    Locked { store: String, why: String },
    /// Whether it was written is not known; whoever asks again finds out.
    #[error("{store} does not answer: {why}")]
    Silent { store: String, why: String },
    #[error("{store} is damaged: {source}")]
    Damaged { store: String, source: RingError },
    #[error("{store} was changed by somebody else meanwhile; nothing was written\n  next: the same command again")]
    Changed { store: String },
    #[error("{store} holds keys that would be lost; nothing was written")]
    WouldLose { store: String },
    #[error("{store} is open to others: {} has mode {mode:o}\n  next: chmod {} {}", .path.display(), if *.directory { "700" } else { "600" }, .path.display())]
    Open { store: String, path: PathBuf, mode: u32, directory: bool },
    #[error("{store} does not give back what was written to it")]
    NotProved { store: String },
}

/// The reason, with what it means for the store before what to do next.
fn as_it_was(why: &str) -> String {
    let (what, next) = why.split_at(why.find("\n  next:").unwrap_or(why.len()));
    format!("{what}; it is as it was{next}")
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
