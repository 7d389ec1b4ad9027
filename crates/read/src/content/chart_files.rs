//! Where the chart of a release is on this machine: in the repository, or among the archives that were downloaded before.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ecow::EcoString;
use kustomize::{Files as _, PathKind};
use model::ObjectRef;
use yaml::{Node, Value};

use crate::charts::{ChartFiles, Renderer};
use crate::content::collector::Collector;
use crate::content::merging::merge;
use crate::flux::{HelmRelease, SOURCE_GROUP};
use crate::object::{Object, owned};
use crate::repository::Repository;
use crate::resource_set::inputs::json;

/// Charts in charts in charts.
const DEPENDENCIES_DEEP_MAX: usize = 4;

/// The charts of a repository, and what renders them.
pub(crate) struct Shelf<'a> {
    repository: &'a Repository,
    renderer: &'a dyn Renderer,
    /// Directories of the repository by the name and version in their Chart.yaml.
    vendored: BTreeMap<(String, String), String>,
    /// Sources of charts as the cluster's objects define them.
    sources: BTreeMap<ObjectRef, Node>,
}

/// What a release asks for.
struct Wanted {
    /// A name, or a path in a Git source.
    chart: EcoString,
    source: EcoString,
    version: Option<EcoString>,
}

impl<'a> Shelf<'a> {
    pub(crate) fn new(collector: &Collector, repository: &'a Repository, renderer: &'a dyn Renderer) -> Self {
        let mut sources = BTreeMap::new();
        for built in &collector.assembled.objects {
            let object = Object::new(&built.node);
            if object.group() == SOURCE_GROUP {
                sources.insert(object.reference(&built.namespace), built.node.clone());
            }
        }
        Self { repository, renderer, vendored: vendored(repository), sources }
    }

    /// The files of a release's chart, where they are here.
    pub(crate) fn find(&self, release: &HelmRelease) -> Option<ChartFiles<'a>> {
        let wanted = self.wanted(release)?;
        if matches!(wanted.source.as_str(), "GitRepository" | "Bucket" | "ExternalArtifact" | "") {
            let directory = self.repository.place(&wanted.chart);
            return self.has_chart(&directory).then(|| self.stage(&directory, release));
        }
        let name = wanted.chart.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let version = wanted.version.as_deref()?;
        if let Some(directory) = self.vendored.get(&key(name, version)) {
            return Some(self.stage(directory, release));
        }
        self.archive(name, version).map(ChartFiles::Archive)
    }

    /// An archive that lies in the repository, or that was downloaded before.
    fn archive(&self, name: &str, version: &str) -> Option<PathBuf> {
        let bare = version.trim_start_matches('v');
        let names = [format!("{name}-{bare}.tgz"), format!("{name}-v{bare}.tgz")];
        let mut paths = self.repository.paths();
        let here = paths.find(|path| path.rsplit('/').next().is_some_and(|file| names.iter().any(|it| it == file)));
        here.map(|path| self.repository.root().join(path)).or_else(|| self.renderer.archive(name, version))
    }

    fn wanted(&self, release: &HelmRelease) -> Option<Wanted> {
        let source = release.chart.source.as_ref()?;
        if !release.chart.chart.is_empty() {
            let version = release.chart.version.as_ref().and_then(Node::text).map(EcoString::from);
            return Some(Wanted { chart: release.chart.chart.clone(), source: source.object.kind.clone(), version });
        }
        let node = self.sources.get(&source.object)?;
        let at = |path: &[&str]| node.text_at(path).map(EcoString::from);
        Some(match source.object.kind.as_str() {
            "HelmChart" => Wanted {
                chart: owned(node.at(&["spec", "chart"])),
                source: owned(node.at(&["spec", "sourceRef", "kind"])),
                version: at(&["spec", "version"]),
            },
            _ => Wanted {
                chart: owned(node.at(&["spec", "url"])),
                source: source.object.kind.clone(),
                version: at(&["spec", "ref", "tag"]),
            },
        })
    }

    fn has_chart(&self, directory: &str) -> bool {
        self.repository.kind(&format!("{directory}/Chart.yaml")) == PathKind::File
    }

    /// The chart's files, with the charts that it depends on beside them, as far as they are here.
    fn stage(&self, directory: &str, release: &HelmRelease) -> ChartFiles<'a> {
        let mut staged = Staged::default();
        self.add(&mut staged, directory, "", 0);
        self.set_defaults(&mut staged, release);
        ChartFiles::Files { files: staged.files, archives: staged.archives }
    }

    fn add(&self, staged: &mut Staged<'a>, directory: &str, to: &str, depth: usize) {
        let below = format!("{directory}/");
        for path in self.repository.paths().filter(|path| path.starts_with(&below)) {
            if let Some(bytes) = self.repository.bytes(path) {
                staged.files.push((format!("{to}{}", &path[below.len()..]), bytes.into()));
            }
        }
        if depth < DEPENDENCIES_DEEP_MAX {
            self.add_dependencies(staged, directory, to, depth);
        }
    }

    /// `helm template` wants every dependency below `charts/`, where source-controller puts them too.
    fn add_dependencies(&self, staged: &mut Staged<'a>, directory: &str, to: &str, depth: usize) {
        let documents = self.repository.documents(&format!("{directory}/Chart.yaml"));
        let Some(root) = documents.and_then(|(_, documents)| documents.first()?.root.as_ref()) else { return };
        for dependency in root.items_at("dependencies") {
            let text = |key: &str| dependency.get(key).and_then(Node::text).unwrap_or_default();
            let (name, version, repository) = (text("name"), text("version"), text("repository"));
            if self.is_vendored(directory, name) || name.is_empty() || name.contains(['/', '\\']) {
                continue;
            }
            let beside = repository.strip_prefix("file://").and_then(|path| ::repository::path::join(directory, path));
            let here = beside.or_else(|| self.vendored.get(&key(name, version)).cloned());
            if let Some(here) = here.filter(|here| self.has_chart(here)) {
                self.add(staged, &here, &format!("{to}charts/{name}/"), depth + 1);
            } else if let Some(archive) = self.archive(name, version) {
                staged.archives.push((format!("{to}charts/{name}.tgz"), archive));
            }
        }
    }

    /// Whether `charts/` of a chart already holds a dependency.
    fn is_vendored(&self, directory: &str, name: &str) -> bool {
        let charts = self.repository.list(&format!("{directory}/charts"));
        charts.iter().any(|entry| entry == name || (is_archive(entry) && entry.starts_with(&format!("{name}-"))))
    }

    /// `valuesFiles` of a chart in Git stand in for its `values.yaml`, the later over the earlier.
    fn set_defaults(&self, staged: &mut Staged<'a>, release: &HelmRelease) {
        let mut merged: Option<Node> = None;
        for file in &release.chart.values_files {
            let path = self.repository.place(file);
            let documents = self.repository.documents(&path);
            let Some(over) = documents.and_then(|(_, documents)| documents.first()?.root.as_ref()) else { continue };
            merged = Some(merged.map_or_else(|| over.clone(), |under| merge(&under, over)));
        }
        if let Some(merged) = merged {
            staged.files.retain(|(path, _)| path != "values.yaml");
            staged.files.push(("values.yaml".to_owned(), json(&merged).to_string().into_bytes().into()));
        }
    }
}

#[derive(Default)]
struct Staged<'a> {
    files: Vec<(String, Cow<'a, [u8]>)>,
    archives: Vec<(String, PathBuf)>,
}

fn is_archive(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "tgz")
}

/// A version with or without its `v` is the same.
fn key(name: &str, version: &str) -> (String, String) {
    (name.to_owned(), version.trim_start_matches('v').to_owned())
}

fn vendored(repository: &Repository) -> BTreeMap<(String, String), String> {
    let mut found = BTreeMap::new();
    let directories: BTreeSet<&str> = repository.paths().filter_map(|path| path.strip_suffix("/Chart.yaml")).collect();
    for directory in directories {
        let documents = repository.documents(&format!("{directory}/Chart.yaml"));
        let Some(root) = documents.and_then(|(_, documents)| documents.first()?.root.as_ref()) else { continue };
        if let (Some(name), Some(version)) = (root.text_at(&["name"]), root.text_at(&["version"])) {
            found.entry(key(name, version)).or_insert_with(|| directory.to_owned());
        }
    }
    found
}

/// Whether any template of a chart asks the cluster which APIs it has.
pub(crate) fn asks_for_apis(chart: &ChartFiles<'_>, renderer: &dyn Renderer) -> bool {
    const QUESTION: &[u8] = b"Capabilities.APIVersions";
    match chart {
        ChartFiles::Archive(path) => renderer.asks_for_apis(path),
        ChartFiles::Files { files, archives } => {
            let asks = |bytes: &[u8]| bytes.windows(QUESTION.len()).any(|window| window == QUESTION);
            files.iter().any(|(path, bytes)| is_archive(path) || asks(bytes))
                || archives.iter().any(|(_, path)| renderer.asks_for_apis(path))
        }
    }
}

/// The places of values by their text, where a text stands in them just once.
pub(crate) fn by_text(values: &Node) -> BTreeMap<EcoString, Option<source::Span>> {
    /// Shorter texts stand anywhere.
    const CHARS_MIN: usize = 4;
    fn walk(node: &Node, found: &mut BTreeMap<EcoString, Option<source::Span>>) {
        match &node.value {
            Value::Map(map) => map.iter().for_each(|entry| walk(&entry.value, found)),
            Value::Seq(items) => items.iter().for_each(|item| walk(item, found)),
            Value::Scalar(scalar) if scalar.kind == yaml::ScalarKind::Str && scalar.text.len() >= CHARS_MIN => {
                let place = Some(node.span).filter(|span| !span.is_generated());
                found.entry(scalar.text.clone()).and_modify(|place| *place = None).or_insert(place);
            }
            Value::Scalar(_) => {}
        }
    }
    let mut found = BTreeMap::new();
    walk(values, &mut found);
    found
}
