//! A Git commit for each cause.

use std::path::{Path, PathBuf};

use diagnostic::{Repair, Repairs};
use exec::{Environment, System};
use git::Git;

use crate::failure::Failure;
use crate::fix::files;
use crate::output;

/// Writes and commits one repair after the other. What else is staged stays as it is.
pub(super) fn each(root: &Path, repairs: &Repairs) -> Result<(), Failure> {
    let git = Git::of_user(&System, root, Environment::everything());
    for repair in &repairs.made {
        let changed =
            repair.files.iter().map(|file| (file.path.as_str(), file.before.as_deref(), file.after.as_deref()));
        files::write(root, changed)?;
        commit(&git, repair)?;
        output::print(&format!("committed: {}\n", draw::clean(&draw::say::repair(repair))))?;
    }
    Ok(())
}

fn commit(git: &Git<'_>, repair: &Repair) -> Result<(), Failure> {
    let paths = |is_wanted: &dyn Fn(bool) -> bool| -> Vec<PathBuf> {
        let files = repair.files.iter().filter(|file| is_wanted(file.before.is_none()));
        files.map(|file| PathBuf::from(&file.path)).collect()
    };
    let new = paths(&|is_new| is_new);
    if !new.is_empty() {
        run(git, &["add", "--"], &new)?;
    }
    let message = draw::say::commit_message(repair);
    run(git, &["commit", "--quiet", "--only", "--message", &message, "--"], &paths(&|_| true))
}

fn run(git: &Git<'_>, words: &[&str], files: &[PathBuf]) -> Result<(), Failure> {
    let finished = git.run(words.iter().copied(), files).map_err(|source| Failure::Git { source: source.into() })?;
    if finished.is_success() {
        return Ok(());
    }
    let command = words.first().copied().unwrap_or_default().to_owned();
    let said = finished.said().lines().next().unwrap_or_default().to_owned();
    Err(Failure::Git { source: git::GitError::Failed { command, said } })
}
