//! Files of the repository that are written: read, changed and replaced under a lock, so that of two writers none is
//! lost. Directories are made at the last moment, so that what fails leaves none.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ::seal::store::{Lock, replace_whole, resolved};

use super::failure::SealFailure;
use super::{store, tree};

/// A file that nobody else changes as long as this is held.
pub(crate) struct Held {
    path: PathBuf,
    before: Option<String>,
    _lock: Lock,
}

impl Held {
    /// `path` is as [`resolve`] gives it.
    pub(crate) fn open(path: &Path) -> Result<Self, SealFailure> {
        let digest = ::seal::digest_hex(resolved(path).as_os_str().as_encoded_bytes());
        let lock = Lock::file(&store::data_directory()?.join("locks").join(format!("{digest}.lock")))?;
        let before = match fs::read_to_string(path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(SealFailure::file(path)(error)),
        };
        Ok(Self { path: path.to_path_buf(), before, _lock: lock })
    }

    /// What is there; nothing where there is no file.
    pub(crate) fn text(&self) -> Option<&str> {
        self.before.as_deref()
    }

    pub(crate) fn replace(&self, text: &str) -> Result<(), SealFailure> {
        write(&self.path, text)
    }
}

/// Puts a text in the place of a file, in directories that are made for it and, if it fails, removed again.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), SealFailure> {
    let is_new = !path.exists();
    let made = make_parents(path).map_err(SealFailure::file(path))?;
    if let Err(error) = replace_whole(path, text.as_bytes()) {
        for directory in made.iter().rev() {
            let _not_empty = fs::remove_dir(directory);
        }
        return Err(SealFailure::file(path)(error));
    }
    if is_new {
        make_readable(path);
    }
    Ok(())
}

/// Changes one file.
pub(crate) fn change<T>(
    path: &Path,
    work: impl FnOnce(Option<String>) -> Result<(Option<String>, T), SealFailure>,
) -> Result<T, SealFailure> {
    let held = Held::open(path)?;
    let (after, result) = work(held.before.clone())?;
    if let Some(after) = after {
        held.replace(&after)?;
    }
    Ok(result)
}

/// The file of a SealedSecret, as [`resolve`] gives it. In a file of another name nobody would look for one.
pub(crate) fn to_write(path: &Path) -> Result<PathBuf, SealFailure> {
    let resolved = resolve(path)?;
    if !tree::is_candidate(&path.to_string_lossy()) {
        return Err(SealFailure::told(format!(
            "{}: SealedSecrets are read from files called *.yaml, *.yml and *.json, and this would be none; nothing was written\n  next: the same with {}.yaml",
            path.display(),
            path.display()
        )));
    }
    Ok(resolved)
}

/// The file that a path leads to, through links: a link stays one. Nothing but files can be written.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf, SealFailure> {
    let wrong = |why: &str| SealFailure::told(format!("{} {why}; nothing was written", path.display()));
    let is_link = fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink());
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(wrong("is a directory")),
        Ok(there) if !there.is_file() => Err(wrong("is no regular file")),
        Ok(_) if is_link => path.canonicalize().map_err(SealFailure::file(path)),
        Ok(_) => Ok(path.to_path_buf()),
        Err(_) if is_link => Err(wrong("is a link to nothing")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(path.to_path_buf()),
        Err(error) => Err(SealFailure::file(path)(error)),
    }
}

/// Makes the directories that are missing, and says which, from the outermost on.
fn make_parents(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let ancestors = path.ancestors().skip(1).filter(|one| !one.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> = ancestors.take_while(|one| !one.exists()).map(Path::to_path_buf).collect();
    missing.reverse();
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent)?;
    }
    Ok(missing)
}

/// A SealedSecret is meant to be read by everybody, as other files of a repository are.
fn make_readable(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let _as_it_was = fs::set_permissions(path, fs::Permissions::from_mode(0o644));
    }
    let _ = path;
}
