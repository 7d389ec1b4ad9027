//! The names of the files that Git tracks, from its index.
//!
//! Knows versions 2, 3 and 4 of the format. Does not know objects, branches or history, and believes nothing that it
//! reads: every length is checked.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::file::{self, Links};

/// An index of a million files is smaller than this.
const INDEX_BYTES_MAX: u64 = 256 * 1024 * 1024;
const NAME_BYTES_MAX: usize = 4096;
/// What a `.git` file that points elsewhere may hold.
const POINTER_BYTES_MAX: u64 = 8 * 1024;
/// Times, device, inode, mode, owner and size.
const STAT_BYTES: usize = 40;
/// The names of objects: SHA-1, or SHA-256 in repositories that chose it.
const HASH_BYTES: [usize; 2] = [20, 32];

/// Why Git's index could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum IndexError {
    /// The system does not let us.
    #[error("cannot be read")]
    Unreadable,
    /// More than is read of it.
    #[error("is larger than {} MiB", INDEX_BYTES_MAX / (1024 * 1024))]
    TooLarge,
    /// A format of another day.
    #[error("is a Git index of an unknown format")]
    Unknown,
    /// A part of it is elsewhere.
    #[error("is shared between work trees")]
    Split,
    /// It does not say what its format demands.
    #[error("is damaged")]
    Damaged,
}

/// The directories in which Git keeps what belongs to a work tree.
#[derive(Clone, Debug)]
pub(crate) struct GitDirectory {
    /// With the index of this work tree.
    own: PathBuf,
    /// With what all work trees of a repository share.
    common: PathBuf,
}

impl GitDirectory {
    /// The one of the work tree at `root`; `None` where there is none.
    pub(crate) fn of(root: &Path) -> Option<Self> {
        let git = root.join(".git");
        let own = if fs::metadata(&git).ok()?.is_dir() {
            git
        } else {
            root.join(pointer(&git)?.strip_prefix("gitdir:")?.trim())
        };
        if !own.is_dir() {
            return None;
        }
        let common = pointer(&own.join("commondir")).map_or_else(|| own.clone(), |common| own.join(common.trim()));
        Some(Self { own, common })
    }

    /// The branch that is checked out; `None` where it is a commit.
    pub(crate) fn branch(&self) -> Option<String> {
        let head = pointer(&self.own.join("HEAD"))?;
        Some(head.trim().strip_prefix("ref: refs/heads/")?.to_owned())
    }

    /// The file of patterns that are ignored in this clone alone.
    pub(crate) fn exclude(&self) -> PathBuf {
        self.common.join("info/exclude")
    }

    /// The paths of all tracked files. A repository without an index tracks none.
    pub(crate) fn tracked(&self) -> Result<BTreeSet<String>, IndexError> {
        match file::read(&self.own.join("index"), Links::Followed, INDEX_BYTES_MAX) {
            Ok(bytes) => names(&bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(BTreeSet::new()),
            Err(error) if error.kind() == ErrorKind::FileTooLarge => Err(IndexError::TooLarge),
            Err(_) => Err(IndexError::Unreadable),
        }
    }
}

fn pointer(path: &Path) -> Option<String> {
    file::read_text(path, Links::Followed, POINTER_BYTES_MAX).ok()
}

/// The names in an index. Names that are no UTF-8 are left out: no manifest refers to them.
fn names(bytes: &[u8]) -> Result<BTreeSet<String>, IndexError> {
    let mut failure = IndexError::Unknown;
    for hash in HASH_BYTES {
        match (Entries { rest: bytes, hash }).all() {
            Err(error) => failure = error,
            names => return names,
        }
    }
    Err(failure)
}

struct Entries<'bytes> {
    rest: &'bytes [u8],
    hash: usize,
}

impl<'bytes> Entries<'bytes> {
    fn all(mut self) -> Result<BTreeSet<String>, IndexError> {
        if self.take(4) != Some(b"DIRC") {
            return Err(IndexError::Unknown);
        }
        let version = self.number().ok_or(IndexError::Damaged)?;
        if !(2..=4).contains(&version) {
            return Err(IndexError::Unknown);
        }
        let count = self.number().ok_or(IndexError::Damaged)?;
        let mut names = BTreeSet::new();
        let mut name = Vec::new();
        for _ in 0..count {
            self.entry(version, &mut name).ok_or(IndexError::Damaged)?;
            names.extend(String::from_utf8(name.clone()));
        }
        if self.rest.starts_with(b"link") { Err(IndexError::Split) } else { Ok(names) }
    }

    /// Reads one entry; `name` holds the one before it, and then its own.
    fn entry(&mut self, version: u32, name: &mut Vec<u8>) -> Option<()> {
        let begin = self.rest.len();
        self.take(STAT_BYTES + self.hash)?;
        let flags = self.short()?;
        let is_extended = flags & 0x4000 != 0;
        if is_extended {
            if version < 3 {
                return None;
            }
            self.short()?;
        }
        if version == 4 {
            let dropped = self.variable()?;
            name.truncate(name.len().checked_sub(dropped)?);
        } else {
            name.clear();
        }
        let end = self.rest.iter().take(NAME_BYTES_MAX).position(|byte| *byte == 0)?;
        name.extend_from_slice(self.take(end)?);
        let length = usize::from(flags & 0x0fff);
        if name.is_empty() || name.len() > NAME_BYTES_MAX || (length < 0x0fff && length != name.len()) {
            return None;
        }
        let used = begin - self.rest.len();
        let padding = if version == 4 { 1 } else { 8 - used % 8 };
        self.take(padding)?.iter().all(|byte| *byte == 0).then_some(())
    }

    fn take(&mut self, count: usize) -> Option<&'bytes [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    /// A number in as many bytes as it needs: seven bits each, every further byte adding one.
    fn variable(&mut self) -> Option<usize> {
        let mut byte = self.take(1)?[0];
        let mut number = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.take(1)?[0];
            number = number.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        }
        Some(number)
    }
}
