//! A Git commit of just what was written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::arguments::Delivery;
use super::children;
use super::failure::SealFailure;

/// Files that a message names; of more, it says how many.
const NAMED_MAX: usize = 5;

impl Delivery {
    pub(crate) fn is_wanted(&self) -> bool {
        self.commit || self.push
    }
}

/// Whether a commit can be made here. Asked before anything is written.
pub(crate) fn ready(root: &Path, delivery: &Delivery) -> Result<(), SealFailure> {
    if !delivery.is_wanted() {
        return Ok(());
    }
    let nothing = "nothing was done";
    git(root, &["rev-parse", "--git-dir"], &[]).map_err(|failure| {
        SealFailure::told(format!("{failure}\n  {nothing}\n  next: git init, or the same without --commit and --push"))
    })?;
    git(root, &["var", "GIT_COMMITTER_IDENT"], &[]).map(drop).map_err(|failure| {
        SealFailure::told(format!("{failure}\n  {nothing}\n  next: git config user.name and user.email"))
    })
}

/// Those of the files that differ from the last commit; new ones only when they are asked for.
pub(crate) fn changed(root: &Path, files: &[PathBuf], with_new: bool) -> Result<Vec<PathBuf>, SealFailure> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    // Before the first commit there is nothing to differ from.
    let mut listed = git(root, &["diff", "--name-only", "--relative", "-z", "HEAD", "--"], files).unwrap_or_default();
    if with_new {
        listed.push_str(&git(root, &["ls-files", "--others", "--exclude-standard", "-z", "--"], files)?);
    }
    let listed: BTreeSet<PathBuf> = listed.split('\0').map(|path| root.join(path)).collect();
    Ok(files.iter().filter(|path| listed.contains(*path)).cloned().collect())
}

/// Commits and pushes as asked. Other changes, staged ones too, stay as they are. Where no file is to be committed, what
/// was committed earlier is still pushed.
pub(crate) fn deliver(
    root: &Path,
    files: &[PathBuf],
    message: &str,
    delivery: &Delivery,
) -> Result<Option<String>, SealFailure> {
    if !delivery.is_wanted() {
        return Ok(None);
    }
    if files.is_empty() {
        if !delivery.push || !is_ahead(root) {
            return Ok(None);
        }
        push(root).map_err(|(failure, next)| SealFailure::told(format!("{failure}\n  next: {next}")))?;
        return Ok(Some("pushed what was committed before".to_owned()));
    }
    let commit = commit(root, files, message)?;
    if !delivery.push {
        return Ok(Some(format!("committed {commit}; Flux sees it after: git push")));
    }
    push(root).map_err(|(failure, next)| {
        SealFailure::told(format!("{failure}\n  committed {commit}, but not pushed\n  next: {next}"))
    })?;
    Ok(Some(format!("committed {commit} and pushed it")))
}

fn commit(root: &Path, files: &[PathBuf], message: &str) -> Result<String, SealFailure> {
    // A file that Git does not know yet can only be named once it does.
    let made = git(root, &["add", "--"], files)
        .and_then(|_| git(root, &["commit", "--quiet", "--message", message, "--only", "--"], files));
    made.map_err(|failure| {
        let names: Vec<String> = files.iter().take(NAMED_MAX).map(|path| shown(root, path)).collect();
        let names = names.join(" ");
        let more = files.len().saturating_sub(NAMED_MAX);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let force = if failure.to_string().contains("ignored") { " --force" } else { "" };
        SealFailure::told(format!(
            "{failure}\n  written, but not committed: {names}{more}\n  next: git add{force} -- {names} && git commit --only -- {names}"
        ))
    })?;
    Ok(git(root, &["rev-parse", "--short", "HEAD"], &[])?.trim().to_owned())
}

fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// Whether there is something to push; also where nobody can tell, because then pushing tells.
pub(crate) fn is_ahead(root: &Path) -> bool {
    let ahead = git(root, &["rev-list", "--count", "@{upstream}..HEAD"], &[]);
    ahead.map_or(true, |number| number.trim() != "0")
}

/// What git says when it fails, and what to type then.
fn push(root: &Path) -> Result<(), (SealFailure, String)> {
    let Err(failure) = git(root, &["push", "--quiet"], &[]) else { return Ok(()) };
    let ask = |words: &[&str]| git(root, words, &[]).ok().map(|said| said.trim().to_owned());
    if ask(&["rev-parse", "--abbrev-ref", "@{upstream}"]).is_some() {
        let said = failure.to_string();
        // Somebody else pushed meanwhile.
        let is_behind = said.contains("fetch first") || said.contains("non-fast-forward");
        let next = if is_behind { "git pull --rebase && git push" } else { "git push" };
        return Err((failure, next.to_owned()));
    }
    let remotes = ask(&["remote"]).unwrap_or_default();
    let Some(remote) = remotes.lines().next() else {
        return Err((failure, "git remote add origin URL && git push --set-upstream origin HEAD".to_owned()));
    };
    let branch = ask(&["symbolic-ref", "--short", "HEAD"]).unwrap_or_else(|| "HEAD".to_owned());
    Err((failure, format!("git push --set-upstream {remote} {branch}")))
}

pub(crate) fn git(root: &Path, words: &[&str], files: &[PathBuf]) -> Result<String, SealFailure> {
    let mut command = Command::new("git");
    // Some of its commands refuse it where they take no pathspecs.
    let literal = (!files.is_empty()).then_some("--literal-pathspecs");
    command.arg("-C").arg(root).args(literal).args(words).args(files).stdin(Stdio::null());
    children::without_secrets(&mut command, None);
    let output = command.output().map_err(|error| SealFailure::Git(format!("it can't be started: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = if said.trim().is_empty() { String::from_utf8_lossy(&output.stdout) } else { said };
    Err(SealFailure::Git(format!("{} failed: {}", words.first().unwrap_or(&""), said.trim())))
}
