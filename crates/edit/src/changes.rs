//! Many files at once, all or nothing.
//!
//! Every new file is written and synced, and every old one kept under a second name, before the first is renamed. If one
//! can't be renamed, those before it get their old files back. A program that is killed in the middle leaves every single
//! file whole, old or new; what it leaves beside them [`crate::remove_stale`] removes. With a [`Journal`], the next run
//! gives all of them back what they held.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use crate::file::{Readers, is_unchanged, staged, sync_directory, temporary};
use crate::guard::{Guard, nearest};
use crate::journal::Journal;
use crate::lock::LockError;
use crate::path::{Made, below, directory_of, is_file_or_nothing, make_parents, remove_empty_parents, resolved};
use source::shown;

/// A file that is to hold something else, or to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where it is, or will be.
    pub path: PathBuf,
    /// What it held when the change was worked out; nothing if it was not there.
    pub before: Option<Vec<u8>>,
    /// What it is to hold; nothing if it is to go.
    pub after: Option<Vec<u8>>,
    /// The file that it is moved from, if it is: a new one gets the permissions of that.
    pub from: Option<PathBuf>,
}

/// Why files were not changed. None of them was, but for [`ChangesError::NotRestored`].
#[derive(Debug, thiserror::Error)]
pub enum ChangesError {
    /// A link or `..` leads out of the directory that may be changed.
    #[error("{} is not in {}", shown(.path), shown(.root))]
    Outside {
        /// As it was named.
        path: PathBuf,
        /// The directory.
        root: PathBuf,
    },
    /// Another program changed a file since it was read.
    #[error("{} was changed in the meantime", shown(.path))]
    Changed {
        /// Which.
        path: PathBuf,
    },
    /// Two changes are about one file.
    #[error("{} is changed twice", shown(.path))]
    Twice {
        /// Which.
        path: PathBuf,
    },
    /// It would go, and is a link or lies behind one: what else leads to the file would lead nowhere.
    #[error("{} is a symbolic link, or below one: only files themselves are moved or removed", shown(.path))]
    Linked {
        /// As it was named.
        path: PathBuf,
    },
    /// Another program writes there.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The system can't do it.
    #[error("{} can't be written: {source}", shown(.path))]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system can't do it, and could not undo what was done before.
    #[error("{source}; these were changed anyway: {}", list(.left))]
    NotRestored {
        /// The files that hold what they were to hold.
        left: Vec<PathBuf>,
        /// Why the others do not.
        source: Box<ChangesError>,
    },
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// What is done to one file next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// What all of them hold is written down.
    Note,
    /// The new one is written beside it.
    Stage,
    /// The old one gets a second name.
    Keep,
    /// The new one takes its place, or nothing does.
    Rename,
    /// The old one takes its place again.
    Restore,
}

/// Lets a test fail any step.
pub trait Faults {
    /// Called before each step; an error is what the system would have said.
    fn before(&self, step: Step, path: &Path) -> io::Result<()>;
}

/// Nothing fails but what does.
struct NoFaults;

impl Faults for NoFaults {
    fn before(&self, _: Step, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Changes of files below one directory.
#[derive(Debug)]
pub struct Changes {
    root: PathBuf,
    readers: Readers,
    all: Vec<Change>,
    journal: Option<Journal>,
}

impl Changes {
    /// None yet. New files will be for these readers.
    pub fn below(root: &Path, readers: Readers) -> Self {
        Self { root: root.to_path_buf(), readers, all: Vec::new(), journal: None }
    }

    /// What the files hold is written down here until all of them are changed.
    #[must_use]
    pub fn journalled(self, journal: Journal) -> Self {
        Self { journal: Some(journal), ..self }
    }

    /// One more.
    pub fn add(&mut self, change: Change) {
        self.all.push(change);
    }

    /// Makes all changes or none. `elsewhere` is as for [`Guard::of`].
    pub fn write(self, elsewhere: &dyn Fn(&Path) -> Option<PathBuf>) -> Result<(), ChangesError> {
        self.write_with(elsewhere, &NoFaults)
    }

    /// The same, with steps that fail.
    pub fn write_with(
        mut self,
        elsewhere: &dyn Fn(&Path) -> Option<PathBuf>,
        faults: &dyn Faults,
    ) -> Result<(), ChangesError> {
        let root = resolved(&self.root);
        for change in &mut self.all {
            let real = place(&self.root, &change.path)?;
            let named =
                change.path.strip_prefix(&self.root).map_or_else(|_| change.path.clone(), |part| root.join(part));
            if change.after.is_none() && real != named {
                return Err(ChangesError::Linked { path: change.path.clone() });
            }
            change.path = real;
        }
        // In one order for every program: two that wait for each other would wait for ever.
        self.all.sort_by(|one, other| (nearest(&one.path), &one.path).cmp(&(nearest(&other.path), &other.path)));
        if let Some([one, _]) = self.all.array_windows().find(|[one, other]| one.path == other.path) {
            return Err(ChangesError::Twice { path: one.path.clone() });
        }
        let guards: Result<Vec<Guard>, LockError> =
            self.all.iter().map(|change| Guard::of(&change.path, elsewhere)).collect();
        let _guards = guards?;
        let Some(journal) = &self.journal else { return self.make(faults) };
        let failed = |source| ChangesError::Io { path: journal.file().to_path_buf(), source };
        faults.before(Step::Note, journal.file()).map_err(failed)?;
        let journal = journal.begin(&self.all).map_err(failed)?;
        let written = self.make(faults);
        // What could not be undone is still to be.
        if !matches!(written, Err(ChangesError::NotRestored { .. })) {
            journal.end();
        }
        written
    }

    /// Makes all changes or none, with nothing written down.
    fn make(&self, faults: &dyn Faults) -> Result<(), ChangesError> {
        let mut made = Vec::new();
        let written = self.stage(faults, &mut made).and_then(|staged| rename_all(staged, faults));
        if written.is_err() {
            made.into_iter().rev().for_each(Made::remove);
        } else {
            let gone = self.all.iter().filter(|change| change.after.is_none());
            gone.for_each(|change| remove_empty_parents(&change.path, &self.root));
        }
        written
    }

    /// Everything that can fail for want of space or permission, before anything is changed.
    fn stage(&self, faults: &dyn Faults, made: &mut Vec<Made>) -> Result<Vec<Staged<'_>>, ChangesError> {
        let mut all = Vec::new();
        for change in &self.all {
            let failed = |source| ChangesError::Io { path: change.path.clone(), source };
            made.extend(make_parents(&change.path).map_err(failed)?);
            let stage = || -> io::Result<(Option<NamedTempFile>, Option<TempPath>)> {
                is_file_or_nothing(&change.path)?;
                faults.before(Step::Stage, &change.path)?;
                let like = change.from.as_deref().filter(|_| change.before.is_none()).unwrap_or(&change.path);
                let stage = |after: &Vec<u8>| staged(&change.path, after, self.readers, like);
                let new = change.after.as_ref().map(stage).transpose()?;
                faults.before(Step::Keep, &change.path)?;
                Ok((new, keep(change)?))
            };
            let (new, old) = stage().map_err(failed)?;
            all.push(Staged { change, new, old });
        }
        Ok(all)
    }
}

/// A change that is ready to be made.
struct Staged<'c> {
    change: &'c Change,
    /// Nothing if the file is to go.
    new: Option<NamedTempFile>,
    /// The old file under a second name; nothing if there is none.
    old: Option<TempPath>,
}

/// Where a file really is, if that is below the root.
fn place(root: &Path, path: &Path) -> Result<PathBuf, ChangesError> {
    match below(root, path) {
        Ok(Some(real)) => Ok(real),
        Ok(None) => Err(ChangesError::Outside { path: path.to_path_buf(), root: root.to_path_buf() }),
        Err(source) => Err(ChangesError::Io { path: path.to_path_buf(), source }),
    }
}

/// Gives the old file a second name, which costs no space; where that can't be, a copy.
fn keep(change: &Change) -> io::Result<Option<TempPath>> {
    if change.before.is_none() {
        return Ok(None);
    }
    let name = temporary(directory_of(&change.path), Readers::Owner)?.into_temp_path();
    fs::remove_file(&name)?;
    if fs::hard_link(&change.path, &name).is_err() {
        fs::copy(&change.path, &name)?;
    }
    Ok(Some(name))
}

fn rename_all(all: Vec<Staged<'_>>, faults: &dyn Faults) -> Result<(), ChangesError> {
    // Looked at for all of them before the first is changed, and for each again in the last moment.
    all.iter().try_for_each(|one| still(one.change))?;
    let mut done: Vec<(&Path, Option<TempPath>)> = Vec::new();
    for Staged { change, new, old } in all {
        let path = change.path.as_path();
        if let Err(error) = still(change).and_then(|()| rename(change, new, faults)) {
            return Err(undo(done, faults, error));
        }
        done.push((path, old));
    }
    let mut directories: Vec<&Path> = done.iter().map(|(path, _)| directory_of(path)).collect();
    directories.dedup();
    directories.into_iter().for_each(sync_directory);
    Ok(())
}

fn still(change: &Change) -> Result<(), ChangesError> {
    let path = || change.path.clone();
    match is_unchanged(&change.path, change.before.as_deref()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(ChangesError::Changed { path: path() }),
        Err(source) => Err(ChangesError::Io { path: path(), source }),
    }
}

fn rename(change: &Change, new: Option<NamedTempFile>, faults: &dyn Faults) -> Result<(), ChangesError> {
    let path = || change.path.clone();
    faults.before(Step::Rename, &change.path).map_err(|source| ChangesError::Io { path: path(), source })?;
    let put = match (new, &change.before) {
        (None, None) => Ok(()),
        (None, Some(_)) => fs::remove_file(&change.path),
        (Some(new), Some(_)) => new.persist(&change.path).map(drop).map_err(|error| error.error),
        (Some(new), None) => new.persist_noclobber(&change.path).map(drop).map_err(|error| error.error),
    };
    match put {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(ChangesError::Changed { path: path() }),
        Err(source) => Err(ChangesError::Io { path: path(), source }),
    }
}

/// Gives the files that were renamed their old ones back, the last one first.
fn undo(done: Vec<(&Path, Option<TempPath>)>, faults: &dyn Faults, error: ChangesError) -> ChangesError {
    let mut left = Vec::new();
    for (path, old) in done.into_iter().rev() {
        let restored = faults.before(Step::Restore, path).and_then(|()| match old {
            Some(old) => old.persist(path).map_err(|error| error.error),
            None => remove_if_there(path),
        });
        if restored.is_err() {
            left.push(path.to_path_buf());
        }
    }
    if left.is_empty() { error } else { ChangesError::NotRestored { left, source: Box::new(error) } }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
