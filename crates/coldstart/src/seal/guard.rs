//! Who may change the files of a directory: one program at a time, whoever runs it and wherever their home is. Threads of
//! this program share what it holds, because they work on different files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use ::seal::store::{Lock, LockError, resolved};

use super::failure::SealFailure;
use super::store;

/// What this program holds, by directory: a second lock of its own would wait for the first.
static HELD: LazyLock<Mutex<BTreeMap<PathBuf, Weak<Lock>>>> = LazyLock::new(Mutex::default);

/// Held until dropped. Nothing where the file system knows no locks; then only a look right before writing is left.
pub(crate) struct Guard {
    _lock: Option<Arc<Lock>>,
}

impl Guard {
    /// For a file that may not be there yet, nor its directory: then the nearest one that is.
    pub(crate) fn of(path: &Path) -> Result<Self, SealFailure> {
        loop {
            let directory = nearest(path);
            let lock = shared(&directory)?;
            // Whoever held it may have made a nearer one meanwhile, which others lock from then on.
            if nearest(path) == directory {
                return Ok(Self { _lock: lock });
            }
        }
    }
}

fn nearest(path: &Path) -> PathBuf {
    let path = resolved(path);
    path.ancestors().skip(1).find(|one| one.is_dir()).unwrap_or(Path::new(".")).to_path_buf()
}

fn shared(directory: &Path) -> Result<Option<Arc<Lock>>, SealFailure> {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(lock) = held.get(directory).and_then(Weak::upgrade) {
        return Ok(Some(lock));
    }
    let lock = match Lock::directory(directory) {
        Ok(lock) => Some(lock),
        Err(error @ LockError::Held(_)) => return Err(error.into()),
        Err(LockError::Io { .. }) => of_person(directory)?,
    };
    let lock = lock.map(Arc::new);
    if let Some(lock) = &lock {
        held.insert(directory.to_path_buf(), Arc::downgrade(lock));
    }
    Ok(lock)
}

/// Where a directory can't be locked, at least the programs of one person wait for each other.
fn of_person(directory: &Path) -> Result<Option<Lock>, SealFailure> {
    let digest = ::seal::digest_hex(directory.as_os_str().as_encoded_bytes());
    let Ok(locks) = store::data_directory().map(|data| data.join("locks")) else { return Ok(None) };
    match Lock::file(&locks.join(format!("{digest}.lock"))) {
        Ok(lock) => Ok(Some(lock)),
        Err(error @ LockError::Held(_)) => Err(error.into()),
        Err(LockError::Io { .. }) => Ok(None),
    }
}
