//! A Git commit of just what was written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use diagnostic::next;
use edit::resolved;
use exec::{ExecError, System};
use git::Git;

use super::arguments::Delivery;
use super::children;
use super::failure::{CommitFailure, GitFault, NotReady, SealFailure};

/// Files that a message names; of more, it says how many.
const NAMED_MAX: usize = 5;

impl Delivery {
    pub(crate) fn is_wanted(&self) -> bool {
        self.commit || self.push
    }
}

/// Whether these files can be committed here, and pushed if that is wanted. Asked before anything is written.
pub(crate) fn ready(root: &Path, delivery: &Delivery, files: &[PathBuf]) -> Result<(), SealFailure> {
    if !delivery.is_wanted() {
        return Ok(());
    }
    is_ready(root, delivery, files).map_err(|why| CommitFailure::NotReady(why).into())
}

fn is_ready(root: &Path, delivery: &Delivery, files: &[PathBuf]) -> Result<(), NotReady> {
    let top = git(root, &["rev-parse", "--show-toplevel"], &[]).map_err(NotReady::NoRepository)?;
    git(root, &["var", "GIT_COMMITTER_IDENT"], &[]).map_err(NotReady::NoCommitter)?;
    for (head, operation) in [("MERGE_HEAD", "merge"), ("CHERRY_PICK_HEAD", "cherry-pick")] {
        if git(root, &["rev-parse", "--quiet", "--verify", head], &[]).is_ok() {
            return Err(NotReady::UnderWay { operation });
        }
    }
    is_unlocked(root)?;
    files.iter().try_for_each(|path| can_take(root, Path::new(top.trim_end_matches('\n')), path))?;
    if delivery.push { can_push(root) } else { Ok(()) }
}

/// Whether no other git is at work there, nor one that was killed left its lock: every commit would fail.
fn is_unlocked(root: &Path) -> Result<(), NotReady> {
    let Some(lock) = ask(root, &["rev-parse", "--git-path", "index.lock"]).map(|lock| root.join(lock)) else {
        return Ok(());
    };
    if lock.exists() { Err(NotReady::Locked { lock }) } else { Ok(()) }
}

/// Whether Git would take a file, which may not be there yet, into a commit.
fn can_take(root: &Path, top: &Path, path: &Path) -> Result<(), NotReady> {
    if !resolved(path).starts_with(resolved(top)) {
        return Err(NotReady::Outside { path: path.to_path_buf(), top: top.to_path_buf() });
    }
    let Some(text) = path.to_str() else { return Ok(()) };
    if git(root, &["check-ignore", "--quiet", "--", text], &[]).is_ok() {
        return Err(NotReady::Ignored { file: shown(root, path) });
    }
    Ok(())
}

/// Whether Git knows where to push, as far as it can be told without the remote.
fn can_push(root: &Path) -> Result<(), NotReady> {
    let branch = ask(root, &["symbolic-ref", "--quiet", "--short", "HEAD"]).ok_or(NotReady::Detached)?;
    let config = |key: &str| ask(root, &["config", "--get", key]);
    let is_bound = config(&format!("branch.{branch}.merge")).is_some();
    let finds_it = config("push.autoSetupRemote").is_some_and(|said| said == "true")
        || config("push.default").is_some_and(|said| said == "current" || said == "matching");
    let has_remote = ask(root, &["remote"]).is_some_and(|said| !said.is_empty());
    if is_bound || (finds_it && has_remote) {
        return Ok(());
    }
    Err(NotReady::NoUpstream { branch, remote: first_remote(root) })
}

/// What git prints, if it does what it is told.
fn ask(root: &Path, words: &[&str]) -> Option<String> {
    git(root, words, &[]).ok().map(|said| said.trim().to_owned())
}

/// The remote that Git names first.
fn first_remote(root: &Path) -> Option<String> {
    ask(root, &["remote"]).unwrap_or_default().lines().next().map(str::to_owned)
}

/// Those of the files that differ from the last commit; new ones only when they are asked for.
pub(crate) fn changed(root: &Path, files: &[PathBuf], with_new: bool) -> Result<Vec<PathBuf>, SealFailure> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    // Before the first commit there is nothing to differ from.
    let mut listed = git(root, &["diff", "--name-only", "--relative", "-z", "HEAD", "--"], files).unwrap_or_default();
    if with_new {
        let new = git(root, &["ls-files", "--others", "--exclude-standard", "-z", "--"], files);
        listed.push_str(&new.map_err(CommitFailure::Git)?);
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
        push(root).map_err(|(source, next)| CommitFailure::NotPushed { source, next })?;
        return Ok(Some("pushed what was committed before".to_owned()));
    }
    let commit = commit(root, files, message)?;
    if !delivery.push {
        return Ok(Some(format!("committed {commit}; Flux sees it after: git push")));
    }
    match push(root) {
        Ok(()) => Ok(Some(format!("committed {commit} and pushed it"))),
        Err((source, next)) => Err(CommitFailure::CommittedNotPushed { source, commit, next }.into()),
    }
}

fn commit(root: &Path, files: &[PathBuf], message: &str) -> Result<String, CommitFailure> {
    // A file that Git does not know yet can only be named once it does.
    let made = git(root, &["add", "--"], files)
        .and_then(|_| git(root, &["commit", "--quiet", "--message", message, "--only", "--"], files));
    made.map_err(|source| {
        let names: Vec<String> = files.iter().take(NAMED_MAX).map(|path| shown(root, path)).collect();
        CommitFailure::NotCommitted { source, files: names, more: files.len().saturating_sub(NAMED_MAX) }
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
fn push(root: &Path) -> Result<(), (GitFault, Box<next::Git>)> {
    let Err(failure) = git(root, &["push", "--quiet"], &[]) else { return Ok(()) };
    let next = if ask(root, &["rev-parse", "--abbrev-ref", "@{upstream}"]).is_none() {
        let branch = ask(root, &["symbolic-ref", "--short", "HEAD"]).unwrap_or_else(|| "HEAD".to_owned());
        next::Git::SetUpstream { remote: first_remote(root), branch, again: false }
    } else if failure.says("fetch first") || failure.says("non-fast-forward") {
        // Others pushed meanwhile.
        next::Git::PullAndPush
    } else {
        next::Git::Push
    };
    Err((failure, Box::new(next)))
}

/// What git prints when it does what it is told, as its user would have it: with their settings and hooks.
pub(crate) fn git(root: &Path, words: &[&str], files: &[PathBuf]) -> Result<String, GitFault> {
    asked(&Git::of_user(&System, root, children::environment(None)), words, files)
}

/// What git prints of a repository that may be anybody's: nothing that it configures is run.
pub(crate) fn look(root: &Path, words: &[&str]) -> Result<String, GitFault> {
    asked(&Git::asking(&System, root, children::environment(None)), words, &[])
}

fn asked(git: &Git<'_>, words: &[&str], files: &[PathBuf]) -> Result<String, GitFault> {
    let finished = git.run(words.iter().copied(), files).map_err(|error| match error {
        ExecError::NotFound { source, .. } | ExecError::NotStarted { source, .. } => GitFault::NotStarted(source),
        other => GitFault::NotRun(other),
    })?;
    if finished.is_success() {
        return Ok(finished.text().into_owned());
    }
    let texts = [finished.said().trim().to_owned(), finished.text().trim().to_owned()];
    let said = texts.into_iter().find(|said| !said.is_empty());
    Err(GitFault::Failed { command: words.first().copied().unwrap_or_default().to_owned(), said })
}
