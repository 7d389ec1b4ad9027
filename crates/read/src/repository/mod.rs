//! The files of a repository: found, read and parsed once, on all cores.
//!
//! Knows paths, sizes and YAML. Does not know what any file is for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use kustomize::{Files, PathKind};
use yaml::{Document, FileId, Limits, Source, Span};

/// A manifest is smaller than this; what is larger is named as a blind spot, not read.
pub const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Files in one repository that are looked at.
pub const FILES_MAX: usize = 400_000;

/// One file. YAML is parsed when the repository is opened, other text only when somebody asks.
#[derive(Debug)]
struct File {
    path: String,
    disk: PathBuf,
    source: OnceLock<Option<Source>>,
    documents: OnceLock<Vec<Document>>,
    bytes: OnceLock<Option<Vec<u8>>>,
}

/// All files below one directory.
#[derive(Debug)]
pub struct Repository {
    root: PathBuf,
    files: Vec<File>,
    by_path: BTreeMap<String, FileId>,
    directories: BTreeMap<String, BTreeSet<String>>,
    /// What was left out, and why.
    pub skipped: Vec<Skipped>,
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
    /// Finds every file below `root` that Git would not ignore, and parses the YAML ones.
    pub fn open(root: &Path) -> Result<Self, OpenError> {
        let metadata = fs::metadata(root).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => OpenError::Missing(root.to_path_buf()),
            _ => OpenError::Unreadable { path: root.to_path_buf(), source },
        })?;
        if !metadata.is_dir() {
            return Err(OpenError::NotADirectory(root.to_path_buf()));
        }
        let root = root.canonicalize().map_err(|source| OpenError::Unreadable { path: root.to_path_buf(), source })?;
        fs::read_dir(&root).map_err(|source| OpenError::Unreadable { path: root.clone(), source })?;
        let mut repository = Self {
            root,
            files: Vec::new(),
            by_path: BTreeMap::new(),
            directories: BTreeMap::new(),
            skipped: Vec::new(),
        };
        repository.walk();
        repository.parse_all();
        Ok(repository)
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
        self.by_path.get(path).copied()
    }

    /// The text of a file, if it is text.
    pub fn source(&self, file: FileId) -> Option<&Source> {
        let file = self.files.get(file.0 as usize)?;
        file.source.get_or_init(|| read_text(file).ok()).as_ref()
    }

    /// The path, line and column of a place.
    pub fn locate(&self, span: Span) -> Option<(&str, yaml::Position)> {
        Some((self.path(span.file)?, self.source(span.file)?.position(span)))
    }

    /// All paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.by_path.keys().map(String::as_str)
    }

    fn walk(&mut self) {
        let mut found: Vec<(String, PathBuf)> = Vec::new();
        let walker = ignore::WalkBuilder::new(&self.root)
            .hidden(false)
            .follow_links(true)
            .parents(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build();
        for entry in walker {
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                    if let Some(path) = relative(&self.root, entry.path()) {
                        found.push((path, entry.into_path()));
                    }
                }
                Ok(_) => {}
                Err(error) => self.skipped.push(Skipped { path: String::new(), why: error.to_string() }),
            }
            if found.len() >= FILES_MAX {
                let why = format!("more than {FILES_MAX} files: the rest was not looked at");
                self.skipped.push(Skipped { path: String::new(), why });
                break;
            }
        }
        found.sort();
        for (path, disk) in found {
            self.add(path, disk);
        }
    }

    fn add(&mut self, path: String, disk: PathBuf) {
        let mut child = path.as_str();
        loop {
            let (directory, name) = child.rsplit_once('/').unwrap_or(("", child));
            let names = self.directories.entry(directory.to_owned()).or_default();
            let known = !names.insert(name.to_owned());
            if known || directory.is_empty() {
                break;
            }
            child = directory;
        }
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.by_path.insert(path.clone(), id);
        self.files.push(File {
            path,
            disk,
            source: OnceLock::new(),
            documents: OnceLock::new(),
            bytes: OnceLock::new(),
        });
    }

    /// Parses the YAML files on every core: each takes the next file that nobody has taken.
    fn parse_all(&mut self) {
        let wanted: Vec<usize> = (0..self.files.len()).filter(|index| is_yaml(&self.files[*index].path)).collect();
        let next = AtomicUsize::new(0);
        let skipped = std::sync::Mutex::new(Vec::new());
        let files = &self.files;
        std::thread::scope(|scope| {
            let workers = std::thread::available_parallelism().map_or(1, usize::from).min(wanted.len().max(1));
            for _ in 0..workers {
                scope.spawn(|| {
                    while let Some(index) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if let Err(why) = parse_file(files, *index)
                            && let Ok(mut skipped) = skipped.lock()
                        {
                            skipped.push(Skipped { path: files[*index].path.clone(), why });
                        }
                    }
                });
            }
        });
        let mut skipped = skipped.into_inner().unwrap_or_default();
        skipped.sort_by(|a: &Skipped, b| a.path.cmp(&b.path));
        self.skipped.extend(skipped);
    }
}

impl Files for Repository {
    fn kind(&self, path: &str) -> PathKind {
        if self.by_path.contains_key(path) {
            PathKind::File
        } else if self.directories.contains_key(path) {
            PathKind::Directory
        } else {
            PathKind::Missing
        }
    }

    fn list(&self, directory: &str) -> Vec<String> {
        self.directories.get(directory).map(|names| names.iter().cloned().collect()).unwrap_or_default()
    }

    fn documents(&self, path: &str) -> Option<(FileId, &[Document])> {
        let id = self.id(path)?;
        let file = &self.files[id.0 as usize];
        if file.documents.get().is_none() {
            parse_file(&self.files, id.0 as usize).ok()?;
        }
        Some((id, file.documents.get()?))
    }

    fn bytes(&self, path: &str) -> Option<&[u8]> {
        let file = &self.files[self.id(path)?.0 as usize];
        if let Some(Some(source)) = file.source.get() {
            return Some(source.text().as_bytes());
        }
        file.bytes.get_or_init(|| read_bytes(&file.disk).ok()).as_deref()
    }
}

fn parse_file(files: &[File], index: usize) -> Result<(), String> {
    let file = &files[index];
    let source = match read_text(file) {
        Ok(source) => source,
        Err(why) => {
            let _ = file.source.set(None);
            return Err(why);
        }
    };
    let id = FileId(u32::try_from(index).unwrap_or(u32::MAX));
    let documents = yaml::parse(id, source.text(), Limits::default());
    let _ = file.documents.set(documents);
    let _ = file.source.set(Some(source));
    Ok(())
}

fn read_text(file: &File) -> Result<Source, String> {
    let bytes = read_bytes(&file.disk)?;
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())?;
    if text.contains('\0') {
        return Err("is a binary file".to_owned());
    }
    Ok(Source::new(text))
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("is no regular file".to_owned());
    }
    if metadata.len() > FILE_BYTES_MAX {
        return Err(format!("is larger than {} MiB", FILE_BYTES_MAX / (1024 * 1024)));
    }
    fs::read(path).map_err(|error| error.to_string())
}

fn relative(root: &Path, path: &Path) -> Option<String> {
    let relative = path.strip_prefix(root).ok()?.to_str()?;
    Some(if cfg!(windows) { relative.replace('\\', "/") } else { relative.to_owned() })
}

fn is_yaml(path: &str) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending);
    matches!(ending, Some("yaml" | "yml"))
}
