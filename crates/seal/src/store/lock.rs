//! One writer at a time, and files that are either old or new.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

const WAIT_MILLISECONDS: u64 = 10_000;
const STEP_MILLISECONDS: u64 = 20;
const TEMPORARY_PREFIX: &str = ".coldstart-";
/// As the library makes their names.
const TEMPORARY_CHARACTERS: usize = 6;

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another program has held {} for {} s\n  next: the same command again", .0.display(), WAIT_MILLISECONDS / 1_000)]
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
        Self::wait(file, path)
    }

    /// Locks a directory itself: nothing is left behind, and whoever writes there meets the lock, whoever it is.
    pub fn directory(path: &Path) -> Result<Self, LockError> {
        let file = File::open(path).map_err(|source| LockError::Io { path: path.to_path_buf(), source })?;
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

/// Puts `bytes` in the place of what is at `path`, all or nothing, and for good: afterwards it outlives a power cut.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_whole(path, bytes)?;
    // The name is only safe once the directory is. Some file systems can't do it; then nobody can.
    if let Ok(directory) = File::open(directory_of(path)) {
        let _unsupported = directory.sync_all();
    }
    Ok(())
}

/// Puts `bytes` in the place of what is at `path`, all or nothing: written beside it, synced, renamed. After a power cut
/// either the old or the new is there: enough for what can be made again. A new file is for its owner alone; one that is
/// replaced keeps its mode. A link stays one: what it leads to is replaced.
pub fn replace_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_if(path, bytes, |_| Ok(true)).map(drop)
}

/// The same if `before` is still what is there: looked at in the last moment. Says whether it was done.
pub fn replace_unchanged(path: &Path, before: Option<&[u8]>, bytes: &[u8]) -> io::Result<bool> {
    replace_if(path, bytes, |path| match fs::read(path) {
        Ok(there) => Ok(before == Some(there.as_slice())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(before.is_none()),
        Err(error) => Err(error),
    })
}

fn replace_if(path: &Path, bytes: &[u8], is_wanted: impl FnOnce(&Path) -> io::Result<bool>) -> io::Result<bool> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink());
    let path = &if is_link { path.canonicalize()? } else { path.to_path_buf() };
    is_file_or_nothing(path)?;
    // Made with mode 0600; removed again if anything below fails.
    let mut file = NamedTempFile::with_prefix_in(TEMPORARY_PREFIX, directory_of(path))?;
    // As long as it is locked, somebody is at work on it: see `remove_stale`.
    let _unsupported = file.as_file().try_lock();
    file.write_all(bytes)?;
    if let Ok(there) = fs::metadata(path) {
        file.as_file().set_permissions(there.permissions())?;
    }
    file.as_file().sync_all()?;
    if !is_wanted(path)? {
        return Ok(false);
    }
    file.persist(path).map(|_| true).map_err(|error| error.error)
}

/// One spelling for every path, whether it is there already or not.
pub fn resolved(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    let mut there = path;
    loop {
        let found = if there.as_os_str().is_empty() { Path::new(".") } else { there };
        if let Ok(found) = found.canonicalize() {
            return missing.iter().rev().fold(found, |path, name| path.join(name));
        }
        let (Some(parent), Some(name)) = (there.parent(), there.file_name()) else { return path.to_path_buf() };
        missing.push(name.to_owned());
        there = parent;
    }
}

/// Tries whether a file could be written at `path`, in directories that may have to be made first. Leaves nothing.
pub fn probe_file(path: &Path) -> io::Result<()> {
    is_file_or_nothing(path)?;
    let path = resolved(path);
    let there = path.ancestors().skip(1).find(|one| one.exists()).unwrap_or(Path::new("."));
    NamedTempFile::with_prefix_in(TEMPORARY_PREFIX, there).map(drop)
}

/// Devices and pipes are not to be replaced by files.
fn is_file_or_nothing(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => Err(io::Error::other("it is no regular file")),
        _ => Ok(()),
    }
}

/// Removes temporary files of ours that a run which was killed left in this directory. Says how many.
pub fn remove_stale(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_ours = |name: &std::ffi::OsStr| {
        let rest = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY_PREFIX));
        rest.is_some_and(|rest| rest.len() == TEMPORARY_CHARACTERS && rest.chars().all(|c| c.is_ascii_alphanumeric()))
    };
    let stale =
        entries.filter(|entry| is_ours(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_file()));
    let removed = stale.filter(|entry| {
        let unlocked = File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        unlocked && fs::remove_file(entry.path()).is_ok()
    });
    removed.count()
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
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
