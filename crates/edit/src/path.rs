//! Where a file is, or will be.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::file::temporary_directory;
use crate::guard::Guard;
use crate::lock::Lock;

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

/// The directory that a file is in.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The file that is written when `path` is: a link stays one, and what it leads to is replaced.
pub(crate) fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink());
    if is_link { path.canonicalize() } else { Ok(path.to_path_buf()) }
}

/// The file that is written when `path` is, links and all; nothing if that is not below `root`. What may be written is
/// asked with it before anything is, and again in the last moment.
pub fn below(root: &Path, path: &Path) -> io::Result<Option<PathBuf>> {
    let real = resolved(&behind_links(path)?);
    let is_inside = real.starts_with(resolved(root)) && !real.components().any(|part| part == Component::ParentDir);
    Ok(is_inside.then_some(real))
}

/// Devices and pipes are not to be replaced by files.
pub(crate) fn is_file_or_nothing(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => Err(not_regular()),
        _ => Ok(()),
    }
}

pub(crate) fn not_regular() -> io::Error {
    io::Error::other("it is not a regular file")
}

/// Directories that were made for a file, and are guarded until this is dropped.
pub(crate) struct Made {
    /// From the outermost on.
    directories: Vec<PathBuf>,
    _guards: Vec<Guard>,
}

impl Made {
    /// Removes them again where nothing else has been put there.
    pub(crate) fn remove(self) {
        self.directories.iter().rev().for_each(|directory| {
            let _not_empty = fs::remove_dir(directory);
        });
    }
}

/// Makes the directories that are missing. They appear all at once, and guarded: a program that waits for the nearest
/// directory that was there before, and one that already sees the new one, both wait until the file is written.
pub(crate) fn make_parents(path: &Path) -> io::Result<Option<Made>> {
    let ancestors = path.ancestors().skip(1).filter(|one| !one.as_os_str().is_empty());
    let mut directories: Vec<PathBuf> = ancestors.take_while(|one| !one.exists()).map(Path::to_path_buf).collect();
    directories.reverse();
    let Some((outermost, innermost)) = directories.first().zip(directories.last()) else { return Ok(None) };
    let below = |one: &Path| one.strip_prefix(outermost).unwrap_or(Path::new("")).to_path_buf();
    let hidden = temporary_directory(directory_of(outermost))?;
    fs::create_dir_all(hidden.path().join(below(innermost)))?;
    let lock = |one: &PathBuf| Some((one.clone(), Lock::directory(&hidden.path().join(below(one))).ok()?));
    let locks: Vec<(PathBuf, Lock)> = directories.iter().filter_map(lock).collect();
    let guards = match fs::rename(hidden.path(), outermost) {
        Ok(()) => {
            let _is_elsewhere_now = hidden.keep();
            locks.into_iter().map(|(directory, lock)| Guard::holding(&directory, lock)).collect()
        }
        // Another program made it a moment ago.
        Err(_) if outermost.is_dir() => fs::create_dir_all(innermost).map(|()| Vec::new())?,
        Err(error) => return Err(error),
    };
    Ok(Some(Made { directories, _guards: guards }))
}

/// Removes the directories that a file was the last in, up to the root. Git knows none that are empty.
pub(crate) fn remove_empty_parents(path: &Path, root: &Path) {
    let root = resolved(root);
    let above = path.ancestors().skip(1).take_while(|at| *at != root && at.starts_with(&root));
    for directory in above {
        if fs::remove_dir(directory).is_err() {
            return;
        }
    }
}

/// Writes a file in directories that are made for it and, if it fails, removed again.
pub fn with_parents<T, E: From<io::Error>>(path: &Path, write: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let made = make_parents(path)?;
    let written = write();
    if let Some(made) = made.filter(|_| written.is_err()) {
        made.remove();
    }
    written
}

/// Makes what is missing of a directory, for its owner alone.
pub fn make_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
