//! All files below one directory.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use foldhash::{HashMap, HashMapExt as _};
use source::{FileId, Position, Source, Span, shown};

use crate::file::Root;
use crate::index::GitDirectory;
use crate::packages::{LeftOut, Packages};
use crate::source_ignore::{self, SourceIgnore};
use crate::unread::{LinkError, Skipped, Unread};
use crate::unsaved::Unsaved;
use crate::{parallel, path, root, walk};

/// What is read of one file; what is larger is named, not read.
pub const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Files in one repository that are looked at.
pub const FILES_MAX: usize = 400_000;

/// One file, read when it is first asked for.
#[derive(Debug, Default)]
struct File {
    path: String,
    source: OnceLock<Result<Source, Unread>>,
    bytes: OnceLock<Option<Vec<u8>>>,
}

/// What one directory holds. Paths are looked up by their directory and then by their name: a search among all paths
/// compares long beginnings that are the same.
#[derive(Debug, Default)]
struct Directory {
    /// Sorted.
    names: Vec<String>,
    /// For each name the file, if it is one.
    files: Vec<Option<FileId>>,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file that is part of the tree.
    File,
    /// A directory with such files.
    Directory,
    /// Nothing that is part of the tree.
    Missing,
}

/// Why a directory can't be read at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Nothing is there.
    #[error("{} does not exist", shown(.0))]
    Missing(PathBuf),
    /// Something else is there.
    #[error("{} is not a directory: give the root of a cluster repository", shown(.0))]
    NotADirectory(PathBuf),
    /// The system does not let us.
    #[error("cannot read {}: {source}", shown(.path))]
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

/// All files below one directory: those that Git tracks or would not ignore. Paths are seen from that directory.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    opener: Root,
    /// Sorted by path.
    files: Vec<File>,
    directories: HashMap<String, Directory>,
    packages: LeftOut,
    source_ignore: SourceIgnore,
    skipped: Vec<Skipped>,
    unsaved: Unsaved,
    /// Where the Git repository that it is in begins.
    git_root: Option<PathBuf>,
    above: OnceLock<PathBuf>,
}

impl Tree {
    /// Finds the files below `root`, and reads none.
    pub fn open(root: &Path, packages: Packages, unsaved: Unsaved) -> Result<Self, OpenError> {
        Self::open_and(root, packages, unsaved, |_| ()).map(|(tree, ())| tree)
    }

    /// The same, and meanwhile does something with the tree: paths can't be looked up yet, but files be read by their ids.
    pub fn open_and<T: Send>(
        root: &Path,
        packages: Packages,
        unsaved: Unsaved,
        work: impl FnOnce(&Self) -> T + Send,
    ) -> Result<(Self, T), OpenError> {
        let mut tree = Self::walk(root, packages, unsaved)?;
        let (directories, done) = parallel::both(|| directories(&tree.files), || work(&tree));
        tree.directories = directories;
        Ok((tree, done))
    }

    fn walk(root: &Path, packages: Packages, unsaved: Unsaved) -> Result<Self, OpenError> {
        let unreadable = |source| OpenError::Unreadable { path: root.to_path_buf(), source };
        let metadata = fs::metadata(root).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => OpenError::Missing(root.to_path_buf()),
            _ => unreadable(source),
        })?;
        if !metadata.is_dir() {
            return Err(OpenError::NotADirectory(root.to_path_buf()));
        }
        let root = root.canonicalize().map_err(unreadable)?;
        fs::read_dir(&root).map_err(|source| OpenError::Unreadable { path: root.clone(), source })?;
        let walk::Found { mut files, packages, skipped } = walk::walk(&root, packages);
        if unsaved.removed().next().is_some() {
            files.retain(|path| !unsaved.is_removed(path));
        }
        for path in unsaved.paths() {
            if let Err(at) = files.binary_search_by(|file| file.as_str().cmp(path)) {
                files.insert(at, path.to_owned());
            }
        }
        let files = files.into_iter().map(|path| File { path, ..File::default() }).collect();
        Ok(Self {
            git_root: root::git_root(&root),
            opener: Root::open(&root).map_err(unreadable)?,
            root,
            files,
            directories: HashMap::new(),
            packages: LeftOut::new(packages),
            source_ignore: SourceIgnore::default(),
            skipped,
            unsaved,
            above: OnceLock::new(),
        })
    }

    /// From now on [`Tree::is_left_out`] knows what `.sourceignore` says.
    pub fn heed_source_ignore(&mut self) {
        let mut found = SourceIgnore::default();
        let is_one = |path: &&str| path.rsplit('/').next() == Some(source_ignore::NAME);
        // Outer ones come first in the order of paths only by chance: a dot comes before most letters.
        let mut files: Vec<&str> = self.paths().filter(is_one).collect();
        files.sort_by_key(|path| path.matches('/').count());
        for file in files {
            let text = self.bytes(file).map(String::from_utf8_lossy);
            found.add(file, text.as_deref().unwrap_or_default());
        }
        self.source_ignore = found;
    }

    /// The same for `spec.ignore` of every source that is this repository, with the file that defines it; empty for one that has none.
    ///
    /// Several that all leave out what defines them only cut it into parts: what Flux begins with is none of them.
    pub fn heed_ignore_of_sources<'a>(&mut self, sources: impl Iterator<Item = (&'a str, &'a str)> + Clone) {
        for (_, text) in sources.clone() {
            self.source_ignore.add_source(text);
        }
        let mut files = sources.map(|(file, _)| file);
        if files.clone().count() > 1 && files.all(|file| self.source_ignore.has(file, false, None)) {
            self.source_ignore.only_cut();
        }
    }

    /// Whether the artifact of one source, or else any of the repository, has a directory: one that is not left out itself is there, empty
    /// where all that lies in it is left out.
    pub fn is_in_artifact(&self, directory: &str, source: Option<usize>) -> bool {
        if !self.is_left_out(directory, Kind::Directory, source) {
            return true;
        }
        let start = self.files.partition_point(|file| file.path.as_str() < directory);
        let below = self.files[start..].iter().map(|file| file.path.as_str());
        // Names that only begin alike may stand between a directory and what is in it.
        let mut below = below.take_while(|path| path.starts_with(directory)).filter(|at| path::is_below(at, directory));
        below.any(|at| !self.is_left_out(at, Kind::File, source))
    }

    /// Where it is, as one path without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The branch of Git that is checked out, if one is.
    pub fn branch(&self) -> Option<String> {
        GitDirectory::of(&self.root)?.branch()
    }

    /// The texts that it has instead of those on the disk.
    pub fn unsaved(&self) -> &Unsaved {
        &self.unsaved
    }

    /// What was left out when the files were looked for, and why.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Whether a path was asked for that lies in packages which were left out: then the tree is to be opened with them.
    pub fn wants_packages(&self) -> bool {
        self.packages.is_wanted()
    }

    /// All paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.path.as_str())
    }

    /// All files with their paths, in the order of these.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &str)> {
        (0..).map(FileId).zip(self.paths())
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The path of a file.
    pub fn path(&self, file: FileId) -> Option<&str> {
        Some(self.files.get(file.index())?.path.as_str())
    }

    /// The file at a path.
    pub fn id(&self, path: &str) -> Option<FileId> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let Some(directory) = self.directories.get(directory) else {
            self.packages.ask(path);
            return None;
        };
        let at = directory.names.binary_search_by(|found| found.as_str().cmp(name)).ok()?;
        directory.files[at]
    }

    /// What is at a path.
    pub fn kind(&self, path: &str) -> Kind {
        if self.id(path).is_some() {
            Kind::File
        } else if self.directories.contains_key(path) {
            Kind::Directory
        } else {
            self.packages.ask(path);
            Kind::Missing
        }
    }

    /// The names in a directory, sorted; none if there is no such directory.
    pub fn names(&self, directory: &str) -> &[String] {
        self.directories.get(directory).map(|directory| directory.names.as_slice()).unwrap_or_default()
    }

    /// The same for those who mean everything that is there: packages, too.
    pub fn list(&self, directory: &str) -> &[String] {
        self.packages.ask_all(directory);
        self.names(directory)
    }

    /// Whether source-controller leaves a path out of the artifact of one source, or else of all: sources are counted as they came to
    /// [`Tree::heed_ignore_of_sources`].
    pub fn is_left_out(&self, path: &str, kind: Kind, source: Option<usize>) -> bool {
        self.source_ignore.has(path, kind == Kind::Directory, source)
    }

    /// The text of a file, if it is text.
    pub fn source(&self, file: FileId) -> Option<&Source> {
        self.text(file).ok()
    }

    /// The text of a file, or why there is none.
    pub fn text(&self, file: FileId) -> Result<&Source, Unread> {
        let file = self.files.get(file.index()).ok_or(Unread::Failed(std::io::ErrorKind::NotFound))?;
        file.source.get_or_init(|| self.read_text(&file.path)).as_ref().map_err(|why| *why)
    }

    /// The text of a file if `is_worth` keeping; else it is read again when it is asked for.
    pub fn text_if(&self, file: FileId, is_worth: impl FnOnce(&str) -> bool) -> Result<Option<&Source>, Unread> {
        let Some(one) = self.files.get(file.index()).filter(|one| one.source.get().is_none()) else {
            return self.text(file).map(Some);
        };
        let read = self.read_text(&one.path);
        if read.as_ref().is_ok_and(|source| !is_worth(source.text())) {
            return Ok(None);
        }
        one.source.get_or_init(|| read).as_ref().map(Some).map_err(|why| *why)
    }

    /// The text of a file as far as it was read until now.
    pub fn text_so_far(&self, file: FileId) -> &str {
        let read = self.files.get(file.index()).and_then(|file| file.source.get()?.as_ref().ok());
        read.map_or("", Source::text)
    }

    /// The bytes of a file.
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        let file = &self.files[self.id(path)?.index()];
        if let Some(Ok(source)) = file.source.get() {
            return Some(source.text().as_bytes());
        }
        file.bytes.get_or_init(|| self.read_bytes(&file.path).ok()).as_deref()
    }

    /// Why what is at a path can't be read as text; nothing where nothing is, or only what Git ignores.
    pub fn obstacle(&self, path: &str) -> Option<Unread> {
        if self.id(path).is_some() {
            return self.read_text(path).err();
        }
        if let Some(skipped) = self.skipped.iter().find(|skipped| skipped.path == path) {
            return Some(skipped.why);
        }
        let there = fs::metadata(self.root.join(path)).ok()?;
        match there.is_file() {
            true => None,
            false if there.is_dir() => Some(Unread::Directory),
            false => Some(Unread::NotRegular),
        }
    }

    /// The path, line and column of a place.
    pub fn locate(&self, span: Span) -> Option<(&str, Position)> {
        Some((self.path(span.file)?, self.source(span.file)?.position(span)))
    }

    /// A path that is written as seen from the root of the Git repository, as seen from here: the directory that was
    /// opened may lie below that root, and then its own path ends with what the written one begins with.
    pub fn place(&self, written: &str) -> String {
        let place = path::within(written);
        // Nothing lies above all that Git knows.
        let is_git_root = self.git_root.as_deref() == Some(&self.root);
        if is_git_root || self.kind(&place) != Kind::Missing {
            return place;
        }
        let splits = place.match_indices('/').map(|(at, _)| place.split_at(at));
        let below = splits.filter(|(outer, _)| self.root.ends_with(outer)).map(|(outer, inner)| (outer, &inner[1..]));
        // The directory itself.
        let is_root = self.root.ends_with(&place) && !place.is_empty();
        let mut below = below.chain(is_root.then_some((place.as_str(), "")));
        let Some((outer, inner)) = below.find(|(_, inner)| self.kind(inner) != Kind::Missing) else {
            // A directory that this one lies in.
            if let Some(git) = self.git_root.as_ref().filter(|git| self.root.starts_with(git.join(&place))) {
                self.above.get_or_init(|| git.clone());
            }
            return place;
        };
        let from = self.root.ancestors().nth(outer.split('/').count());
        self.above.get_or_init(|| from.unwrap_or(&self.root).to_path_buf());
        inner.to_owned()
    }

    /// Whether paths that were asked for are written from a directory above this one: there may be more of it.
    pub fn is_part(&self) -> bool {
        self.above.get().is_some()
    }

    /// The directory above this one from which such paths are written.
    pub fn above(&self) -> Option<&Path> {
        self.above.get().map(PathBuf::as_path)
    }

    /// The directory from which a path is written that does not begin at the root, if there is just one in which it exists.
    pub fn base_of(&self, path: &str) -> Option<String> {
        let bases = self.bases_of(path);
        bases.first().filter(|_| bases.len() == 1).map(|base| (*base).to_owned())
    }

    /// The directories below the root in which a path exists.
    pub fn bases_of(&self, path: &str) -> BTreeSet<&str> {
        let part = format!("/{path}/");
        let bases = self.paths().filter_map(|file| Some(&file[..file.find(&part).filter(|_| !path.is_empty())?]));
        bases.filter(|base| !base.split('/').any(|name| name.starts_with('.'))).collect()
    }

    /// Whether the bytes of a file, read again, are those of its text. Those of UTF-16 are not.
    pub fn is_utf8(&self, file: FileId) -> bool {
        let bytes = self.path(file).and_then(|path| self.read_bytes(path).ok());
        self.source(file).is_some_and(|source| bytes.as_deref() == Some(source.text().as_bytes()))
    }

    fn read_text(&self, path: &str) -> Result<Source, Unread> {
        let text = decoded(self.read_bytes(path)?).ok_or(Unread::NotUtf8)?;
        if memchr::memchr(0, text.as_bytes()).is_some() {
            return Err(Unread::Binary);
        }
        Ok(Source::new(text))
    }

    /// Opens a file where the walk found it, and nothing outside of the repository, whatever has become of it since.
    fn open_file(&self, path: &str) -> Result<fs::File, Unread> {
        let failed = |error: std::io::Error| Unread::Failed(error.kind());
        match self.opener.file(Path::new(path)) {
            Err(error) if Root::is_link(&error) => {}
            opened => return opened.map_err(failed),
        }
        // Links within the repository are fine.
        let real = self.root.join(path).canonicalize().map_err(failed)?;
        let inside = real.strip_prefix(&self.root).map_err(|_| LinkError::Outside)?;
        if inside.starts_with(".git") {
            return Err(LinkError::IntoGit.into());
        }
        self.opener.file(inside).map_err(failed)
    }

    fn read_bytes(&self, path: &str) -> Result<Vec<u8>, Unread> {
        if let Some(text) = self.unsaved.get(path) {
            return Ok(text.as_bytes().to_vec());
        }
        let failed = |error: std::io::Error| Unread::Failed(error.kind());
        let opened = self.open_file(path)?;
        let metadata = opened.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(Unread::NotRegular);
        }
        if metadata.len() > FILE_BYTES_MAX {
            return Err(Unread::TooLarge { bytes_max: FILE_BYTES_MAX });
        }
        // No more than it has now, though it may grow while it is read.
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
        opened.take(metadata.len()).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }
}

/// Every directory on the way to these files, which are sorted by path. What is below one directory stands together, so that only the
/// directories on the way to the path at hand are open: none is looked up.
fn directories(files: &[File]) -> HashMap<String, Directory> {
    type Open<'a> = (&'a str, Vec<(&'a str, Option<FileId>)>);
    let close = |(directory, mut names): Open<'_>| {
        names.sort_unstable();
        let (names, files) = names.into_iter().map(|(name, file)| (name.to_owned(), file)).unzip();
        (directory.to_owned(), Directory { names, files })
    };
    let mut closed = HashMap::new();
    let mut open: Vec<Open<'_>> = Vec::new();
    for (id, path) in (0..).map(FileId).zip(files.iter().map(|file| file.path.as_str())) {
        closed.extend(std::iter::from_fn(|| open.pop_if(|(directory, _)| !path::is_below(path, directory))).map(close));
        if open.is_empty() {
            open.push(("", Vec::new()));
        }
        while let Some((directory, names)) = open.last_mut() {
            let start = if directory.is_empty() { 0 } else { directory.len() + 1 };
            let Some(end) = path[start..].find('/').map(|end| start + end) else {
                names.push((&path[start..], Some(id)));
                break;
            };
            names.push((&path[start..end], None));
            open.push((&path[..end], Vec::new()));
        }
    }
    closed.extend(open.into_iter().map(close));
    closed
}

/// UTF-8, or UTF-16 where a mark at the beginning says so, as YAML has it and kustomize reads it.
fn decoded(bytes: Vec<u8>) -> Option<String> {
    let unit = match bytes.get(..2) {
        Some([0xff, 0xfe]) => u16::from_le_bytes,
        Some([0xfe, 0xff]) => u16::from_be_bytes,
        _ => return String::from_utf8(bytes).ok(),
    };
    let (units, rest) = bytes[2..].as_chunks::<2>();
    let units: Vec<u16> = units.iter().map(|pair| unit(*pair)).collect();
    String::from_utf16(&units).ok().filter(|_| rest.is_empty())
}
