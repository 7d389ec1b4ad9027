//! Finds the files below a directory: what Git tracks or would, and everything where there is no Git.
//!
//! Knows directories, links and what Git ignores. Does not open a file for what is in it, but for Git's own.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::file::{self, Links};
use crate::index::{GitDirectory, IndexError};
use crate::packages::{self, Packages};
use crate::parallel;
use crate::tree::FILES_MAX;
use crate::unread::{LinkError, Skipped, Unread};

/// Directories that are looked into, counted every time that links lead to them.
const DIRECTORIES_MAX: usize = 200_000;
/// Patterns of a file of them that are heeded.
const PATTERN_BYTES_MAX: u64 = 1024 * 1024;
/// Links to directories on one path.
const LINKS_MAX: usize = 16;

/// Directories behind links that are looked into, counted every time.
const LINKED_DIRECTORIES_MAX: usize = 5_000;
/// Bytes of files behind links, counted every time.
const LINKED_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Links that are followed of a directory behind a link.
const LINKS_OF_LINKED_MAX: usize = 256;
/// Directories behind links that are looked into before it is asked again whether there are too many.
const LINKED_AT_ONCE: usize = 128;

/// What a walk found: paths relative to the root, sorted.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) files: Vec<String>,
    /// The directories of packages that were left out.
    pub(crate) packages: Vec<String>,
    pub(crate) skipped: Vec<Skipped>,
}

/// Walks everything below `root`, which is a canonical path: one level of directories at a time, on every core.
pub(crate) fn walk(root: &Path, packages: Packages) -> Found {
    let git = GitDirectory::of(root);
    let exclude = git.as_ref().and_then(|git| patterns(root, &git.exclude(), Links::Followed));
    let walk = Walk { root, git, packages, tracked: OnceLock::new() };
    let mut found = Found::default();
    let mut level = vec![Directory::root(root, exclude)];
    let mut looked_into = 0;
    let mut linked = Linked::default();
    while !level.is_empty() && looked_into < DIRECTORIES_MAX && found.files.len() < FILES_MAX {
        looked_into += level.len();
        let mut next = Vec::new();
        let (behind_links, plain): (Vec<_>, Vec<_>) = level.into_iter().partition(Directory::is_linked);
        for some in [plain.as_slice()].into_iter().chain(behind_links.chunks(LINKED_AT_ONCE)) {
            if linked.is_too_much && some.first().is_some_and(Directory::is_linked) {
                break;
            }
            for listing in parallel::map(some, |directory| walk.list(directory)) {
                linked.take(listing, &mut found, &mut next);
            }
        }
        level = next;
    }
    if let Some(path) = linked.crowded {
        found.skipped.push(Skipped { path, why: Unread::ManyLinks { links_max: LINKS_OF_LINKED_MAX } });
    }
    if linked.is_too_much {
        let why = Unread::TooManyLinked { directories_max: LINKED_DIRECTORIES_MAX, bytes_max: LINKED_BYTES_MAX };
        found.skipped.push(Skipped { path: String::new(), why });
    }
    if !level.is_empty() || found.files.len() > FILES_MAX {
        let why = Unread::TooMany { files_max: FILES_MAX, directories_max: DIRECTORIES_MAX };
        found.skipped.push(Skipped { path: String::new(), why });
    }
    if let Some(Err(error)) = walk.tracked.get() {
        found.skipped.push(Skipped { path: ".git/index".to_owned(), why: Unread::Index(*error) });
    }
    parallel::sort(&mut found.files);
    found.files.dedup();
    found.files.truncate(FILES_MAX);
    found.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// What lies behind links, each time that one leads there: a few links of links are a whole tree many times over.
#[derive(Default)]
struct Linked {
    directories: usize,
    bytes: u64,
    is_too_much: bool,
    /// The first directory of more links than are followed of one.
    crowded: Option<String>,
}

impl Linked {
    fn take(&mut self, listing: Listing, found: &mut Found, next: &mut Vec<Directory>) {
        if let Some(directory) = listing.crowded {
            self.crowded.get_or_insert(directory);
        }
        found.files.extend(listing.files);
        found.packages.extend(listing.packages);
        found.skipped.extend(listing.skipped);
        for (path, bytes) in listing.linked_files {
            self.bytes = self.bytes.saturating_add(bytes);
            if self.bytes > LINKED_BYTES_MAX {
                self.is_too_much = true;
                break;
            }
            found.files.push(path);
        }
        for directory in listing.directories {
            if directory.is_linked() {
                self.directories += 1;
                if self.directories > LINKED_DIRECTORIES_MAX {
                    self.is_too_much = true;
                    continue;
                }
            }
            next.push(directory);
        }
    }
}

/// A directory on the way.
struct Directory {
    /// From the root, links not resolved; empty for the root.
    path: String,
    /// Where it really is.
    real: PathBuf,
    /// The real directories that hold the links which lead here.
    through: Arc<Vec<PathBuf>>,
    /// What is ignored here, the nearest patterns last.
    ignored: Arc<Vec<Gitignore>>,
}

impl Directory {
    fn root(root: &Path, exclude: Option<Gitignore>) -> Self {
        Self {
            path: String::new(),
            real: root.to_path_buf(),
            through: Arc::default(),
            ignored: Arc::new(exclude.into_iter().collect()),
        }
    }

    /// Whether a link leads here.
    fn is_linked(&self) -> bool {
        !self.through.is_empty()
    }

    fn join(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }
}

/// What one directory holds.
#[derive(Default)]
struct Listing {
    files: Vec<String>,
    /// Files behind links, with their sizes.
    linked_files: Vec<(String, u64)>,
    /// The directory itself, where it has more links than are followed of one.
    crowded: Option<String>,
    directories: Vec<Directory>,
    packages: Vec<String>,
    skipped: Vec<Skipped>,
}

impl Listing {
    fn skip(&mut self, path: impl Into<String>, why: Unread) {
        self.skipped.push(Skipped { path: path.into(), why });
    }
}

struct Walk<'root> {
    root: &'root Path,
    git: Option<GitDirectory>,
    packages: Packages,
    /// Read when the first ignored path is met.
    tracked: OnceLock<Result<BTreeSet<String>, IndexError>>,
}

impl Walk<'_> {
    fn list(&self, directory: &Directory) -> Listing {
        let mut listing = Listing::default();
        let entries = match fs::read_dir(&directory.real) {
            Ok(entries) => entries,
            Err(error) => {
                listing.skip(directory.path.clone(), Unread::Failed(error.kind()));
                return listing;
            }
        };
        let mut here: Vec<(String, fs::FileType)> = Vec::new();
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?))) {
                Ok((name, kind)) => match name.into_string() {
                    Ok(name) if name == ".git" => {}
                    Ok(name) => here.push((name, kind)),
                    Err(name) => listing.skip(directory.join(&name.to_string_lossy()), Unread::NameNotUtf8),
                },
                Err(error) => listing.skip(directory.path.clone(), Unread::Failed(error.kind())),
            }
        }
        let ignored = self.ignored(directory, &here);
        if directory.is_linked() && keep_some_links(&mut here) {
            listing.crowded = Some(directory.path.clone());
        }
        for (name, kind) in here {
            self.entry(directory, &ignored, &name, kind, &mut listing);
        }
        listing
    }

    /// The patterns of the directories above and those of this one.
    fn ignored(&self, directory: &Directory, here: &[(String, fs::FileType)]) -> Arc<Vec<Gitignore>> {
        let has_own = self.git.is_some() && here.iter().any(|(name, kind)| name == ".gitignore" && kind.is_file());
        let (here, file) = (self.root.join(&directory.path), directory.real.join(".gitignore"));
        let own = if has_own { patterns(&here, &file, Links::Refused) } else { None };
        match own {
            Some(own) => Arc::new(directory.ignored.iter().cloned().chain([own]).collect()),
            None => Arc::clone(&directory.ignored),
        }
    }

    fn entry(
        &self,
        directory: &Directory,
        ignored: &Arc<Vec<Gitignore>>,
        name: &str,
        kind: fs::FileType,
        listing: &mut Listing,
    ) {
        let path = directory.join(name);
        // To Git a link is a file, whatever it leads to.
        if !ignored.is_empty() && is_ignored(ignored, &self.root.join(&path), kind.is_dir()) {
            if kind.is_dir() {
                listing.files.extend(self.tracked_below(&path));
                return;
            }
            if !self.tracked().is_some_and(|tracked| tracked.contains(&path)) {
                return;
            }
        }
        if kind.is_file() && directory.is_linked() {
            let bytes = bytes_of(&directory.real.join(name));
            listing.linked_files.push((path, bytes));
        } else if kind.is_file() {
            listing.files.push(path);
        } else if kind.is_dir() && self.packages == Packages::Left && packages::is_one(name) {
            listing.packages.push(path);
        } else if kind.is_dir() {
            let (real, through) = (directory.real.join(name), Arc::clone(&directory.through));
            listing.directories.push(Directory { path, real, through, ignored: Arc::clone(ignored) });
        } else if kind.is_symlink() {
            match self.follow(directory, &directory.real.join(name)) {
                Ok(Target::File { bytes }) => listing.linked_files.push((path, bytes)),
                Ok(Target::Directory { real, through }) => {
                    listing.directories.push(Directory { path, real, through, ignored: Arc::clone(ignored) });
                }
                Ok(Target::Other) => {}
                Err(why) => listing.skip(path, why.into()),
            }
        }
    }

    /// The paths that Git tracks, if that is known.
    fn tracked(&self) -> Option<&BTreeSet<String>> {
        let read = || self.git.as_ref().map_or(Ok(BTreeSet::new()), GitDirectory::tracked);
        self.tracked.get_or_init(read).as_ref().ok()
    }

    /// Of an ignored directory, the files that Git has all the same.
    fn tracked_below(&self, path: &str) -> Vec<String> {
        let Some(tracked) = self.tracked() else { return Vec::new() };
        let prefix = format!("{path}/");
        let below = tracked.range(prefix.clone()..).take_while(|name| name.starts_with(&prefix));
        let is_file = |name: &str| fs::symlink_metadata(self.root.join(name)).is_ok_and(|there| there.is_file());
        below.filter(|name| is_plain(name) && is_file(name)).cloned().collect()
    }

    fn follow(&self, directory: &Directory, link: &Path) -> Result<Target, LinkError> {
        let real = link.canonicalize().map_err(|error| match error.kind() {
            ErrorKind::NotFound => LinkError::Nothing,
            ErrorKind::PermissionDenied => LinkError::NotPermitted,
            _ => LinkError::Nowhere,
        })?;
        let Ok(inside) = real.strip_prefix(self.root) else {
            return Err(LinkError::Outside);
        };
        if inside.starts_with(".git") {
            return Err(LinkError::IntoGit);
        }
        let kind = fs::metadata(&real).map_err(|_| LinkError::Nothing)?;
        if !kind.is_dir() {
            return Ok(if kind.is_file() { Target::File { bytes: kind.len() } } else { Target::Other });
        }
        let mut held = directory.through.iter().chain([&directory.real]);
        if held.any(|holds| holds.starts_with(&real)) {
            return Err(LinkError::Circle);
        }
        if directory.through.len() >= LINKS_MAX {
            return Err(LinkError::TooMany);
        }
        let through = directory.through.iter().cloned().chain([directory.real.clone()]).collect();
        Ok(Target::Directory { real, through: Arc::new(through) })
    }
}

/// What a link leads to.
enum Target {
    File { bytes: u64 },
    Directory { real: PathBuf, through: Arc<Vec<PathBuf>> },
    Other,
}

/// Leaves only as many links as are followed; whether there were more.
fn keep_some_links(here: &mut Vec<(String, fs::FileType)>) -> bool {
    here.sort_by(|a, b| a.0.cmp(&b.0));
    let mut links = 0;
    here.retain(|(_, kind)| {
        links += usize::from(kind.is_symlink());
        !kind.is_symlink() || links <= LINKS_OF_LINKED_MAX
    });
    links > LINKS_OF_LINKED_MAX
}

fn bytes_of(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |found| found.len())
}

/// Whether a name from the index is one that Git would write: no way out of the repository.
fn is_plain(name: &str) -> bool {
    !name.starts_with('/') && name.split('/').all(|part| !matches!(part, "" | "." | ".." | ".git"))
}

/// The nearest patterns that say anything decide.
fn is_ignored(patterns: &[Gitignore], path: &Path, is_directory: bool) -> bool {
    let said = patterns.iter().rev().map(|patterns| patterns.matched(path, is_directory)).find(|said| !said.is_none());
    matches!(said, Some(Match::Ignore(_)))
}

/// The patterns in `file`, which are about paths below `directory`. Lines that Git would not understand say nothing.
fn patterns(directory: &Path, file: &Path, links: Links) -> Option<Gitignore> {
    let bytes = file::beginning(file, links, PATTERN_BYTES_MAX).ok()?;
    let mut builder = GitignoreBuilder::new(directory);
    for line in String::from_utf8_lossy(&bytes).lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|patterns| !patterns.is_empty())
}
