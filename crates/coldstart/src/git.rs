//! A revision of a Git repository as plain files, read with the `git` program.
//!
//! Nothing that the repository could have configured is run: only commands that print stored objects are used, which know no
//! hooks, filters, text conversions or pagers, and a missing object is not fetched.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Blobs that are larger hold no manifest: [`read::FILE_BYTES_MAX`].
const BLOB_BYTES_MAX: u64 = read::FILE_BYTES_MAX;
/// Modes of entries in a tree.
const LINK: &str = "120000";
const SUBMODULE: &str = "160000";

#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    #[error("the program `git` can't be started: {0}\n  next: install git, or leave out --since")]
    NotInstalled(io::Error),
    #[error("{} is not in a Git repository\n  git says: {said}\n  next: coldstart check without --since", .path.display())]
    NotARepository { path: PathBuf, said: String },
    #[error("no such revision\n  next: git log --oneline")]
    UnknownRevision,
    #[error(
        "no such revision in this clone, which is shallow: it holds the latest commits only\n  next: git fetch --unshallow (in GitHub Actions: actions/checkout with `fetch-depth: 0`)"
    )]
    Shallow,
    #[error("git failed: {0}")]
    Failed(String),
    #[error("cannot put its files into a temporary directory: {0}")]
    Write(#[from] io::Error),
}

/// A work tree and the directory in it that is looked at.
#[derive(Debug)]
pub(crate) struct Git {
    directory: PathBuf,
}

impl Git {
    pub(crate) fn at(directory: &Path) -> Result<Self, GitError> {
        let git = Self { directory: directory.to_path_buf() };
        let answer = git.ask(["rev-parse", "--git-dir"].map(OsStr::new))?;
        match answer {
            Ok(_) => Ok(git),
            Err(said) => Err(GitError::NotARepository { path: directory.to_path_buf(), said }),
        }
    }

    /// The tree of a revision, at the directory that is looked at.
    pub(crate) fn tree(&self, revision: &str) -> Result<String, GitError> {
        // `REV:./` is the tree of this directory in that revision. A name that begins with a dash is no option.
        let verify =
            |name: &str| self.ask(["rev-parse", "--verify", "--quiet", "--end-of-options", name].map(OsStr::new));
        if verify(&format!("{revision}^{{commit}}"))?.is_err() {
            let shallow = self.ask(["rev-parse", "--is-shallow-repository"].map(OsStr::new))?;
            let is_shallow = shallow.is_ok_and(|answer| answer.trim() == "true");
            return Err(if is_shallow { GitError::Shallow } else { GitError::UnknownRevision });
        }
        // Before the directory was there, there was nothing in it.
        Ok(verify(&format!("{revision}:./"))?.map(|tree| tree.trim().to_owned()).unwrap_or_default())
    }

    /// Writes all files of a tree below `target`.
    pub(crate) fn write(&self, tree: &str, target: &Path) -> Result<(), GitError> {
        if tree.is_empty() {
            return Ok(());
        }
        let listed =
            self.ask(["ls-tree", "-r", "-z", "--full-tree", tree].map(OsStr::new))?.map_err(GitError::Failed)?;
        let entries: Vec<Entry<'_>> = listed.split('\0').filter_map(Entry::parse).collect();
        let mut batch = Batch::start(self.command(&["cat-file", "--batch"].map(OsStr::new)))?;
        let mut links = BTreeMap::new();
        for entry in entries {
            let Some(bytes) = batch.blob(entry.object)? else { continue };
            if entry.is_link {
                links.insert(entry.path, bytes);
            } else {
                write_file(&target.join(entry.path), &bytes)?;
            }
        }
        // Last, so that no file can be written through one.
        for (path, bytes) in links {
            link(&target.join(path), &bytes)?;
        }
        batch.end()
    }

    /// What git printed, or what it said when it failed.
    fn ask<const N: usize>(&self, words: [&OsStr; N]) -> Result<Result<String, String>, GitError> {
        let output = self.command(&words).stdin(Stdio::null()).output().map_err(GitError::NotInstalled)?;
        if output.status.success() {
            return Ok(Ok(String::from_utf8_lossy(&output.stdout).into_owned()));
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Ok(Err(said.lines().next().unwrap_or("nothing").trim_start_matches("fatal: ").to_owned()))
    }

    fn command(&self, words: &[&OsStr]) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.directory).arg("--no-pager").arg("--no-optional-locks").arg("--literal-pathspecs");
        for setting in ["core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never"] {
            command.arg("-c").arg(setting);
        }
        // Objects that a partial clone left out are not fetched, nor replaced by others.
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_TERMINAL_PROMPT", "0");
        command.args(words);
        command
    }
}

/// A file or link of a tree.
struct Entry<'a> {
    object: &'a str,
    is_link: bool,
    path: &'a Path,
}

impl<'a> Entry<'a> {
    /// `<mode> blob <object>\t<path>`. Nothing for submodules, and for paths that lead elsewhere.
    fn parse(line: &'a str) -> Option<Self> {
        let (head, path) = line.split_once('\t')?;
        let mut words = head.split(' ');
        let (mode, _, object) = (words.next()?, words.next()?, words.next()?);
        let path = Path::new(path);
        let is_plain = path.components().all(|part| matches!(part, Component::Normal(name) if name != ".git"));
        (mode != SUBMODULE && is_plain).then_some(Self { object, is_link: mode == LINK, path })
    }
}

/// `git cat-file --batch`: a name in, an object out.
struct Batch {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Batch {
    fn start(mut command: Command) -> Result<Self, GitError> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(GitError::NotInstalled)?;
        let stdout = child.stdout.take().ok_or_else(|| GitError::Failed("it has no output".to_owned()))?;
        Ok(Self { child, answers: BufReader::new(stdout) })
    }

    /// The bytes of a blob; nothing for one that is missing or too large to hold a manifest.
    fn blob(&mut self, object: &str) -> Result<Option<Vec<u8>>, GitError> {
        let ended = || GitError::Failed("`git cat-file` ended early".to_owned());
        let stdin = self.child.stdin.as_mut().ok_or_else(ended)?;
        writeln!(stdin, "{object}").map_err(|_| ended())?;
        let mut head = String::new();
        self.answers.read_line(&mut head).map_err(|_| ended())?;
        // `<object> blob <size>`, or `<object> missing`.
        let Some(size) = head.trim().rsplit(' ').next().and_then(|size| size.parse::<u64>().ok()) else {
            return if head.is_empty() { Err(ended()) } else { Ok(None) };
        };
        if size > BLOB_BYTES_MAX {
            io::copy(&mut self.answers.by_ref().take(size + 1), &mut io::sink())?;
            return Ok(None);
        }
        let mut bytes = Vec::new();
        self.answers.by_ref().take(size + 1).read_to_end(&mut bytes)?;
        // The line end after it.
        bytes.pop();
        if bytes.len() as u64 == size { Ok(Some(bytes)) } else { Err(ended()) }
    }

    fn end(mut self) -> Result<(), GitError> {
        drop(self.child.stdin.take());
        self.child.wait()?;
        Ok(())
    }
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::File::create_new(path)?.write_all(bytes)
}

#[cfg(unix)]
fn link(path: &Path, target: &[u8]) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    std::os::unix::fs::symlink(OsStr::from_bytes(target), path)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &[u8]) -> io::Result<()> {
    Ok(())
}
