//! One writer at a time.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::file::without_waiting;
use crate::path::make_private_directory;
use source::shown;

const WAIT_MILLISECONDS: u64 = 10_000;
const STEP_MILLISECONDS: u64 = 20;

/// Why there is no lock.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another program has it.
    #[error("another program has held {} for {} s", shown(.0), WAIT_MILLISECONDS / 1_000)]
    Held(PathBuf),
    /// The system can't do it.
    #[error("{} can't be locked: {source}", shown(.path))]
    Io {
        /// What was to be locked.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Held until dropped, and by the system given back when the program ends in whatever way.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Locks by a file of its own beside `path`: the file itself is replaced when it is written.
    pub fn beside(path: &Path) -> Result<Self, LockError> {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(".lock");
        Self::file(&path.with_file_name(name))
    }

    /// Locks a file, which is made where it is missing, for its owner alone.
    pub fn file(path: &Path) -> Result<Self, LockError> {
        let io = |source| LockError::Io { path: path.to_path_buf(), source };
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            make_private_directory(parent).map_err(io)?;
        }
        let mut options = File::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.create(true).write(true).truncate(false);
        let file = without_waiting(&mut options).open(path).map_err(io)?;
        Self::wait(file, path)
    }

    /// Locks a directory itself: nothing is left behind, and every program that writes there meets the lock.
    pub fn directory(path: &Path) -> Result<Self, LockError> {
        let file = without_waiting(File::options().read(true))
            .open(path)
            .map_err(|source| LockError::Io { path: path.to_path_buf(), source })?;
        Self::wait(file, path)
    }

    fn wait(file: File, path: &Path) -> Result<Self, LockError> {
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if started.elapsed() < Duration::from_millis(WAIT_MILLISECONDS) => {
                    std::thread::sleep(Duration::from_millis(STEP_MILLISECONDS));
                }
                Err(TryLockError::WouldBlock) => return Err(LockError::Held(path.to_path_buf())),
                Err(TryLockError::Error(source)) => return Err(LockError::Io { path: path.to_path_buf(), source }),
            }
        }
    }
}
