//! The YAML of a repository, parsed once on all cores; files and directories are [`::repository::Tree`]'s.
//!
//! Knows which files are YAML, and what of them is worth parsing. Does not know what any object is for, but that the
//! templates of a Helm chart are no YAML.

mod artifact;
mod schemas;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use ::repository::{Kind, OpenError, Packages, Skipped, Tree, Unread, Unsaved, hold_packages, parallel};
use kustomize::{Build, Files, Mode, Overlay, PathKind};
use model::ObjectRef;
use source::{FileId, Position, Source, Span};
use yaml::{Budget, Document, EcoString, Limits, Node};

use crate::terraform::{self, Module};
pub(crate) use artifact::IgnoreOfSource;
use artifact::OfArtifact;
use schemas::WithSchemas;

/// What was parsed of one file.
#[derive(Debug, Default)]
struct Parsed {
    documents: OnceLock<Vec<Document>>,
    /// The documents with the schemas that `documents` leaves out.
    whole: OnceLock<Vec<Document>>,
    /// The text of a file that generators put into objects.
    text: OnceLock<Option<EcoString>>,
}

/// All files below one directory. YAML is parsed when the repository is opened, other text only when it is asked for.
#[derive(Debug)]
pub struct Repository {
    tree: Tree,
    /// For each file of the tree.
    parsed: Vec<Parsed>,
    /// What was left out, and why.
    pub skipped: Vec<Skipped>,
    /// What the sources that are this repository leave out of their artifacts.
    ignored: Vec<IgnoreOfSource>,
    /// Whether the schemas of CRDs are parsed.
    with_schemas: bool,
    /// The directories that clusters begin with, where the settings say so.
    entry_points: Vec<String>,
    /// Terraform's files, parsed when they are first asked for.
    terraform: OnceLock<BTreeMap<String, Module>>,
    /// Inline patches that were parsed already, by place, each with its text.
    inline: Mutex<BTreeMap<Span, (EcoString, Vec<Document>)>>,
}

impl Repository {
    /// Finds every file below `root` that Git tracks or would not ignore, and parses the YAML ones: all but the schemas
    /// of CRDs, which no rule asks about. Packages of other tools are left out.
    pub fn open(root: &Path) -> Result<Self, OpenError> {
        Self::open_unsaved(root, Unsaved::default())
    }

    /// The same, where these texts stand for those on the disk.
    pub fn open_unsaved(root: &Path, unsaved: Unsaved) -> Result<Self, OpenError> {
        Self::open_with(root, Packages::Left, unsaved)
    }

    /// The same repository with the packages that were left out, if a path in one was asked for.
    pub(crate) fn with_packages(&self) -> Option<Result<Self, OpenError>> {
        let unsaved = || self.tree.unsaved().clone();
        self.tree.wants_packages().then(|| Self::open_with(self.tree.root(), Packages::Entered, unsaved()))
    }

    fn open_with(root: &Path, packages: Packages, unsaved: Unsaved) -> Result<Self, OpenError> {
        let (mut tree, (parsed, unread)) = Tree::open_and(root, packages, unsaved, parse_all)?;
        tree.heed_source_ignore();
        let skipped = tree.skipped().iter().cloned().chain(unread).collect();
        Ok(Self {
            tree,
            parsed,
            skipped,
            ignored: Vec::new(),
            with_schemas: false,
            entry_points: Vec::new(),
            terraform: OnceLock::new(),
            inline: Mutex::default(),
        })
    }

    /// Leaves out of builds what the sources that are this repository leave out of their artifacts.
    pub(crate) fn heed_ignore_of_sources(&mut self, ignored: Vec<IgnoreOfSource>) {
        self.tree.heed_ignore_of_sources(ignored.iter().map(|one| (one.file.as_str(), one.text.as_str())));
        self.ignored = ignored;
    }

    /// Which source is meant where it leaves out what another one does not. Not where clusters have sources of one name that differ.
    pub(crate) fn ignored_by(&self, source: &ObjectRef) -> Option<usize> {
        artifact::ignored_by(&self.ignored, source)
    }

    /// From now on clusters begin with these directories, and nowhere else; by itself where there are none.
    pub(crate) fn begin_at(&mut self, entry_points: Vec<String>) {
        self.entry_points = entry_points;
    }

    /// See [`Repository::begin_at`].
    pub(crate) fn entry_points(&self) -> &[String] {
        &self.entry_points
    }

    /// See [`Tree::is_in_artifact`].
    pub(crate) fn is_in_artifact(&self, directory: &str, source: Option<usize>) -> bool {
        self.tree.is_in_artifact(directory, source)
    }

    /// Finds the files and reads none: YAML is then parsed, all of it, when it is asked for.
    pub fn find(root: &Path) -> Result<Self, OpenError> {
        let tree = Tree::open(root, Packages::Left, Unsaved::default())?;
        let parsed = tree.paths().map(|_| Parsed::default()).collect();
        let skipped = tree.skipped().to_vec();
        Ok(Self {
            tree,
            parsed,
            skipped,
            ignored: Vec::new(),
            with_schemas: true,
            entry_points: Vec::new(),
            terraform: OnceLock::new(),
            inline: Mutex::default(),
        })
    }

    /// The paths of the YAML files that are parsed when a repository is opened, sorted.
    pub fn yaml_paths(&self) -> impl Iterator<Item = &str> {
        let charts = charts(&self.tree);
        self.tree.paths().filter(move |path| is_yaml(path) && !is_template(path, &charts))
    }

    /// Every YAML file with its documents, in the order of their paths.
    pub fn yaml_files(&self) -> impl Iterator<Item = (FileId, &str, &[Document])> {
        self.tree.files().zip(&self.parsed).filter_map(|((id, path), parsed)| {
            let documents = parsed.documents.get()?;
            Some((id, path, documents.as_slice()))
        })
    }

    /// Directories with Terraform files, parsed once.
    pub(crate) fn terraform(&self) -> &BTreeMap<String, Module> {
        self.terraform.get_or_init(|| terraform::modules(self))
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        self.tree.root()
    }

    /// The branch that is checked out, if one is.
    pub(crate) fn branch(&self) -> Option<String> {
        self.tree.branch()
    }

    /// The repository-relative path of a file.
    pub fn path(&self, file: FileId) -> Option<&str> {
        self.tree.path(file)
    }

    /// The file at a path.
    pub fn id(&self, path: &str) -> Option<FileId> {
        self.tree.id(path)
    }

    /// The text of a file, if it is text.
    pub fn source(&self, file: FileId) -> Option<&Source> {
        self.tree.source(file)
    }

    /// See [`Tree::is_utf8`].
    pub fn is_utf8(&self, file: FileId) -> bool {
        self.tree.is_utf8(file)
    }

    /// Why what is at a path can't be read as text; nothing where nothing is, or only what Git ignores.
    pub(crate) fn obstacle(&self, path: &str) -> Option<Unread> {
        self.tree.obstacle(path)
    }

    /// The path, line and column of a place.
    pub fn locate(&self, span: Span) -> Option<(&str, Position)> {
        self.tree.locate(span)
    }

    /// See [`Tree::place`].
    pub(crate) fn place(&self, written: &str) -> String {
        self.tree.place(written)
    }

    /// See [`Tree::base_of`].
    pub(crate) fn base_of(&self, path: &str) -> Option<String> {
        self.tree.base_of(path)
    }

    /// See [`Tree::bases_of`].
    pub(crate) fn bases_of(&self, path: &str) -> BTreeSet<&str> {
        self.tree.bases_of(path)
    }

    /// See [`Tree::above`].
    pub fn above(&self) -> Option<&Path> {
        self.tree.above()
    }

    /// See [`Tree::is_part`].
    pub(crate) fn is_part(&self) -> bool {
        self.tree.is_part()
    }

    /// All paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.tree.paths()
    }

    /// The names in a directory, sorted; none if there is no such directory.
    pub fn names(&self, directory: &str) -> &[String] {
        self.tree.names(directory)
    }

    /// Text as it is parsed when a repository is opened.
    pub(crate) fn parse(&self, id: FileId, text: &str) -> Vec<Document> {
        parse(id, text, self.with_schemas)
    }

    /// Builds a directory as kustomize-controller does. A patch may reach into the schema of a CRD: what can't be built
    /// without the schemas is built again with them.
    pub fn build(&self, directory: &str, overlay: &Overlay, budget: &mut Budget) -> Build {
        let made_of = |files: &dyn Files, budget: &mut Budget| match overlay.source {
            Some(source) => {
                let files = OfArtifact { files, tree: &self.tree, source };
                kustomize::build(&files, directory, overlay, Mode::Flux, budget)
            }
            None => kustomize::build(files, directory, overlay, Mode::Flux, budget),
        };
        let build = made_of(self, budget);
        let has_schemas = |path: &String| self.id(path).is_some_and(|id| schemas::are_in(self.tree.text_so_far(id)));
        if build.failures.is_empty() || !build.files.iter().any(has_schemas) {
            return build;
        }
        made_of(&WithSchemas(self), budget)
    }
}

impl Files for Repository {
    fn kind(&self, path: &str) -> PathKind {
        match self.tree.kind(path) {
            Kind::File => PathKind::File,
            Kind::Directory => PathKind::Directory,
            Kind::Missing => PathKind::Missing,
        }
    }

    fn list(&self, directory: &str) -> Vec<String> {
        self.tree.list(directory).to_vec()
    }

    fn documents(&self, path: &str) -> Option<(FileId, &[Document])> {
        let id = self.id(path)?;
        let parsed = &self.parsed[id.index()];
        if parsed.documents.get().is_none() {
            let _ = parsed.documents.set(self.parse(id, self.tree.source(id)?.text()));
        }
        Some((id, parsed.documents.get()?))
    }

    fn is_left_out(&self, path: &str, kind: PathKind) -> bool {
        match kind {
            // What lies in it may be taken in again.
            PathKind::Directory => {
                self.tree.is_left_out(path, Kind::Directory, None) && !self.tree.is_in_artifact(path, None)
            }
            PathKind::File | PathKind::Missing => self.tree.is_left_out(path, Kind::File, None),
        }
    }

    fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.tree.bytes(path)
    }

    fn shared_text(&self, path: &str) -> Option<EcoString> {
        let id = self.id(path)?;
        let text = self.parsed[id.index()].text.get_or_init(|| {
            let text = std::str::from_utf8(self.tree.bytes(path)?).ok()?;
            Some(text.into())
        });
        text.clone()
    }

    fn obstacle(&self, path: &str) -> Option<String> {
        Some(self.tree.obstacle(path)?.to_string())
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
        self.tree.source(file).map(Source::text)
    }
}

/// Parses the YAML files on every core; says which could not be read.
fn parse_all(tree: &Tree) -> (Vec<Parsed>, Vec<Skipped>) {
    let charts = charts(tree);
    let parsed: Vec<Parsed> = tree.paths().map(|_| Parsed::default()).collect();
    let is_wanted = |path: &str| is_yaml(path) && !is_template(path, &charts) && !hold_packages(path);
    let wanted: Vec<(FileId, &str)> = tree.files().filter(|(_, path)| is_wanted(path)).collect();
    let failed = parallel::map(&wanted, |(id, path)| {
        // Values of charts, playbooks and task files wait until they are asked for: most never are, so that their texts
        // are not kept either.
        let source = tree.text_if(*id, |text| may_hold_objects(path, text))?;
        if let Some(source) = source {
            let _ = parsed[id.index()].documents.set(parse(*id, source.text(), false));
        }
        Ok::<(), Unread>(())
    });
    let skipped = wanted.iter().zip(failed).filter_map(|((_, path), failed)| Some((*path, failed.err()?)));
    let skipped = skipped.map(|(path, why)| Skipped { path: path.to_owned(), why }).collect();
    (parsed, skipped)
}

fn parse(id: FileId, text: &str, with_schemas: bool) -> Vec<Document> {
    let schemas = if with_schemas { Vec::new() } else { schemas::find(text) };
    if !schemas.is_empty() {
        let documents = yaml::parse_leaving_out(id, text, &schemas, Limits::default());
        if documents.iter().all(|document| document.problems.is_empty()) {
            return documents;
        }
    }
    yaml::parse(id, text, Limits::default())
}

/// The directories of Helm charts.
fn charts(tree: &Tree) -> BTreeSet<&str> {
    tree.paths().filter_map(|path| path.strip_suffix("Chart.yaml")).collect()
}

/// Whether a YAML file is worth parsing before it is asked for: objects name their API, a kustomization its name, and
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
