//! Files of the repository that are written: read, changed and replaced under a lock, so that of two writers none is
//! lost. Directories are made at the last moment, so that what fails leaves none.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use edit::{Guard, LockError, Readers, replace, replace_unchanged, with_parents};
use repository::file::{self, Links};

use super::failure::{NotAFile, SealFailure, WriteFailure};
use super::{store, tree};

/// How often a file is read again that somebody changes without heeding locks.
const TRIES_MAX: usize = 3;
/// No manifest is larger.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A file that nobody else changes as long as this is held.
pub(crate) struct Held {
    root: PathBuf,
    path: PathBuf,
    before: Option<String>,
    _guard: Guard,
}

impl Held {
    /// `path` is a file of the repository at `root`, or will be.
    pub(crate) fn open(root: &Path, path: &Path) -> Result<Self, SealFailure> {
        let path = inside(root, path)?;
        let guard = guard(&path)?;
        let before = read(&path)?;
        Ok(Self { root: root.to_path_buf(), path, before, _guard: guard })
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
        // What was a file when it was read may be a link by now.
        if inside(&self.root, &self.path)? != self.path {
            return Ok(false);
        }
        let written = with_parents(&self.path, || {
            // Directories that were made just now are everybody's from then on.
            let _made = guard(&self.path)?;
            let before = self.before.as_deref().map(str::as_bytes);
            Ok(replace_unchanged(&self.path, before, text.as_bytes(), Readers::Usual)?)
        });
        written.map_err(|error: Unwritten| error.at(&self.path))
    }
}

/// What can keep a file from being written.
enum Unwritten {
    Io(std::io::Error),
    Lock(LockError),
}

impl From<std::io::Error> for Unwritten {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<LockError> for Unwritten {
    fn from(error: LockError) -> Self {
        Self::Lock(error)
    }
}

impl Unwritten {
    fn at(self, path: &Path) -> SealFailure {
        match self {
            Self::Io(source) => SealFailure::file(path)(source),
            Self::Lock(error) => error.into(),
        }
    }
}

/// Keeps other programs from the directory of a file. Where that can't be locked, at least those of one person wait for each
/// other.
fn guard(path: &Path) -> Result<Guard, LockError> {
    Guard::of(path, &|directory| {
        let digest = ::seal::digest_hex(directory.as_os_str().as_encoded_bytes());
        let data = store::data_directory().ok()?;
        Some(data.join("locks").join(format!("{digest}.lock")))
    })
}

fn changed(path: &Path) -> SealFailure {
    WriteFailure::ChangedByOthers { path: path.to_path_buf() }.into()
}

/// What a file holds; nothing where there is none. Never waits, whatever is there.
pub(crate) fn read(path: &Path) -> Result<Option<String>, SealFailure> {
    match file::read_text(path, Links::Followed, FILE_BYTES_MAX) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SealFailure::file(path)(error)),
    }
}

/// As [`write()`], for a file of the repository: no link leads out of that.
pub(crate) fn write_inside(root: &Path, path: &Path, text: &str) -> Result<(), SealFailure> {
    write(&inside(root, path)?, text)
}

/// Puts a text in the place of a file, whatever is there.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), SealFailure> {
    with_parents(path, || replace(path, text.as_bytes(), Readers::Usual)).map_err(SealFailure::file(path))
}

/// Changes one file of a repository. `work` is done again if somebody else changed the file meanwhile.
pub(crate) fn change<T>(
    root: &Path,
    path: &Path,
    mut work: impl FnMut(Option<String>) -> Result<(Option<String>, T), SealFailure>,
) -> Result<T, SealFailure> {
    for _ in 0..TRIES_MAX {
        let held = Held::open(root, path)?;
        let (after, result) = work(held.before.clone())?;
        match after {
            Some(after) if !held.try_replace(&after)? => {}
            _ => return Ok(result),
        }
    }
    Err(changed(path))
}

/// The file of a SealedSecret, where it really is. In a file of another name nobody would look for one.
pub(crate) fn to_write(root: &Path, path: &Path) -> Result<PathBuf, SealFailure> {
    let file = resolve(path)?;
    inside(root, path)?;
    if !tree::is_candidate(&path.to_string_lossy()) {
        return Err(WriteFailure::NameIsNotRead { path: path.to_path_buf() }.into());
    }
    Ok(file)
}

/// Where a file of the repository really is. Outside of the repository, and in what is Git's own, `verify` never looks, and no
/// cluster either: no link leads there.
pub(crate) fn inside(root: &Path, path: &Path) -> Result<PathBuf, SealFailure> {
    let outside = |real| WriteFailure::Outside { path: path.to_path_buf(), real, root: root.to_path_buf() };
    let led = || {
        Some(edit::resolved(path))
            .filter(|real| fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink()) && *real != path)
    };
    let is_gits = |file: &PathBuf| {
        let below = file.strip_prefix(edit::resolved(root)).unwrap_or(file);
        below.components().any(|part| part.as_os_str() == ".git")
    };
    let real = edit::below(root, path).map_err(SealFailure::file(path))?;
    real.filter(|file| !is_gits(file)).ok_or_else(|| outside(led()).into())
}

/// A path as it is named, and where a link leads to: `a.yaml, a link to b.yaml`.
pub(crate) fn named(root: &Path, name: &str, real: &Path) -> String {
    let is_link = fs::symlink_metadata(root.join(name)).is_ok_and(|there| there.is_symlink());
    if !is_link {
        return name.to_owned();
    }
    let real = real.strip_prefix(edit::resolved(root)).unwrap_or(real);
    format!("{name}, a link to {},", real.display())
}

/// The file that a path leads to, through links: a link stays one. Nothing but files can be written.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf, SealFailure> {
    let wrong = |why| SealFailure::from(WriteFailure::NotAFile { path: path.to_path_buf(), why });
    let is_link = fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink());
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(wrong(NotAFile::Directory)),
        Ok(there) if !there.is_file() => Err(wrong(NotAFile::Irregular)),
        Ok(_) if is_link => path.canonicalize().map_err(SealFailure::file(path)),
        Ok(_) => Ok(path.to_path_buf()),
        Err(_) if is_link => Err(wrong(NotAFile::DanglingLink)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(path.to_path_buf()),
        Err(error) => Err(SealFailure::file(path)(error)),
    }
}
