//! Who may change the files of a directory: one program at a time, of whatever user. Threads of this program share what it
//! holds, because they work on different files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use crate::lock::{Lock, LockError};
use crate::path::resolved;

/// What this program holds, by directory: a second lock of its own would wait for the first.
static HELD: LazyLock<Mutex<BTreeMap<PathBuf, Weak<Lock>>>> = LazyLock::new(Mutex::default);

/// Held until dropped. Nothing where the file system knows no locks; then only a look right before writing is left.
#[derive(Debug)]
pub struct Guard {
    _lock: Option<Arc<Lock>>,
}

impl Guard {
    /// For a file that may not be there yet, nor its directory: then the nearest one that is. `elsewhere` names a file to
    /// lock where a directory itself can't be, so that at least the programs of one user wait for each other.
    pub fn of(path: &Path, elsewhere: &dyn Fn(&Path) -> Option<PathBuf>) -> Result<Self, LockError> {
        loop {
            let directory = nearest(path);
            let lock = shared(&directory, elsewhere)?;
            // The program that held it may have made a nearer one meanwhile, which others lock from then on.
            if nearest(path) == directory {
                return Ok(Self { _lock: lock });
            }
        }
    }

    /// For a directory that only this program knows of so far.
    pub(crate) fn holding(directory: &Path, lock: Lock) -> Self {
        let lock = Arc::new(lock);
        held().insert(resolved(directory), Arc::downgrade(&lock));
        Self { _lock: Some(lock) }
    }
}

fn held() -> MutexGuard<'static, BTreeMap<PathBuf, Weak<Lock>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The directory that a file is in, or will be: the nearest that is there.
pub(crate) fn nearest(path: &Path) -> PathBuf {
    let path = resolved(path);
    path.ancestors().skip(1).find(|one| one.is_dir()).unwrap_or(Path::new(".")).to_path_buf()
}

fn shared(directory: &Path, elsewhere: &dyn Fn(&Path) -> Option<PathBuf>) -> Result<Option<Arc<Lock>>, LockError> {
    let mut held = held();
    if let Some(lock) = held.get(directory).and_then(Weak::upgrade) {
        return Ok(Some(lock));
    }
    let lock = match Lock::directory(directory) {
        Err(LockError::Io { .. }) => match elsewhere(directory).map(|file| Lock::file(&file)) {
            None | Some(Err(LockError::Io { .. })) => return Ok(None),
            Some(lock) => lock?,
        },
        lock => lock?,
    };
    let lock = Arc::new(lock);
    held.insert(directory.to_path_buf(), Arc::downgrade(&lock));
    Ok(Some(lock))
}
