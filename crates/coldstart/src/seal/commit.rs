//! A Git commit of just what was written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ::seal::store::resolved;

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

/// Whether these files can be committed here, and pushed if that is wanted. Asked before anything is written.
pub(crate) fn ready(root: &Path, delivery: &Delivery, files: &[PathBuf]) -> Result<(), SealFailure> {
    if !delivery.is_wanted() {
        return Ok(());
    }
    let top = git(root, &["rev-parse", "--show-toplevel"], &[])
        .map_err(|failure| not_ready(&failure, "git init, or the same without --commit and --push"))?;
    git(root, &["var", "GIT_COMMITTER_IDENT"], &[])
        .map_err(|failure| not_ready(&failure, "git config user.name and user.email"))?;
    for (head, what) in [("MERGE_HEAD", "merge"), ("CHERRY_PICK_HEAD", "cherry-pick")] {
        if git(root, &["rev-parse", "--quiet", "--verify", head], &[]).is_ok() {
            let why = format!("git: a {what} is under way, and single files can't be committed in it");
            return Err(not_ready(&why, &format!("git {what} --continue or --abort, then the same again")));
        }
    }
    files.iter().try_for_each(|path| can_take(root, Path::new(top.trim_end_matches('\n')), path))?;
    if delivery.push { can_push(root) } else { Ok(()) }
}

fn not_ready(why: &dyn std::fmt::Display, next: &str) -> SealFailure {
    SealFailure::told(format!("{why}\n  nothing was done\n  next: {next}"))
}

/// Whether Git would take a file, which may not be there yet, into a commit.
fn can_take(root: &Path, top: &Path, path: &Path) -> Result<(), SealFailure> {
    let without = "the same without --commit and --push";
    if !resolved(path).starts_with(resolved(top)) {
        let why = format!("git: {} is outside of {}", path.display(), top.display());
        return Err(not_ready(&why, &format!("{without}, or --out with a file in it")));
    }
    let Some(text) = path.to_str() else { return Ok(()) };
    if git(root, &["check-ignore", "--quiet", "--", text], &[]).is_ok() {
        let name = shown(root, path);
        let why = format!("git: {name} is ignored, and would be in no commit");
        let next = format!("mend .gitignore; or {without}, and then git add --force -- {name}");
        return Err(not_ready(&why, &next));
    }
    Ok(())
}

/// Whether Git knows where to push, as far as it can be told without the remote.
fn can_push(root: &Path) -> Result<(), SealFailure> {
    let Some(branch) = ask(root, &["symbolic-ref", "--quiet", "--short", "HEAD"]) else {
        return Err(not_ready(
            &"git: HEAD is detached: there is no branch to push",
            "git switch BRANCH, then the same again",
        ));
    };
    let config = |key: &str| ask(root, &["config", "--get", key]);
    let is_bound = config(&format!("branch.{branch}.merge")).is_some();
    let finds_it = config("push.autoSetupRemote").is_some_and(|said| said == "true")
        || config("push.default").is_some_and(|said| said == "current" || said == "matching");
    let has_remote = ask(root, &["remote"]).is_some_and(|said| !said.is_empty());
    if is_bound || (finds_it && has_remote) {
        return Ok(());
    }
    let why = format!("git: branch {branch} has no upstream to push to");
    Err(not_ready(&why, &format!("{}, then the same again", set_upstream(root))))
}

/// What git prints, if it does what it is told.
fn ask(root: &Path, words: &[&str]) -> Option<String> {
    git(root, words, &[]).ok().map(|said| said.trim().to_owned())
}

/// What to type where a branch has no upstream.
fn set_upstream(root: &Path) -> String {
    let branch = ask(root, &["symbolic-ref", "--short", "HEAD"]).unwrap_or_else(|| "HEAD".to_owned());
    match ask(root, &["remote"]).unwrap_or_default().lines().next() {
        Some(remote) => format!("git push --set-upstream {remote} {branch}"),
        None => format!("git remote add origin URL && git push --set-upstream origin {branch}"),
    }
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
    if ask(root, &["rev-parse", "--abbrev-ref", "@{upstream}"]).is_some() {
        let said = failure.to_string();
        // Somebody else pushed meanwhile.
        let is_behind = said.contains("fetch first") || said.contains("non-fast-forward");
        let next = if is_behind { "git pull --rebase && git push" } else { "git push" };
        return Err((failure, next.to_owned()));
    }
    Err((failure, set_upstream(root)))
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
    let said = if said.trim().is_empty() { "it does not say why; a hook may have refused it" } else { said.trim() };
    Err(SealFailure::Git(format!("{} failed: {said}", words.first().unwrap_or(&""))))
}
