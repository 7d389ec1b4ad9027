//! A Git commit for each cause: all of them, or none.

use std::path::{Path, PathBuf};

use diagnostic::{Repair, Repairs};
use exec::{Environment, System};
use git::{Git, GitError};

use crate::failure::Failure;
use crate::fix::files;
use crate::fix::unended::{Note, Unended};
use crate::output;

/// Writes and commits one repair after the other. What else is staged stays as it is. Where one commit fails, the branch, the index
/// and the files are what they were before the first.
pub(super) fn each(root: &Path, repairs: &Repairs) -> Result<(), Failure> {
    let git = Git::of_user(&System, root, Environment::everything());
    let start = head(&git)?;
    let note = Unended::begin(root, &start);
    let mut series = Series { git, root, start, made: 0, created: Vec::new() };
    for repair in &repairs.made {
        if let Err(failure) = series.make(repair) {
            let undone = series.undo(repairs);
            note.into_iter().for_each(Note::end);
            return Err(match undone {
                Ok(()) => failure,
                Err(undo) => series.half_done(failure, undo),
            });
        }
    }
    note.into_iter().for_each(Note::end);
    Ok(())
}

/// Says what was committed.
pub(super) fn told(repairs: &Repairs) -> Result<(), Failure> {
    for repair in &repairs.made {
        output::print(&format!("committed: {}\n", draw::clean(&draw::say::repair(repair))))?;
    }
    Ok(())
}

/// Commits that are made one after the other.
struct Series<'a> {
    git: Git<'a>,
    root: &'a Path,
    /// Where the branch was.
    start: String,
    made: usize,
    /// The files that were not there before.
    created: Vec<PathBuf>,
}

impl Series<'_> {
    fn make(&mut self, repair: &Repair) -> Result<(), Failure> {
        files::write(self.root, &repair.files)?;
        let new = paths([repair], true);
        self.created.extend(new.iter().cloned());
        if !new.is_empty() {
            run(&self.git, &["add", "--"], &new)?;
        }
        let message = draw::say::commit_message(repair);
        let all: Vec<PathBuf> = repair.files.iter().map(|file| PathBuf::from(&file.path)).collect();
        run(&self.git, &["commit", "--quiet", "--only", "--message", &message, "--"], &all)?;
        self.made += 1;
        Ok(())
    }

    /// The files to edit were as in the last commit, so what that has is what they were.
    fn undo(&self, repairs: &Repairs) -> Result<(), Failure> {
        let new = &self.created;
        let old = paths(&repairs.made, false);
        let old: Vec<PathBuf> = old.into_iter().filter(|path| !new.contains(path)).collect();
        if self.made > 0 {
            run(&self.git, &["update-ref", "-m", "coldstart fix: undo", "HEAD", &self.start], &[])?;
        }
        if !old.is_empty() {
            run(&self.git, &["restore", "--source=HEAD", "--staged", "--worktree", "--"], &old)?;
        }
        if !new.is_empty() {
            run(&self.git, &["rm", "--cached", "--force", "--quiet", "--ignore-unmatch", "--"], new)?;
            run(&self.git, &["clean", "--force", "-x", "--quiet", "--"], new)?;
        }
        Ok(())
    }

    fn half_done(&self, failure: Failure, undo: Failure) -> Failure {
        Failure::HalfCommitted {
            start: self.start.clone(),
            commits: self.made,
            source: Box::new(failure),
            undo: Box::new(undo),
        }
    }
}

/// The files of repairs that are new, or those that are not.
fn paths<'r>(repairs: impl IntoIterator<Item = &'r Repair>, is_new: bool) -> Vec<PathBuf> {
    let files = repairs.into_iter().flat_map(|repair| &repair.files);
    let mut paths: Vec<PathBuf> =
        files.filter(|file| file.before.is_none() == is_new).map(|file| PathBuf::from(&file.path)).collect();
    paths.sort();
    paths.dedup();
    paths
}

fn head(git: &Git<'_>) -> Result<String, Failure> {
    let head = git.print(["rev-parse", "--verify", "HEAD"]).map_err(|source| Failure::Git { source })?;
    Ok(head.trim().to_owned())
}

fn run(git: &Git<'_>, words: &[&str], files: &[PathBuf]) -> Result<(), Failure> {
    let finished = git.run(words.iter().copied(), files).map_err(|source| Failure::Git { source: source.into() })?;
    if finished.is_success() {
        return Ok(());
    }
    let command = words.first().copied().unwrap_or_default().to_owned();
    let said = finished.said().lines().next().unwrap_or_default().to_owned();
    Err(Failure::Git { source: GitError::Failed { command, said } })
}
