//! Files of the repository that are written: read, changed and replaced under a lock, so that of two writers none is
//! lost. Directories are made at the last moment, so that what fails leaves none.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use ::seal::store::{replace_unchanged, replace_whole, resolved};

use super::failure::SealFailure;
use super::guard::Guard;
use super::tree;

/// How often a file is read again that somebody changes without heeding locks.
const TRIES_MAX: usize = 3;

/// A file that nobody else changes as long as this is held.
pub(crate) struct Held {
    path: PathBuf,
    before: Option<String>,
    _guard: Guard,
}

impl Held {
    /// `path` is as [`resolve`] gives it.
    pub(crate) fn open(path: &Path) -> Result<Self, SealFailure> {
        let guard = Guard::of(path)?;
        let before = match fs::read_to_string(path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(SealFailure::file(path)(error)),
        };
        Ok(Self { path: path.to_path_buf(), before, _guard: guard })
    }

    /// What is there; nothing where there is no file.
    pub(crate) fn text(&self) -> Option<&str> {
        self.before.as_deref()
    }

    /// An editor, or Git, knows of no locks: what it put there meanwhile stays.
    pub(crate) fn replace(&self, text: &str) -> Result<(), SealFailure> {
        if self.try_replace(text)? { Ok(()) } else { Err(changed(&self.path)) }
    }

    /// Whether the file was still as it was read, and is replaced now.
    fn try_replace(&self, text: &str) -> Result<bool, SealFailure> {
        in_directories(&self.path, || {
            // Directories that were made just now are everybody's from then on.
            let _made = Guard::of(&self.path)?;
            let before = self.before.as_deref().map(str::as_bytes);
            replace_unchanged(&self.path, before, text.as_bytes()).map_err(SealFailure::file(&self.path))
        })
    }
}

fn changed(path: &Path) -> SealFailure {
    SealFailure::told(format!(
        "{} was changed by somebody else meanwhile, and is left so\n  next: the same command again",
        path.display()
    ))
}

/// Puts a text in the place of a file, whatever is there.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), SealFailure> {
    let replace = || replace_whole(path, text.as_bytes()).map(|()| true).map_err(SealFailure::file(path));
    in_directories(path, replace).map(drop)
}

/// Writes in directories that are made for it and, if it fails, removed again. Says what `write` says: whether it wrote.
fn in_directories(path: &Path, write: impl FnOnce() -> Result<bool, SealFailure>) -> Result<bool, SealFailure> {
    let is_new = !path.exists();
    let made = make_parents(path).map_err(SealFailure::file(path))?;
    let written = write();
    match &written {
        Ok(true) if is_new => make_readable(path),
        Ok(_) => {}
        Err(_) => made.iter().rev().for_each(|directory| {
            let _not_empty = fs::remove_dir(directory);
        }),
    }
    written
}

/// Changes one file. `work` is done again if somebody else changed the file meanwhile.
pub(crate) fn change<T>(
    path: &Path,
    mut work: impl FnMut(Option<String>) -> Result<(Option<String>, T), SealFailure>,
) -> Result<T, SealFailure> {
    for _ in 0..TRIES_MAX {
        let held = Held::open(path)?;
        let (after, result) = work(held.before.clone())?;
        match after {
            Some(after) if !held.try_replace(&after)? => {}
            _ => return Ok(result),
        }
    }
    Err(changed(path))
}

/// The file of a SealedSecret, as [`resolve`] gives it. In a file of another name nobody would look for one.
pub(crate) fn to_write(root: &Path, path: &Path) -> Result<PathBuf, SealFailure> {
    let file = resolve(path)?;
    is_inside(root, path)?;
    if !tree::is_candidate(&path.to_string_lossy()) {
        return Err(SealFailure::told(format!(
            "{}: SealedSecrets are read from files called *.yaml, *.yml and *.json, and this would be none; nothing was written\n  next: the same with {}.yaml",
            path.display(),
            path.display()
        )));
    }
    Ok(file)
}

/// Outside of the repository, and in what is Git's own, `verify` never looks, and no cluster either.
fn is_inside(root: &Path, path: &Path) -> Result<(), SealFailure> {
    // A link may lead where it likes: it is looked at where it is.
    let directory = resolved(path.parent().unwrap_or(Path::new("")));
    // `..` is left where the directory before it is not there yet.
    let is_elsewhere = |part: Component<'_>| part == Component::ParentDir || part.as_os_str() == ".git";
    let is_ours = directory.strip_prefix(resolved(root)).is_ok_and(|inside| !inside.components().any(is_elsewhere));
    if is_ours {
        return Ok(());
    }
    Err(SealFailure::told(format!(
        "{} is not in the repository {}, so nothing would apply or verify it; nothing was written\n  next: a file in it, or the same without --out, which prints",
        path.display(),
        root.display()
    )))
}

/// The file that a path leads to, through links: a link stays one. Nothing but files can be written.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf, SealFailure> {
    let wrong = |why: &str| {
        SealFailure::told(format!(
            "{} {why}; nothing was written\n  next: the same with a file of the repository",
            path.display()
        ))
    };
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
