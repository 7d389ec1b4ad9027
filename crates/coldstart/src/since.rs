//! `--since REV`: the same check of an earlier revision, and what is new since.

use std::fs;
use std::path::{Component, Path, PathBuf};

use ::check::{Policy, Report, Severity};
use helm::Helm;
use read::{Reading, SETTINGS_FILE};

use crate::arguments::Check;
use crate::check::open;
use crate::failure::Failure;
use crate::git::{Git, GitError};

/// Takes out of the report what `revision` has as well.
pub(crate) fn apply(
    revision: &str,
    options: &Check,
    helm: Option<&Helm>,
    report: &mut Report,
    reading: &Reading,
    min_severity: Severity,
) -> Result<(), Failure> {
    let failure = |source| Failure::Since { revision: revision.to_owned(), source };
    let directory = tempfile::tempdir().map_err(GitError::Write).map_err(failure)?;
    let place = below(directory.path(), &options.path).map_err(failure)?;
    put(revision, &options.path, &place).map_err(failure)?;
    let then = open("check", &place, helm)?;
    let policy = Policy::of(&then.settings).map_err(|source| Failure::Settings { command: "check", source })?;
    let mut before = ::check::run(&then, None);
    ::check::settle(&mut before, &then, &policy);
    ::check::only_new(report, &reading.repository, (&before, &then.repository), revision, min_severity);
    Ok(())
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
    let git = Git::at(root)?;
    git.write(&git.tree(revision)?, target)?;
    let settings = target.join(SETTINGS_FILE);
    if fs::symlink_metadata(&settings).is_ok() {
        fs::remove_file(&settings)?;
    }
    match fs::read(root.join(SETTINGS_FILE)) {
        Ok(today) => fs::write(settings, today)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
