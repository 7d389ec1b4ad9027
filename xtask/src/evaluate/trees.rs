//! Lays the files of a commit into a directory, from a bare clone, and keeps them there for the next run.
//!
//! Only what a reader of the repository could want is written: text of bounded size. A blob that the clone does not
//! hold is left out, not an error.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use exec::System;
use git::Git;

/// Bigger files are data, not configuration.
const BLOB_BYTES_MAX: u64 = 1 << 20;
/// A NUL byte this early in a file says it is not text, as git itself decides.
const BINARY_PROBE_BYTES: usize = 8000;
/// Part of the cache's path: raise it when what is laid out changes.
const LAYOUT: &str = "layout-1";
const SYMLINK_MODE: &str = "120000";
const SKIPPED_EXTENSIONS: [&str; 22] = [
    "png",
    "jpg",
    "jpeg",
    "gif",
    "svg",
    "webp",
    "ico",
    "bmp",
    "pdf",
    "zip",
    "gz",
    "tgz",
    "xz",
    "zst",
    "woff",
    "woff2",
    "ttf",
    "mp4",
    "webm",
    "drawio",
    "excalidraw",
    "lock",
];

/// A cache of laid out trees, and the bare clones they come from.
#[derive(Debug)]
pub(crate) struct Trees {
    mirrors: PathBuf,
    cache: PathBuf,
}

/// One file of a commit.
struct Entry {
    symlink: bool,
    blob: String,
    path: PathBuf,
}

impl Trees {
    /// `cache` defaults to a directory of this tool's own below the system's temporary one.
    pub(crate) fn new(mirrors: &Path, cache: Option<&Path>) -> Self {
        let cache = cache.map_or_else(|| std::env::temp_dir().join("coldstart-trees"), Path::to_owned);
        Self { mirrors: mirrors.to_owned(), cache: cache.join(LAYOUT) }
    }

    /// The bare clone of `owner/name`, if there is one.
    pub(crate) fn mirror(&self, repo: &str) -> Option<PathBuf> {
        let path = self.mirrors.join(repo.replace('/', "+")).join("repo");
        path.is_dir().then_some(path)
    }

    /// Every `owner/name` that has a bare clone.
    pub(crate) fn repositories(&self) -> Result<BTreeSet<String>> {
        let list = fs::read_dir(&self.mirrors).with_context(|| format!("cannot list {}", self.mirrors.display()))?;
        let names = list.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        Ok(names.map(|name| name.replacen('+', "/", 1)).filter(|repo| self.mirror(repo).is_some()).collect())
    }

    /// Where the tree of a commit is, or will be.
    pub(crate) fn path(&self, repo: &str, commit: &str) -> PathBuf {
        self.cache.join(key(repo, commit))
    }

    /// The directory that holds the tree of `commit`, laid out now unless it was before.
    pub(crate) fn lay(&self, repo: &str, commit: &str) -> Result<PathBuf> {
        let tree = self.path(repo, commit);
        if tree.is_dir() {
            return Ok(tree);
        }
        let mirror = self.mirror(repo).with_context(|| format!("no bare clone of {repo}"))?;
        // Written beside its place and renamed, so that a tree that is there is whole.
        let partial = self.cache.join(format!(".{}.{}", key(repo, commit), std::process::id()));
        fs::create_dir_all(&partial).with_context(|| format!("cannot create {}", partial.display()))?;
        let entries = list(&mirror, commit)?;
        write(&mirror, &entries, &partial).with_context(|| format!("cannot lay out {repo} at {commit}"))?;
        fs::rename(&partial, &tree).with_context(|| format!("cannot create {}", tree.display()))?;
        Ok(tree)
    }
}

/// `<owner>+<name>@<commit>`: names trees and outputs alike.
pub(crate) fn key(repo: &str, commit: &str) -> String {
    format!("{}@{commit}", repo.replace('/', "+"))
}

/// The commit that a branch or tag stands for.
pub(crate) fn resolve(mirror: &Path, revision: &str) -> Result<String> {
    let said = Git::bare(&System, mirror).print(["rev-parse", "--verify", "--quiet", revision]);
    let said = said.with_context(|| format!("no revision {revision} in {}", mirror.display()))?;
    Ok(said.trim().to_owned())
}

fn list(mirror: &Path, commit: &str) -> Result<Vec<Entry>> {
    let listed = Git::bare(&System, mirror).run(["ls-tree", "-r", "-z", commit], &[])?.success()?;
    let records = listed.output.split(|byte| *byte == 0);
    Ok(records.filter_map(|record| entry(std::str::from_utf8(record).ok()?)).collect())
}

/// Reads `<mode> <type> <object>\t<path>`; `None` for what is not wanted.
fn entry(record: &str) -> Option<Entry> {
    let (meta, path) = record.split_once('\t')?;
    let mut meta = meta.split(' ');
    let (mode, kind, blob) = (meta.next()?, meta.next()?, meta.next()?);
    let path = PathBuf::from(path);
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_ascii_lowercase();
    let wanted = kind == "blob" && inside && !SKIPPED_EXTENSIONS.contains(&extension.as_str());
    wanted.then(|| Entry { symlink: mode == SYMLINK_MODE, blob: blob.to_owned(), path })
}

/// A blob that the clone does not hold is left out: a clone may be partial, and the network is not asked.
fn write(mirror: &Path, entries: &[Entry], into: &Path) -> Result<()> {
    let objects = entries.iter().map(|entry| entry.blob.as_str());
    let _missing = Git::bare(&System, mirror).blobs(objects, BLOB_BYTES_MAX, &mut |at, bytes| {
        place(&entries[at], &bytes, into).map_err(std::io::Error::other)
    })?;
    Ok(())
}

fn place(entry: &Entry, bytes: &[u8], into: &Path) -> Result<()> {
    if bytes.iter().take(BINARY_PROBE_BYTES).any(|byte| *byte == 0) {
        return Ok(());
    }
    let path = into.join(&entry.path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let placed = if entry.symlink { symlink(bytes, &path) } else { fs::write(&path, bytes) };
    placed.with_context(|| format!("cannot write {}", path.display()))
}

fn symlink(target: &[u8], path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(&*String::from_utf8_lossy(target), path)
}

/// Copies a tree, its links as links, to a place where there is nothing yet.
pub(super) fn copy(tree: &Path, to: &Path) -> Result<()> {
    let status = Command::new("cp").arg("-r").arg(tree).arg(to).status().context("cannot start cp")?;
    ensure!(status.success(), "cannot copy {}", tree.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_tree_record_is_read_and_images_are_left_out() {
        let read = entry("100644 blob 0123abcd\tapps/with space/ks.yaml").unwrap();
        assert_eq!((read.blob.as_str(), read.path.as_path()), ("0123abcd", Path::new("apps/with space/ks.yaml")));
        assert!(!read.symlink);
        assert!(entry("120000 blob 0123abcd\tlink").unwrap().symlink);
        assert!(entry("100644 blob 0123abcd\tdocs/Logo.PNG").is_none());
        assert!(entry("160000 commit 0123abcd\tmodules/one").is_none());
    }

    #[test]
    fn a_commit_is_laid_out_once() {
        let scratch = tempfile::tempdir().unwrap();
        let mirror = scratch.path().join("mirrors/o+n/repo");
        let work = scratch.path().join("work");
        fs::create_dir_all(work.join("apps")).unwrap();
        fs::write(work.join("apps/ks.yaml"), "a: 1\n").unwrap();
        fs::write(work.join("blob.bin"), [0u8; 10]).unwrap();
        let git = |arguments: &[&str]| {
            let status = Command::new("git").arg("-C").arg(&work).args(arguments).output().unwrap().status;
            assert!(status.success(), "git {arguments:?}");
        };
        git(&["init", "--quiet"]);
        git(&["add", "."]);
        git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "-m", "one"]);
        fs::create_dir_all(mirror.parent().unwrap()).unwrap();
        git(&["clone", "--quiet", "--bare", ".", mirror.to_str().unwrap()]);

        let trees = Trees::new(&scratch.path().join("mirrors"), Some(&scratch.path().join("cache")));
        assert_eq!(trees.repositories().unwrap(), BTreeSet::from(["o/n".to_owned()]));
        let commit = resolve(&mirror, "HEAD").unwrap();
        let tree = trees.lay("o/n", &commit).unwrap();
        assert_eq!(fs::read_to_string(tree.join("apps/ks.yaml")).unwrap(), "a: 1\n");
        assert!(!tree.join("blob.bin").exists());
        fs::remove_dir_all(&mirror).unwrap();
        assert_eq!(trees.lay("o/n", &commit).unwrap(), tree, "the second time needs no clone");
    }
}
