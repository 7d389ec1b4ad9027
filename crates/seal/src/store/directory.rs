//! Plain PEM files in a directory of their owner alone: for CI, where something else guards the directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use edit::{Lock, Readers, make_private_directory, probe, replace_for_good, resolved};
use source::shown;
use time::OffsetDateTime;

use super::{DirectoryFault, Kept, Revision, Store, StoreError, StoreFault};
use crate::SecretBytes;
use crate::key::KeyPair;
use crate::ring::Ring;

const KEY: &str = "key";
const CERTIFICATE: &str = "crt";
const FILE_BYTES_MAX: usize = 256 * 1024;

/// `NAME.key` and `NAME.crt` for every key: ours are named by the key, others may be called as they like.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
}

impl Directory {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn unreadable(&self, why: impl Into<StoreFault>) -> StoreError {
        StoreError::Unreadable { store: self.describe(), why: Box::new(why.into()) }
    }

    fn unwritable(&self, why: impl Into<StoreFault>) -> StoreError {
        StoreError::Unwritable { store: self.describe(), why: Box::new(why.into()) }
    }

    /// The private keys' files, sorted; nothing where there is no directory.
    fn files(&self) -> Result<Option<Vec<PathBuf>>, StoreError> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.unreadable(error)),
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| self.unreadable(error))?.path();
            let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            if !is_hidden && path.extension().is_some_and(|ending| ending == KEY) {
                files.push(path);
            }
        }
        files.sort();
        Ok(Some(files))
    }

    fn text(&self, path: &Path) -> Result<SecretBytes, StoreError> {
        let read = fs::File::open(path).and_then(|file| SecretBytes::read(file, FILE_BYTES_MAX));
        read.map_err(|source| self.unreadable(DirectoryFault::File { name: name_of(path), source }))
    }

    fn is_private(&self, path: &Path, directory: bool) -> Result<(), StoreError> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let metadata = fs::metadata(path).map_err(|error| self.unreadable(error))?;
            let mode = metadata.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                return Err(StoreError::Open { store: self.describe(), path: path.to_path_buf(), mode, directory });
            }
        }
        let _ = (path, directory);
        Ok(())
    }

    /// One pair, and all bytes of its files.
    fn pair(&self, key: &Path) -> Result<(KeyPair, OffsetDateTime, Vec<u8>), StoreError> {
        self.is_private(key, false)?;
        let (private_key, certificate) = (self.text(key)?, self.text(&key.with_extension(CERTIFICATE))?);
        let no_text = || self.unreadable(DirectoryFault::NotPem { name: name_of(key) });
        let (key_text, certificate_text) =
            (private_key.expose_text().ok_or_else(no_text)?, certificate.expose_text().ok_or_else(no_text)?);
        let pair = KeyPair::from_pem(key_text, certificate_text)
            .map_err(|source| self.unreadable(DirectoryFault::Pair { name: name_of(key), source }))?;
        let added =
            fs::metadata(key).and_then(|metadata| metadata.modified()).map_err(|error| self.unreadable(error))?;
        // The certificate is public, and changes with the key.
        Ok((pair, added.into(), certificate.expose().to_vec()))
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().display().to_string()
}

impl Store for Directory {
    fn describe(&self) -> String {
        format!("the directory {}", shown(&self.path))
    }

    fn identity(&self) -> String {
        format!("dir:{}", resolved(&self.path).display())
    }

    fn probe(&self) -> Result<(), StoreError> {
        let probed = match fs::metadata(&self.path) {
            Ok(there) if !there.is_dir() => Err(io::ErrorKind::NotADirectory.into()),
            Ok(_) => probe(&self.path.join(".lock")),
            Err(_) => probe(&self.path),
        };
        probed.map_err(|error: io::Error| self.unwritable(error))
    }

    fn read(&self) -> Result<Kept, StoreError> {
        let Some(files) = self.files()? else {
            return Ok(Kept { ring: Ring::default(), revision: Revision::Nothing });
        };
        self.is_private(&self.path, true)?;
        let (mut ring, mut all) = (Ring::default(), Vec::new());
        for file in files {
            let (pair, added, bytes) = self.pair(&file)?;
            all.extend(bytes);
            ring.add(pair, added).map_err(|source| StoreError::Damaged { store: self.describe(), source })?;
        }
        let revision = if ring.is_empty() { Revision::Nothing } else { Revision::of(&all) };
        Ok(Kept { ring, revision })
    }

    /// Only adds: a key that is there is not touched.
    fn write(&self, ring: &Ring, revision: &Revision) -> Result<(), StoreError> {
        make_private_directory(&self.path).map_err(|error| self.unwritable(error))?;
        let _lock = Lock::file(&self.path.join(".lock")).map_err(|error| self.unwritable(error))?;
        let now = self.read()?;
        if now.revision != *revision {
            return Err(StoreError::Changed { store: self.describe() });
        }
        for held in ring.keys().iter().filter(|held| !now.ring.contains(held.pair.fingerprint())) {
            let key = self.path.join(format!("{}.{KEY}", held.pair.id()));
            let certificate = key.with_extension(CERTIFICATE);
            if key.exists() {
                return Err(self.unwritable(DirectoryFault::Exists { path: key }));
            }
            // The certificate first: without it, a key that was written last would be a damaged store.
            replace_for_good(&certificate, held.pair.certificate().to_pem().as_bytes(), Readers::Owner)
                .and_then(|()| replace_for_good(&key, held.pair.private_key_pem().expose().as_bytes(), Readers::Owner))
                .map_err(|error| self.unwritable(error))?;
        }
        Ok(())
    }
}
