//! One file, opened without waiting for anything and without being led elsewhere.
//!
//! A repository may hold a pipe where a file is expected, and a file may become a link after it was found. So what was
//! opened is looked at, not what was there before.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// What becomes of a link at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// What it leads to is opened, wherever that is: for paths that their user gives.
    Followed,
    /// It is not opened: for paths that a repository gives.
    Refused,
}

/// A regular file, to be read.
pub fn open(path: &Path, links: Links) -> io::Result<File> {
    let file = system::open(path, links)?;
    let there = file.metadata()?;
    if there.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if there.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

/// The bytes of a regular file that has at most so many.
pub fn read(path: &Path, links: Links, bytes_max: u64) -> io::Result<Vec<u8>> {
    // It may grow while it is read.
    let bytes = beginning(path, links, bytes_max.saturating_add(1))?;
    if bytes.len() as u64 <= bytes_max {
        return Ok(bytes);
    }
    Err(io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {bytes_max} bytes")))
}

/// The first bytes of a regular file, at most so many.
pub fn beginning(path: &Path, links: Links, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, links)?.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// As [`read`], for text.
pub fn read_text(path: &Path, links: Links, bytes_max: u64) -> io::Result<String> {
    let bytes = read(path, links, bytes_max)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// A directory whose files are opened without ever leaving it.
#[derive(Debug)]
pub(crate) struct Root(system::Directory);

impl Root {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        system::Directory::open(path).map(Self)
    }

    /// What is at a path below it, of whatever kind; no part of the path may be a link. Never waits.
    pub(crate) fn file(&self, path: &Path) -> io::Result<File> {
        self.0.file(path)
    }

    /// Whether a path can't be opened because a link is on it.
    pub(crate) fn is_link(error: &io::Error) -> bool {
        system::is_link(error)
    }
}

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::{Component, Path};

    use rustix::fs::{CWD, Mode, OFlags, openat};
    use rustix::io::Errno;

    use super::Links;

    fn flags() -> OFlags {
        OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY
    }

    pub(super) fn open(path: &Path, links: Links) -> io::Result<File> {
        let flags = if links == Links::Refused { flags() | OFlags::NOFOLLOW } else { flags() };
        Ok(openat(CWD, path, flags, Mode::empty())?.into())
    }

    pub(super) fn is_link(error: &io::Error) -> bool {
        // A link in the place of a directory is no directory.
        [Errno::LOOP, Errno::MLINK, Errno::NOTDIR, Errno::XDEV]
            .iter()
            .any(|one| error.raw_os_error() == Some(one.raw_os_error()))
    }

    #[derive(Debug)]
    pub(super) struct Directory(OwnedFd);

    impl Directory {
        pub(super) fn open(path: &Path) -> io::Result<Self> {
            Ok(Self(openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY, Mode::empty())?))
        }

        #[cfg(target_os = "linux")]
        pub(super) fn file(&self, path: &Path) -> io::Result<File> {
            use rustix::fs::{ResolveFlags, openat2};
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            match openat2(&self.0, path, flags(), Mode::empty(), resolve) {
                // Kernels before 5.6, and sandboxes that do not know it.
                Err(Errno::NOSYS | Errno::PERM) => self.step_by_step(path),
                opened => Ok(opened?.into()),
            }
        }

        #[cfg(not(target_os = "linux"))]
        pub(super) fn file(&self, path: &Path) -> io::Result<File> {
            self.step_by_step(path)
        }

        fn step_by_step(&self, path: &Path) -> io::Result<File> {
            let (parent, name) = (path.parent().unwrap_or(Path::new("")), path.file_name().ok_or(Errno::INVAL)?);
            let mut held: Option<OwnedFd> = None;
            let step = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY | OFlags::NOFOLLOW;
            for part in parent.components() {
                let Component::Normal(part) = part else { return Err(Errno::XDEV.into()) };
                held = Some(openat(held.as_ref().unwrap_or(&self.0), part, step, Mode::empty())?);
            }
            Ok(openat(held.as_ref().unwrap_or(&self.0), name, flags() | OFlags::NOFOLLOW, Mode::empty())?.into())
        }
    }

    #[cfg(test)]
    mod tests {
        use std::fs;
        use std::path::Path;

        use super::Directory;

        #[test]
        fn both_ways_to_open_refuse_the_same() {
            let (tree, away) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            fs::create_dir_all(tree.path().join("a/b")).unwrap();
            fs::write(tree.path().join("a/b/file"), "in").unwrap();
            fs::write(away.path().join("file"), "out").unwrap();
            std::os::unix::fs::symlink(away.path(), tree.path().join("led")).unwrap();
            std::os::unix::fs::symlink(away.path().join("file"), tree.path().join("a/link")).unwrap();
            let root = Directory::open(tree.path()).unwrap();
            for open in [Directory::file, Directory::step_by_step] {
                assert!(open(&root, Path::new("a/b/file")).is_ok());
                for path in ["led/file", "a/link", "../file", "a/b/none"] {
                    assert!(open(&root, Path::new(path)).is_err(), "{path}");
                }
            }
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{self, File};
    use std::io::{self, ErrorKind};
    use std::path::{Path, PathBuf};

    use super::Links;

    /// Looked at right before it is opened: there are no pipes among files, and no way to open without following.
    pub(super) fn open(path: &Path, links: Links) -> io::Result<File> {
        if links == Links::Refused && fs::symlink_metadata(path)?.is_symlink() {
            return Err(ErrorKind::InvalidInput.into());
        }
        File::open(path)
    }

    pub(super) fn is_link(error: &io::Error) -> bool {
        error.kind() == ErrorKind::InvalidInput
    }

    #[derive(Debug)]
    pub(super) struct Directory(PathBuf);

    impl Directory {
        pub(super) fn open(path: &Path) -> io::Result<Self> {
            path.canonicalize().map(Self)
        }

        pub(super) fn file(&self, path: &Path) -> io::Result<File> {
            let path = self.0.join(path);
            if path.canonicalize()? != path {
                return Err(ErrorKind::InvalidInput.into());
            }
            File::open(path)
        }
    }
}
