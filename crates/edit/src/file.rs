//! One file, either old or new.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::path::{behind_links, directory_of, is_file_or_nothing, not_regular, resolved};

const TEMPORARY_PREFIX: &str = ".coldstart-";
/// As the library makes their names.
const TEMPORARY_CHARACTERS: usize = 6;

/// Who may read a file that was not there before. One that is replaced keeps its permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Its owner.
    Owner,
    /// Those who may read any new file of its owner: what the `umask` says.
    Usual,
}

/// A pipe in the place of a file would keep whoever opens it waiting for its other end.
pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags);
    }
    options
}

/// Opens a regular file to go on with it, for its owner alone; it is made where it is missing, if that is wanted. Never waits,
/// whatever is there.
pub fn open_to_append(path: &Path, is_made: bool) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).append(true).create(is_made);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = without_waiting(&mut options).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(not_regular());
    }
    #[cfg(unix)]
    {
        // One of an earlier version may be open to others; somebody else's stays as it is.
        let _not_ours = file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600));
    }
    Ok(file)
}

/// Puts `bytes` in the place of what is at `path`, all or nothing: written beside it, synced, renamed. After a power cut
/// either the old or the new is there: enough for what can be made again. A link stays one: what it leads to is replaced.
pub fn replace(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    replace_if(path, bytes, readers, |_| Ok(true)).map(drop)
}

/// As [`replace`], and for good: afterwards it outlives a power cut.
pub fn replace_for_good(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    replace(path, bytes, readers)?;
    sync_directory(directory_of(path));
    Ok(())
}

/// As [`replace`], if `before` is still what is there: looked at in the last moment. Says whether it was done.
pub fn replace_unchanged(path: &Path, before: Option<&[u8]>, bytes: &[u8], readers: Readers) -> io::Result<bool> {
    replace_if(path, bytes, readers, |path| is_unchanged(path, before))
}

/// Makes a file that is not there yet, whole and for good; an error of kind `AlreadyExists` where anything is.
pub fn create(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    create_locked(path, bytes, readers).map(drop)
}

/// The same, locked from its first moment on for as long as it is held.
pub(crate) fn create_locked(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<File> {
    let file = staged(path, bytes, readers, path)?.persist_noclobber(path).map_err(|error| error.error)?;
    sync_directory(directory_of(path));
    Ok(file)
}

/// As [`replace_for_good`] where a file is or nothing; to a device or pipe it is written as it is.
pub fn write(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    let is_other = fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
    if is_other { fs::write(path, bytes) } else { replace_for_good(path, bytes, readers) }
}

fn replace_if(
    path: &Path,
    bytes: &[u8],
    readers: Readers,
    is_wanted: impl FnOnce(&Path) -> io::Result<bool>,
) -> io::Result<bool> {
    let path = &behind_links(path)?;
    is_file_or_nothing(path)?;
    let file = staged(path, bytes, readers, path)?;
    if !is_wanted(path)? {
        return Ok(false);
    }
    file.persist(path).map(|_| true).map_err(|error| error.error)
}

/// Whether a file still holds what it held; nothing if it is not to be there.
pub(crate) fn is_unchanged(path: &Path, before: Option<&[u8]>) -> io::Result<bool> {
    let read = || {
        let mut bytes = Vec::new();
        without_waiting(File::options().read(true)).open(path)?.read_to_end(&mut bytes).map(|_| bytes)
    };
    match read() {
        Ok(there) => Ok(before == Some(there.as_slice())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(before.is_none()),
        Err(error) => Err(error),
    }
}

/// A file beside `path` with what is to be there, synced, with the permissions of `like`, if that is there. It is removed again if
/// nothing is made of it.
pub(crate) fn staged(path: &Path, bytes: &[u8], readers: Readers, like: &Path) -> io::Result<NamedTempFile> {
    let there = fs::metadata(like).ok();
    // Not for others, not even for a moment, where that one is not.
    let mut file = temporary(directory_of(path), if there.is_some() { Readers::Owner } else { readers })?;
    // As long as it is locked, a program is at work on it: see `remove_stale`.
    let _unsupported = file.as_file().try_lock();
    file.as_file_mut().write_all(bytes)?;
    if let Some(there) = there {
        file.as_file().set_permissions(there.permissions())?;
    }
    file.as_file().sync_all()?;
    Ok(file)
}

pub(crate) fn temporary(directory: &Path, readers: Readers) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY_PREFIX).rand_bytes(TEMPORARY_CHARACTERS);
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    {
        let mode = if readers == Readers::Owner { 0o600 } else { 0o666 };
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    }
    let _ = readers;
    // The library adds the name of the temporary file to what the system says, which tells nothing.
    let mut said = None;
    let made = builder.make_in(directory, |path| options.open(path).inspect_err(|error| said = error.raw_os_error()));
    made.map_err(|error| said.map_or(error, io::Error::from_raw_os_error))
}

/// A directory that nothing looks for, removed again unless it is kept.
pub(crate) fn temporary_directory(parent: &Path) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY_PREFIX).rand_bytes(TEMPORARY_CHARACTERS);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    builder.tempdir_in(parent)
}

/// A name is only safe once its directory is. Some file systems can't do it; then there is no way.
pub(crate) fn sync_directory(directory: &Path) {
    if let Ok(directory) = File::open(directory) {
        let _unsupported = directory.sync_all();
    }
}

/// Tries whether a file could be written at `path`, in directories that may have to be made first. Leaves nothing.
pub fn probe(path: &Path) -> io::Result<()> {
    is_file_or_nothing(path)?;
    let path = resolved(path);
    let there = path.ancestors().skip(1).find(|one| one.exists()).unwrap_or(Path::new("."));
    temporary(there, Readers::Owner).map(drop)
}

/// Removes temporary files and directories of ours that a run which was killed left in this directory. Says how many.
pub fn remove_stale(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_ours = |name: &std::ffi::OsStr| {
        let rest = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY_PREFIX));
        rest.is_some_and(|rest| rest.len() == TEMPORARY_CHARACTERS && rest.chars().all(|c| c.is_ascii_alphanumeric()))
    };
    let removed = entries.filter(|entry| is_ours(&entry.file_name())).filter(|entry| {
        let file = without_waiting(File::options().read(true)).open(entry.path());
        file.is_ok_and(|file| file.try_lock().is_ok()) && remove(&entry.path(), entry.file_type()).is_ok()
    });
    removed.count()
}

fn remove(path: &Path, kind: io::Result<fs::FileType>) -> io::Result<()> {
    match kind? {
        kind if kind.is_file() => fs::remove_file(path),
        kind if kind.is_dir() => remove_empty(path),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Directories in directories, if there is nothing else.
fn remove_empty(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        remove_empty(&entry?.path())?;
    }
    fs::remove_dir(directory)
}
