//! `--since REV`: the same check of an earlier revision, and what is new since.

#![expect(
    clippy::disallowed_methods,
    reason = "an earlier revision is laid out in a directory of its own, and removed with it"
)]

use std::fs;
use std::mem::ManuallyDrop;
use std::path::{Component, Path, PathBuf};

use ::check::Policy;
use diagnostic::Report;
use edit::Scratch;
use exec::System;
use git::{ChangedFile, Git, GitError, Room};
use helm::Helm;
use read::Reading;
use repository::file::{self, Links};
use settings::SETTINGS_FILE;

use crate::arguments::Check;
use crate::failure::Failure;
use crate::open::open;
use crate::stop;

/// What is laid out of an earlier revision: as many files as are read of one, and no more than a disk has room for.
const ROOM: Room = Room {
    file_bytes_max: repository::FILE_BYTES_MAX,
    files_max: repository::FILES_MAX,
    bytes_max: 2 * 1024 * 1024 * 1024,
};

/// What an earlier revision was, and what was wrong with it.
pub(crate) struct Before {
    pub(crate) reading: ManuallyDrop<Reading>,
    pub(crate) report: Report,
    /// Where its files are as long as this is.
    _directory: Scratch,
}

/// Checks the revision as it would be checked today.
pub(crate) fn at(revision: &str, options: &Check, helm: Option<&Helm>) -> Result<Before, Failure> {
    let failure = |source| Failure::Since { revision: revision.to_owned(), source };
    stop::listen();
    let directory = Scratch::new().map_err(GitError::Write).map_err(failure)?;
    let place = below(directory.path(), &options.path).map_err(failure)?;
    put(revision, &options.path, &place).map_err(failure)?;
    let reading = open("check", &place, options.start.entry.as_deref(), helm)?;
    let policy = Policy::of(&reading.settings).map_err(|source| Failure::Settings { command: "check", source })?;
    let mut report = ::check::run(&reading, None);
    ::check::settle(&mut report, &reading, &policy);
    Ok(Before { reading, report, _directory: directory })
}

/// A revision laid out beside today's files, with today's settings.
pub(crate) struct LaidOut {
    pub(crate) reading: ManuallyDrop<Reading>,
    /// Where its files are as long as this is.
    _directory: Scratch,
}

/// Reads a revision as it would be read today.
fn lay_out(command: &'static str, revision: &str, root: &Path, entry: Option<&str>) -> Result<LaidOut, Failure> {
    let failure = |source| Failure::Since { revision: revision.to_owned(), source };
    stop::listen();
    let directory = Scratch::new().map_err(GitError::Write).map_err(failure)?;
    let place = below(directory.path(), root).map_err(failure)?;
    put(revision, root, &place).map_err(failure)?;
    Ok(LaidOut { reading: open(command, &place, entry, None)?, _directory: directory })
}

/// A change between two revisions: the files before it, and after it where those are not the ones that are checked out.
pub(crate) struct Between {
    pub(crate) files: Vec<ChangedFile>,
    pub(crate) before: LaidOut,
    pub(crate) after: Option<LaidOut>,
}

/// Reads what changed from where two revisions parted to the second of them.
pub(crate) fn between(
    command: &'static str,
    (base, head): (&str, &str),
    root: &Path,
    entry: Option<&str>,
) -> Result<Between, Failure> {
    let failure = |revision: &str| {
        let revision = revision.to_owned();
        move |source| Failure::Since { revision, source }
    };
    let git = Git::reading(&System, root);
    git.is_in_repository().map_err(failure(base))?;
    git.tree(base).map_err(failure(base))?;
    git.tree(head).map_err(failure(head))?;
    let files = git.files_between(base, head).map_err(failure(base))?;
    let parted = git.parted(base, head).map_err(failure(base))?;
    let before = lay_out(command, &parted, root, entry)?;
    let is_here = git.is_checked_out(head).map_err(failure(head))?;
    let after = if is_here { None } else { Some(lay_out(command, head, root, entry)?) };
    Ok(Between { files, before, after })
}

/// A directory whose path ends as that of today's files does: paths that are written from a root above both are found by
/// that.
fn below(directory: &Path, root: &Path) -> Result<PathBuf, GitError> {
    let names = root.canonicalize()?;
    let names = names.components().filter(|part| matches!(part, Component::Normal(_)));
    let place = directory.join(names.collect::<PathBuf>());
    fs::create_dir_all(&place)?;
    Ok(place)
}

/// The files of the revision, with today's settings: both are judged in the same way.
fn put(revision: &str, root: &Path, target: &Path) -> Result<(), GitError> {
    let git = Git::reading(&System, root);
    git.is_in_repository()?;
    if let Some(tree) = git.tree(revision)? {
        git.write(&tree, target, ROOM)?;
    }
    let settings = target.join(SETTINGS_FILE);
    if fs::symlink_metadata(&settings).is_ok() {
        fs::remove_file(&settings)?;
    }
    match file::read(&root.join(SETTINGS_FILE), Links::Followed, repository::FILE_BYTES_MAX) {
        Ok(today) => fs::write(settings, today)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
