//! A Git commit of just what was written.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::arguments::Delivery;
use super::failure::SealFailure;

/// Commits and pushes as asked. Other changes, staged ones too, stay as they are.
pub(crate) fn deliver(
    root: &Path,
    files: &[PathBuf],
    message: &str,
    delivery: &Delivery,
) -> Result<Option<String>, SealFailure> {
    if !(delivery.commit || delivery.push) || files.is_empty() {
        return Ok(None);
    }
    // A file that Git does not know yet can only be named once it does.
    git(root, &["add", "--"], files)?;
    git(root, &["commit", "--quiet", "--message", message, "--only", "--"], files)?;
    let commit = git(root, &["rev-parse", "--short", "HEAD"], &[])?;
    let commit = commit.trim();
    if !delivery.push {
        return Ok(Some(format!("committed {commit}; Flux sees it after: git push")));
    }
    let pushed = git(root, &["push", "--quiet"], &[]);
    let next = |failure: SealFailure| {
        SealFailure::told(format!("{failure}\n  committed {commit}, but not pushed\n  next: git push"))
    };
    pushed.map_err(next)?;
    Ok(Some(format!("committed {commit} and pushed it")))
}

fn git(root: &Path, words: &[&str], files: &[PathBuf]) -> Result<String, SealFailure> {
    let mut command = Command::new("git");
    command.arg("-C").arg(root).arg("--literal-pathspecs").args(words).args(files).stdin(Stdio::null());
    command.env_remove(super::ask::PASSPHRASE_VARIABLE);
    let output = command.output().map_err(|error| SealFailure::Git(format!("it can't be started: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = if said.trim().is_empty() { String::from_utf8_lossy(&output.stdout) } else { said };
    Err(SealFailure::Git(format!("{} failed: {}", words.first().unwrap_or(&""), said.trim())))
}
