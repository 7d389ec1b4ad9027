//! A revision as plain files.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path};

use crate::command::Git;
use crate::failure::GitError;

/// Modes of entries in a tree.
const LINK: &str = "120000";
const SUBMODULE: &str = "160000";

/// How much of a revision is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Larger files are left out.
    pub file_bytes_max: u64,
    /// More files than this are refused.
    pub files_max: usize,
    /// More bytes than this in all of them are refused.
    pub bytes_max: u64,
}

impl Git<'_> {
    /// Whether objects were left out when it was cloned.
    fn is_partial(&self) -> Result<bool, GitError> {
        let said = self.ask(["config", "--get-regexp", r"^remote\..*\.(promisor|partialclonefilter)$"])?;
        Ok(said.is_ok_and(|said| !said.trim().is_empty()))
    }

    /// Whether there is a repository.
    pub fn is_in_repository(&self) -> Result<(), GitError> {
        match self.ask(["rev-parse", "--git-dir"])? {
            Ok(_) => Ok(()),
            Err(said) => Err(GitError::NotARepository { path: self.place().to_path_buf(), said }),
        }
    }

    /// The tree of a revision, at the directory that it is about; nothing where the directory was not there yet.
    pub fn tree(&self, revision: &str) -> Result<Option<String>, GitError> {
        // A name that begins with a dash is no option.
        let verify = |name: &str| self.ask(["rev-parse", "--verify", "--quiet", "--end-of-options", name]);
        if verify(&format!("{revision}^{{commit}}"))?.is_err() {
            let shallow = self.ask(["rev-parse", "--is-shallow-repository"])?;
            let is_shallow = shallow.is_ok_and(|answer| answer.trim() == "true");
            return Err(if is_shallow { GitError::Shallow } else { GitError::UnknownRevision });
        }
        // The tree of a commit is always there, unless the clone left trees out.
        if self.ask(["cat-file", "-e", &format!("{revision}^{{tree}}")])?.is_err() {
            return Err(GitError::Partial);
        }
        // `REV:./` is the tree of this directory in that revision.
        Ok(verify(&format!("{revision}:./"))?.ok().map(|tree| tree.trim().to_owned()))
    }

    /// Writes all files of a tree below `target`, but those that are larger than a file may be.
    pub fn write(&self, tree: &str, target: &Path, room: Room) -> Result<(), GitError> {
        let listed = match self.ask(["ls-tree", "-r", "-z", "--full-tree", tree])? {
            Ok(listed) => listed,
            // Below the first level, a tree can be missing alone.
            Err(_) if self.is_partial()? => return Err(GitError::Partial),
            Err(said) => return Err(GitError::Failed { command: "ls-tree".to_owned(), said }),
        };
        let entries: Vec<Entry<'_>> = listed.split('\0').filter_map(Entry::parse).collect();
        let too_large = || GitError::TooLarge { files_max: room.files_max, bytes_max: room.bytes_max };
        if entries.len() > room.files_max {
            return Err(too_large());
        }
        let (mut links, mut left) = (BTreeMap::new(), room.bytes_max);
        let written = self.blobs(entries.iter().map(|entry| entry.object), room.file_bytes_max, &mut |at, bytes| {
            let entry = &entries[at];
            left = left.checked_sub(bytes.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?;
            if entry.is_link {
                links.insert(entry.path, bytes);
                return Ok(());
            }
            write_file(&target.join(entry.path), &bytes)
        });
        let missing = match written {
            Err(GitError::Write(error)) if error.kind() == io::ErrorKind::FileTooLarge => return Err(too_large()),
            // Some versions give up where they would have to fetch.
            Err(GitError::EndedEarly) if self.is_partial()? => return Err(GitError::Partial),
            written => written?,
        };
        if missing > 0 {
            return Err(GitError::Partial);
        }
        // Last, so that no file can be written through one.
        for (path, bytes) in links {
            link(&target.join(path), &bytes)?;
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::Entry;

    #[test]
    fn submodules_and_paths_that_lead_elsewhere_are_no_files() {
        let path = |line| Entry::parse(line).map(|entry| (entry.path.to_str().unwrap(), entry.is_link));
        assert_eq!(path("100644 blob 0123abcd\tapps/with space/ks.yaml"), Some(("apps/with space/ks.yaml", false)));
        assert_eq!(path("120000 blob 0123abcd\tlink"), Some(("link", true)));
        for line in
            ["160000 commit 0123abcd\tmodules/one", "100644 blob 0123abcd\t../out", "100644 blob 01\t.git/config"]
        {
            assert_eq!(path(line), None, "{line}");
        }
    }
}
