//! One writer at a time, and files that are either old or new.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

const WAIT_MILLISECONDS: u64 = 10_000;
const STEP_MILLISECONDS: u64 = 20;

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another program has held {} for {} s", .0.display(), WAIT_MILLISECONDS / 1_000)]
    Held(PathBuf),
    #[error("{} can't be locked: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
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

    pub fn file(path: &Path) -> Result<Self, LockError> {
        let io = |source| LockError::Io { path: path.to_path_buf(), source };
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            make_private_directory(parent).map_err(io)?;
        }
        let file = private().create(true).write(true).truncate(false).open(path).map_err(io)?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if started.elapsed() < Duration::from_millis(WAIT_MILLISECONDS) => {
                    std::thread::sleep(Duration::from_millis(STEP_MILLISECONDS));
                }
                Err(TryLockError::WouldBlock) => return Err(LockError::Held(path.to_path_buf())),
                Err(TryLockError::Error(source)) => return Err(io(source)),
            }
        }
    }
}

/// Puts `bytes` in the place of what is at `path`, all or nothing: written beside it, synced, renamed. A new file is
/// for its owner alone; one that is replaced keeps its mode.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Made with mode 0600; removed again if anything below fails.
    let mut file = NamedTempFile::with_prefix_in(".coldstart-", directory)?;
    file.write_all(bytes)?;
    if let Ok(there) = fs::metadata(path) {
        file.as_file().set_permissions(there.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // The name is only safe once the directory is. Some file systems can't do it; then nobody can.
    if let Ok(directory) = File::open(directory) {
        let _unsupported = directory.sync_all();
    }
    Ok(())
}

/// Makes what is missing of a directory, for its owner alone.
pub(super) fn make_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Options for files of their owner alone.
fn private() -> fs::OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
