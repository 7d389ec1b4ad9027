//! Where a file is, or will be.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

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

/// Devices and pipes are not to be replaced by files.
pub(crate) fn is_file_or_nothing(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => Err(io::Error::other("it is not a regular file")),
        _ => Ok(()),
    }
}

/// Makes the directories that are missing, and says which, from the outermost on.
pub(crate) fn make_parents(path: &Path) -> io::Result<Vec<PathBuf>> {
    let ancestors = path.ancestors().skip(1).filter(|one| !one.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> = ancestors.take_while(|one| !one.exists()).map(Path::to_path_buf).collect();
    missing.reverse();
    fs::create_dir_all(directory_of(path))?;
    Ok(missing)
}

/// Writes a file in directories that are made for it and, if it fails, removed again.
pub fn with_parents<T, E: From<io::Error>>(path: &Path, write: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let made = make_parents(path)?;
    let written = write();
    if written.is_err() {
        made.iter().rev().for_each(|directory| {
            let _not_empty = fs::remove_dir(directory);
        });
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
