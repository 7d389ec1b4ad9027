//! The files of a repository: found, read and parsed once, on all cores.
//!
//! Knows paths, sizes and YAML. Does not know what any file is for, but that the templates of a Helm chart are no YAML.

mod index;
mod packages;
mod schemas;
mod source_ignore;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use foldhash::{HashMap, HashMapExt as _};
use kustomize::{Build, Files, Mode, Overlay, PathKind};
use yaml::{Document, EcoString, FileId, Limits, Node, Source, Span};

use crate::parallel;
use crate::path;
use packages::{LeftOut, Packages};
use schemas::WithSchemas;
use source_ignore::SourceIgnore;
use walk::cannot_read;

/// A manifest is smaller than this; what is larger is named as a blind spot, not read.
pub const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Files in one repository that are looked at.
const FILES_MAX: usize = 400_000;

/// One file. YAML is parsed when the repository is opened, other text only when somebody asks.
#[derive(Debug, Default)]
struct File {
    path: String,
    source: OnceLock<Option<Source>>,
    documents: OnceLock<Vec<Document>>,
    /// The documents with the schemas that `documents` leaves out.
    whole: OnceLock<Vec<Document>>,
    bytes: OnceLock<Option<Vec<u8>>>,
}

impl File {
    /// The text as far as it was read.
    fn text(&self) -> &str {
        self.source.get().and_then(Option::as_ref).map_or("", Source::text)
    }
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

/// All files below one directory.
#[derive(Debug)]
pub struct Repository {
    root: PathBuf,
    /// Sorted by path.
    files: Vec<File>,
    directories: HashMap<String, Directory>,
    packages: LeftOut,
    source_ignore: SourceIgnore,
    /// What was left out, and why.
    pub skipped: Vec<Skipped>,
    /// Whether the schemas of CRDs are parsed.
    with_schemas: bool,
    /// Whether it is all that Git knows: then nothing lies above it.
    is_git_root: bool,
    is_part: AtomicBool,
    /// Inline patches that were parsed already, by place, each with its text.
    inline: Mutex<BTreeMap<Span, (EcoString, Vec<Document>)>>,
}

/// A file that was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub path: String,
    pub why: String,
}

/// Why a repository can't be read at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    #[error("{} is not a directory: give the root of a cluster repository", .0.display())]
    NotADirectory(PathBuf),
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
}

impl Repository {
    /// Finds every file below `root` that Git tracks or would not ignore, and parses the YAML ones: all but the schemas
    /// of CRDs, which nobody asks about. Packages of other tools are left out.
    pub fn open(root: &Path) -> Result<Self, OpenError> {
        Self::open_with(root, Packages::Left)
    }

    /// The same repository with the packages that were left out, if anybody asked for a path in one.
    pub(crate) fn with_packages(&self) -> Option<Result<Self, OpenError>> {
        self.packages.is_wanted().then(|| Self::open_with(&self.root, Packages::Entered))
    }

    fn open_with(root: &Path, packages: Packages) -> Result<Self, OpenError> {
        let mut repository = Self::walk(root, packages)?;
        repository.with_schemas = false;
        let (directories, skipped) = parallel::both(|| directories(&repository.files), || repository.parse_all());
        repository.directories = directories;
        repository.skipped.extend(skipped);
        repository.source_ignore = repository.source_ignore();
        Ok(repository)
    }

    /// Finds the files and reads none: YAML is then parsed, all of it, when somebody asks for it.
    pub fn find(root: &Path) -> Result<Self, OpenError> {
        let mut repository = Self::walk(root, Packages::Left)?;
        repository.directories = directories(&repository.files);
        Ok(repository)
    }

    fn source_ignore(&self) -> SourceIgnore {
        let mut found = SourceIgnore::default();
        let is_one = |path: &&str| path.rsplit('/').next() == Some(source_ignore::NAME);
        // Outer ones come first in the order of paths only by chance: a dot comes before most letters.
        let mut files: Vec<&str> = self.paths().filter(is_one).collect();
        files.sort_by_key(|path| path.matches('/').count());
        for file in files {
            let text = self.bytes(file).map(String::from_utf8_lossy);
            found.add(file, text.as_deref().unwrap_or_default());
        }
        found
    }

    /// Finds the files, and nothing of their directories.
    fn walk(root: &Path, packages: Packages) -> Result<Self, OpenError> {
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
        let walk::Found { files, packages, skipped } = walk::walk(&root, packages);
        let files = files.into_iter().map(|path| File { path, ..File::default() }).collect();
        let is_git_root = root.join(".git").exists();
        Ok(Self {
            root,
            files,
            directories: HashMap::new(),
            packages: LeftOut::new(packages),
            source_ignore: SourceIgnore::default(),
            skipped,
            with_schemas: true,
            is_git_root,
            is_part: AtomicBool::new(false),
            inline: Mutex::default(),
        })
    }

    /// The paths of the YAML files that are parsed when a repository is opened, sorted.
    pub fn yaml_paths(&self) -> impl Iterator<Item = &str> {
        let charts = self.charts();
        self.files
            .iter()
            .map(|file| file.path.as_str())
            .filter(move |path| is_yaml(path) && !is_template(path, &charts))
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Every YAML file with its documents, in the order of their paths.
    pub fn yaml_files(&self) -> impl Iterator<Item = (FileId, &str, &[Document])> {
        self.files.iter().enumerate().filter_map(|(index, file)| {
            let documents = file.documents.get()?;
            Some((FileId(u32::try_from(index).ok()?), file.path.as_str(), documents.as_slice()))
        })
    }

    /// The repository-relative path of a file.
    pub fn path(&self, file: FileId) -> Option<&str> {
        Some(self.files.get(file.0 as usize)?.path.as_str())
    }

    pub fn id(&self, path: &str) -> Option<FileId> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let Some(directory) = self.directories.get(directory) else {
            self.packages.ask(path);
            return None;
        };
        let at = directory.names.binary_search_by(|found| found.as_str().cmp(name)).ok()?;
        directory.files[at]
    }

    /// The text of a file, if it is text.
    pub fn source(&self, file: FileId) -> Option<&Source> {
        let file = self.files.get(file.0 as usize)?;
        file.source.get_or_init(|| self.read_text(file).ok()).as_ref()
    }

    /// Why what is at a path can't be read as text; nothing where nothing is, or only what Git ignores.
    pub(crate) fn obstacle(&self, path: &str) -> Option<String> {
        if let Some(id) = self.id(path) {
            return self.read_text(&self.files[id.0 as usize]).err();
        }
        if let Some(skipped) = self.skipped.iter().find(|skipped| skipped.path == path) {
            return Some(skipped.why.clone());
        }
        let there = fs::metadata(self.root.join(path)).ok()?;
        match there.is_file() {
            true => None,
            false if there.is_dir() => Some("is a directory".to_owned()),
            false => Some("is no regular file".to_owned()),
        }
    }

    /// The path, line and column of a place.
    pub fn locate(&self, span: Span) -> Option<(&str, yaml::Position)> {
        Some((self.path(span.file)?, self.source(span.file)?.position(span)))
    }

    /// A path that somebody wrote as seen from the root of the Git repository, as seen from here: the directory that was
    /// opened may lie below that root, and then its own path ends with what the written one begins with.
    pub(crate) fn place(&self, written: &str) -> String {
        let place = crate::path::within(written);
        if self.is_git_root || self.kind(&place) != PathKind::Missing {
            return place;
        }
        let splits = place.match_indices('/').map(|(at, _)| place.split_at(at));
        let mut below = splits.filter(|(outer, _)| self.root.ends_with(outer)).map(|(_, inner)| &inner[1..]);
        let found = below.find(|inner| self.kind(inner) != PathKind::Missing);
        // The directory itself.
        let is_root = self.root.ends_with(&place) && !place.is_empty();
        if found.is_some() || is_root {
            self.is_part.store(true, Ordering::Relaxed);
        }
        found.map_or_else(|| if is_root { String::new() } else { place.clone() }, str::to_owned)
    }

    /// The directory from which a path is written that does not begin at the root, if there is just one in which it exists.
    pub(crate) fn base_of(&self, path: &str) -> Option<String> {
        let bases = self.bases_of(path);
        bases.first().filter(|_| bases.len() == 1).map(|base| (*base).to_owned())
    }

    /// The directories below the root in which a path exists.
    pub(crate) fn bases_of(&self, path: &str) -> BTreeSet<&str> {
        let part = format!("/{path}/");
        let bases = self.paths().filter_map(|file| Some(&file[..file.find(&part).filter(|_| !path.is_empty())?]));
        bases.filter(|base| !base.split('/').any(|name| name.starts_with('.'))).collect()
    }

    /// Whether paths that were asked for are written from a directory above this one: there may be more of it.
    pub(crate) fn is_part(&self) -> bool {
        self.is_part.load(Ordering::Relaxed)
    }

    /// All paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.path.as_str())
    }

    /// The names in a directory, sorted; none if there is no such directory.
    pub fn names(&self, directory: &str) -> &[String] {
        self.directories.get(directory).map(|directory| directory.names.as_slice()).unwrap_or_default()
    }

    /// The directories of Helm charts.
    fn charts(&self) -> BTreeSet<&str> {
        self.files.iter().filter_map(|file| file.path.strip_suffix("Chart.yaml")).collect()
    }

    /// Parses the YAML files on every core; says which could not be read.
    fn parse_all(&self) -> Vec<Skipped> {
        let charts = self.charts();
        let wanted: Vec<(FileId, &File)> = (0..)
            .map(FileId)
            .zip(&self.files)
            .filter(|(_, file)| is_yaml(&file.path) && !is_template(&file.path, &charts) && !packages::hold(&file.path))
            .collect();
        let failed = parallel::map(&wanted, |(id, file)| self.parse_if_worth_it(*id, file).err());
        let skipped = wanted.iter().zip(failed).filter_map(|((_, file), why)| Some((file.path.clone(), why?)));
        skipped.map(|(path, why)| Skipped { path, why }).collect()
    }

    /// Values of charts, playbooks and task files wait until somebody asks for them: nobody does for most, so that their
    /// texts are not kept either.
    fn parse_if_worth_it(&self, id: FileId, file: &File) -> Result<(), String> {
        let read = self.read_text(file);
        if read.as_ref().is_ok_and(|source| !may_hold_objects(&file.path, source.text())) {
            return Ok(());
        }
        let why = read.as_ref().err().cloned();
        let _ = file.source.set(read.ok());
        why.map_or_else(|| self.parse_file(id, file), Err)
    }

    fn text_of<'a>(&self, file: &'a File) -> Result<&'a Source, String> {
        if file.source.get().is_none() {
            let read = self.read_text(file);
            let why = read.as_ref().err().cloned();
            let _ = file.source.set(read.ok());
            if let Some(why) = why {
                return Err(why);
            }
        }
        file.source.get().and_then(Option::as_ref).ok_or_else(|| "could not be read".to_owned())
    }

    fn parse_file(&self, id: FileId, file: &File) -> Result<(), String> {
        let source = self.text_of(file)?;
        let _ = file.documents.set(self.parse(id, source.text()));
        Ok(())
    }

    /// Text as it is parsed when a repository is opened.
    pub(crate) fn parse(&self, id: FileId, text: &str) -> Vec<Document> {
        let schemas = if self.with_schemas { Vec::new() } else { schemas::find(text) };
        if !schemas.is_empty() {
            let documents = yaml::parse_leaving_out(id, text, &schemas, Limits::default());
            if documents.iter().all(|document| document.problems.is_empty()) {
                return documents;
            }
        }
        yaml::parse(id, text, Limits::default())
    }

    fn read_text(&self, file: &File) -> Result<Source, String> {
        let bytes = self.read_bytes(file)?;
        let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())?;
        if memchr::memchr(0, text.as_bytes()).is_some() {
            return Err("is a binary file".to_owned());
        }
        Ok(Source::new(text))
    }

    fn read_bytes(&self, file: &File) -> Result<Vec<u8>, String> {
        let open = || -> std::io::Result<(fs::File, fs::Metadata)> {
            let opened = fs::File::open(self.root.join(&file.path))?;
            let metadata = opened.metadata()?;
            Ok((opened, metadata))
        };
        let (opened, metadata) = open().map_err(|error| cannot_read(error.kind()))?;
        if !metadata.is_file() {
            return Err("is no regular file".to_owned());
        }
        if metadata.len() > FILE_BYTES_MAX {
            return Err(format!("is larger than {} MiB", FILE_BYTES_MAX / (1024 * 1024)));
        }
        // No more than it has now, though it may grow while it is read.
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
        opened.take(metadata.len()).read_to_end(&mut bytes).map_err(|error| cannot_read(error.kind()))?;
        Ok(bytes)
    }
}

impl Repository {
    /// Builds a directory as kustomize-controller does. A patch may reach into the schema of a CRD: what can't be built
    /// without the schemas is built again with them.
    pub fn build(&self, directory: &str, overlay: &Overlay) -> Build {
        let build = kustomize::build(self, directory, overlay, Mode::Flux);
        let has_schemas =
            |path: &String| self.id(path).is_some_and(|id| schemas::are_in(self.files[id.0 as usize].text()));
        if build.failures.is_empty() || !build.files.iter().any(has_schemas) {
            return build;
        }
        kustomize::build(&WithSchemas(self), directory, overlay, Mode::Flux)
    }
}

impl Files for Repository {
    fn kind(&self, path: &str) -> PathKind {
        if self.id(path).is_some() {
            PathKind::File
        } else if self.directories.contains_key(path) {
            PathKind::Directory
        } else {
            self.packages.ask(path);
            PathKind::Missing
        }
    }

    fn list(&self, directory: &str) -> Vec<String> {
        self.packages.ask_all(directory);
        self.names(directory).to_vec()
    }

    fn documents(&self, path: &str) -> Option<(FileId, &[Document])> {
        let id = self.id(path)?;
        let file = &self.files[id.0 as usize];
        if file.documents.get().is_none() {
            self.parse_file(id, file).ok()?;
        }
        Some((id, file.documents.get()?))
    }

    fn is_left_out(&self, path: &str, kind: PathKind) -> bool {
        self.source_ignore.has(path, kind == PathKind::Directory)
    }

    fn bytes(&self, path: &str) -> Option<&[u8]> {
        let file = &self.files[self.id(path)?.0 as usize];
        if let Some(Some(source)) = file.source.get() {
            return Some(source.text().as_bytes());
        }
        file.bytes.get_or_init(|| self.read_bytes(file).ok()).as_deref()
    }

    fn inline(&self, block: &Node, parse: &dyn Fn() -> Vec<Document>) -> Vec<Document> {
        let text = block.text().unwrap_or_default();
        if let Ok(known) = self.inline.lock()
            && let Some((known_text, documents)) = known.get(&block.span)
            && known_text == text
        {
            return documents.clone();
        }
        let documents = parse();
        // A substitution may have changed the text since: the last one is kept.
        if let Ok(mut known) = self.inline.lock() {
            known.insert(block.span, (text.into(), documents.clone()));
        }
        documents
    }

    fn source(&self, file: FileId) -> Option<&str> {
        Self::source(self, file).map(Source::text)
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

/// Whether a YAML file is worth parsing before anybody asks for it: objects name their API, a kustomization its name, and
/// values that make a FluxInstance say what it syncs.
pub fn may_hold_objects(path: &str, text: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    text.contains("apiVersion") || text.contains("sync:") || name.starts_with("kustomization")
}

fn is_yaml(path: &str) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending);
    matches!(ending, Some("yaml" | "yml"))
}

/// Whether a file is below the `templates` of a chart: what is there becomes YAML only in Helm's hands.
fn is_template(path: &str, charts: &BTreeSet<&str>) -> bool {
    let mut starts = path.match_indices("templates/").map(|(at, _)| at);
    !charts.is_empty() && starts.any(|at| charts.contains(&path[..at]))
}
