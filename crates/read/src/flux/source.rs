//! Which directory of this repository a Kustomization's source and path mean, if any.

use std::collections::{BTreeMap, BTreeSet};

use kustomize::{Files, PathKind};
use model::{ObjectRef, WhyUnseen};
use yaml::Node;

use crate::artifact;
use crate::flux::entry::{Entry, SYNC_FILE, Written};
use crate::flux::kustomization::{Kustomization, SourceRef};
use crate::flux::revision::Revisions;
use crate::flux::{CONTROL_PLANE_GROUP, KUSTOMIZE_GROUP, SOURCE_EXTENSIONS_GROUP, SOURCE_GROUP, sync};
use crate::ledger::Ledger;
use crate::object::Object;
use crate::repository::{IgnoreOfSource, Repository};
use crate::resource_set;
use ::repository::path;

/// Artifacts that hold Flux, and nothing else.
const FLUX_ITSELF: [&str; 2] = ["fluxcd/flux-manifests", "controlplaneio-fluxcd/flux-operator-manifests"];

/// Where a Kustomization's objects are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SourcePlace {
    Here(String),
    /// In another repository or artifact, or not to be told: what it is, and why it was not looked at.
    Elsewhere {
        source: ObjectRef,
        url: Option<String>,
        why: WhyUnseen,
    },
    /// It should be at this path, and is not.
    Missing {
        path: String,
    },
}

/// The sources that a repository's files define, by identity, whoever applies them.
#[derive(Debug)]
pub(crate) struct Sources<'a> {
    repository: &'a Repository,
    /// Their addresses. A patch of a source looks like one, and does not say where it is from.
    urls: BTreeMap<ObjectRef, String>,
    /// Some objects get their namespace only when built: by kind and name alone.
    urls_by_name: BTreeMap<(String, String), String>,
    /// The directories with files that define a source, by its kind and name.
    homes: BTreeMap<(String, String), BTreeSet<&'a str>>,
    /// Several clusters of a repository may each make an artifact of the same name.
    artifacts: BTreeMap<String, Vec<artifact::Artifact>>,
    /// The addresses of the sources that a FluxInstance makes, by kind and name if it gives one.
    synced: BTreeMap<(String, String), &'a str>,
    /// The sources of which at least one path is here.
    here: BTreeSet<ObjectRef>,
    /// The directories that artifacts were made of whose paths do not begin at the repository's root.
    bases: BTreeMap<ObjectRef, String>,
    /// What Git sources follow, by kind and name.
    revisions: Revisions<'a>,
    /// The source that most Kustomizations name, if paths of it are here.
    usual: Option<ObjectRef>,
}

impl<'a> Sources<'a> {
    /// Also those that ResourceSets make, of the inputs that `providers` give.
    pub(crate) fn new(repository: &'a Repository, providers: &[Node]) -> Self {
        let mut sources = Self {
            repository,
            urls: BTreeMap::new(),
            urls_by_name: BTreeMap::new(),
            homes: BTreeMap::new(),
            artifacts: BTreeMap::new(),
            synced: BTreeMap::new(),
            here: BTreeSet::new(),
            bases: BTreeMap::new(),
            revisions: Revisions::default(),
            usual: None,
        };
        let mut ledger = Ledger::default();
        for (_, file, documents) in repository.yaml_files() {
            for node in documents.iter().filter_map(|document| document.root.as_ref()) {
                sources.add(node, path::parent(file));
                if Object::new(node).is(CONTROL_PLANE_GROUP, "ResourceSet") {
                    let made = ledger.one(|budget| resource_set::expand_with(node, providers, budget));
                    made.objects.iter().for_each(|made| sources.add_url(made));
                }
            }
        }
        sources
    }

    fn add_url(&mut self, node: &Node) {
        let object = Object::new(node);
        let Some(url) = node.text_at(&["spec", "url"]).filter(|_| object.group() == SOURCE_GROUP) else { return };
        self.urls.insert(object.reference(""), url.to_owned());
        self.urls_by_name.insert((object.kind().to_owned(), object.name().to_owned()), url.to_owned());
    }

    fn add(&mut self, node: &'a Node, directory: &'a str) {
        let object = Object::new(node);
        if object.group() == SOURCE_GROUP {
            self.add_url(node);
            self.revisions.add(node, directory);
            let kind_and_name = (object.kind().to_owned(), object.name().to_owned());
            self.homes.entry(kind_and_name).or_default().insert(directory);
        } else if object.is(SOURCE_EXTENSIONS_GROUP, "ArtifactGenerator") {
            for artifact in artifact::artifacts(node) {
                self.artifacts.entry(artifact.name.to_string()).or_default().push(artifact);
            }
        } else if let Some(sync) = sync::sync_of(node)
            && let Some(url) = sync.text_at(&["url"])
        {
            self.revisions.add_synced(node, sync, directory);
            let name = sync::name_of(sync).unwrap_or_default();
            self.synced.entry((sync::kind_of(sync).to_owned(), name.to_owned())).or_insert(url);
        }
    }

    /// Whether other paths of a source are here.
    pub(super) fn has_paths_here(&self, source: &ObjectRef) -> bool {
        self.here.contains(source)
    }

    /// Whether a source is defined in a file of a directory.
    pub(super) fn is_in(&self, source: &ObjectRef, directory: &str) -> bool {
        let kind_and_name = (source.kind.to_string(), source.name.to_string());
        self.homes.get(&kind_and_name).is_some_and(|homes| homes.contains(directory))
    }

    /// Finds out from the paths that Kustomizations name which sources are made of this repository. `own` is the one that most name.
    pub(super) fn locate(&mut self, written: &[Written<'_>], own: Option<&ObjectRef>) {
        let mut paths: BTreeMap<ObjectRef, BTreeSet<&str>> = BTreeMap::new();
        for it in written {
            if let (Some(source), Some(path)) = (it.source(), it.covers.as_deref().filter(|path| !path.is_empty())) {
                paths.entry(source).or_default().insert(path);
            }
        }
        for (source, paths) in paths {
            if paths.iter().any(|path| self.exists(path)) {
                self.here.insert(source);
            } else if source.kind == "OCIRepository"
                && let Some(base) = self.base_of(&paths)
            {
                self.bases.insert(source, base);
            }
        }
        self.usual = own.filter(|own| self.here.contains(own)).cloned();
    }

    /// The one directory below which all of these exist.
    pub(super) fn base_of(&self, paths: &BTreeSet<&str>) -> Option<String> {
        let bases = paths.iter().map(|path| self.repository.bases_of(path));
        let common = bases.reduce(|all, bases| all.intersection(&bases).copied().collect())?;
        common.first().filter(|_| common.len() == 1).map(|base| (*base).to_owned())
    }

    /// Whether a source is another repository than the one that `own` means.
    pub(crate) fn is_another(&self, source: &ObjectRef, own: &ObjectRef) -> bool {
        let urls = || Some((self.url(source)?, self.url(own)?));
        source.kind == "GitRepository" && urls().is_some_and(|(url, own)| normal_url(url) != normal_url(own))
    }

    /// Whether a source is a tenant's: it has an address, and a namespace of its own, where no file says the address of `own`.
    pub(crate) fn is_of_tenant(&self, source: &ObjectRef, own: &ObjectRef) -> bool {
        let is_git = source.kind == "GitRepository" && own.kind == "GitRepository";
        is_git && source.namespace != own.namespace && self.url(source).is_some() && self.url(own).is_none()
    }

    /// Whether the root of a source is another one than that of `own`: it has an address, and not the same.
    pub(crate) fn has_another_root(&self, source: &ObjectRef, own: &ObjectRef) -> bool {
        let address = |source: &ObjectRef| self.url(source).map(normal_url);
        source != own && address(source).is_some_and(|url| address(own) != Some(url))
    }

    /// Where a Kustomization of the cluster that begins at `entry` has its objects.
    pub(crate) fn place(&self, kustomization: &Kustomization, entry: &Entry) -> SourcePlace {
        let own = entry.root.source.as_ref();
        let (written, is_known) = with_defaults(&kustomization.path);
        let directory = self.repository.place(&written);
        let Some(source) = &kustomization.source else { return self.here(directory, &written) };
        // The root that Flux makes is given as a directory of the repository.
        let is_root = kustomization.object == entry.root.object;
        if !is_known && !is_root {
            return elsewhere(source, WhyUnseen::PathOfVariables);
        }
        let is_known = source.object.kind == "ExternalArtifact" || self.url(&source.object).is_some();
        let is_own = own.is_some_and(|own| own.object == source.object);
        if is_root && entry.follows_another_branch {
            return elsewhere(source, WhyUnseen::AnotherRevision);
        }
        // No file says what the source is, and nothing of it is here: its root need not be this repository's.
        let is_nowhere = directory.is_empty() || !self.exists(&directory);
        if !is_own && !is_known && is_nowhere && !self.here.contains(&source.object) {
            return elsewhere(source, WhyUnseen::NothingOfSource);
        }
        if is_own {
            let from_base = path::join(&entry.base, &path::within(&written)).unwrap_or_default();
            let is_shifted = !entry.base.is_empty() && (!is_root || !self.exists(&directory));
            return self.here(if is_shifted { from_base } else { directory }, &written);
        }
        match source.object.kind.as_str() {
            "ExternalArtifact" => self.in_artifact(source, &path::join("", &written).unwrap_or_default(), &entry.base),
            "GitRepository" => match self.why_not_here(&source.object, &directory, entry) {
                None => self.here_of(directory, &written, self.cut_by(kustomization, entry)),
                Some(why) => {
                    let (source, url) = (source.object.clone(), self.url(&source.object).map(str::to_owned));
                    SourcePlace::Elsewhere { source, url, why }
                }
            },
            "OCIRepository" if !directory.is_empty() && self.exists(&directory) => SourcePlace::Here(directory),
            "OCIRepository" if self.bases.contains_key(&source.object) => {
                let base = self.bases.get(&source.object).map(String::as_str).unwrap_or_default();
                self.here(path::join(base, &path::within(&written)).unwrap_or_default(), &written)
            }
            _ => {
                let holds_flux = |url: &str| FLUX_ITSELF.iter().any(|end| url.ends_with(end));
                let is_flux = self.url(&source.object).is_some_and(holds_flux);
                elsewhere(source, if is_flux { WhyUnseen::HoldsFlux } else { WhyUnseen::AnotherSource })
            }
        }
    }

    /// Which of the sources that are this repository a Kustomization builds from, where that decides which files there are. The own
    /// source of a cluster is not asked: what it begins with was found without.
    pub(crate) fn cut_by(&self, kustomization: &Kustomization, entry: &Entry) -> Option<usize> {
        let source = &kustomization.source.as_ref()?.object;
        let own = entry.root.source.as_ref().map(|own| &own.object);
        self.repository.ignored_by(source).filter(|_| own != Some(source))
    }

    /// The branch that the own source of a cluster follows, if it is certain.
    pub(super) fn branch(&self, entry: &Entry) -> Option<&str> {
        self.revisions.branch(&entry.root.source.as_ref()?.object, &entry.directory)
    }

    /// The address of a source, if the files say it.
    pub(super) fn url(&self, source: &ObjectRef) -> Option<&str> {
        // Without a name it is called like its namespace.
        let name = if source.name == source.namespace { "" } else { source.name.as_str() };
        let named = |name: &str| self.synced.get(&(source.kind.to_string(), name.to_owned()));
        let synced = || named(&source.name).or_else(|| named(name)).copied();
        let by_name = || self.urls_by_name.get(&(source.kind.to_string(), source.name.to_string()));
        self.urls.get(source).or_else(by_name).map(String::as_str).or_else(synced)
    }

    /// Why a Git source is not what was read, if it is not. Its address and what it follows decide, not whether a path is here.
    fn why_not_here(&self, source: &ObjectRef, directory: &str, entry: &Entry) -> Option<WhyUnseen> {
        let other = normal_url(self.url(source)?);
        let own = entry.root.source.as_ref().map(|own| &own.object);
        let Some(address) = entry.url.as_deref().or_else(|| self.url(own?)) else {
            let usual = self.usual.as_ref().and_then(|usual| self.url(usual));
            let is_other = usual.is_some_and(|usual| normal_url(usual) != other);
            let is_nowhere = directory.is_empty() || !self.exists(directory) || !self.is_named_here(source);
            return (is_other || is_nowhere).then_some(WhyUnseen::AnotherSource);
        };
        if normal_url(address) != other {
            return Some(WhyUnseen::AnotherSource);
        }
        let follows_another = own.is_some_and(|own| self.revisions.differ(source, own, &entry.directory));
        follows_another.then_some(WhyUnseen::AnotherRevision)
    }

    /// Whether at least one path of a source is here, whatever its namespace.
    fn is_named_here(&self, source: &ObjectRef) -> bool {
        self.here.iter().any(|here| here.kind == source.kind && here.name == source.name)
    }

    fn in_artifact(&self, source: &SourceRef, directory: &str, base: &str) -> SourcePlace {
        let artifacts = self.artifacts.get(source.object.name.as_str()).map(Vec::as_slice).unwrap_or_default();
        let candidates = artifacts.iter().flat_map(|artifact| artifact::resolve(artifact, directory));
        let mut places = candidates.map(|candidate| match base {
            "" => self.repository.place(&candidate),
            base => path::join(base, &candidate).unwrap_or_default(),
        });
        match places.find(|place| self.exists(place)) {
            Some(found) => SourcePlace::Here(found),
            None if artifacts.is_empty() => elsewhere(source, WhyUnseen::NoArtifactGenerator),
            None => elsewhere(source, WhyUnseen::ArtifactOfOthers),
        }
    }

    fn exists(&self, directory: &str) -> bool {
        self.repository.kind(directory) == PathKind::Directory
    }

    fn here(&self, directory: String, written: &str) -> SourcePlace {
        self.here_of(directory, written, None)
    }

    fn here_of(&self, directory: String, written: &str, cut_by: Option<usize>) -> SourcePlace {
        if self.exists(&directory) && self.repository.is_in_artifact(&directory, cut_by) {
            SourcePlace::Here(directory)
        } else {
            SourcePlace::Missing { path: written.to_owned() }
        }
    }
}

fn elsewhere(source: &SourceRef, why: WhyUnseen) -> SourcePlace {
    SourcePlace::Elsewhere { source: source.object.clone(), url: None, why }
}

/// What the GitRepositories that are this repository say in `spec.ignore`: empty for one that says nothing.
pub(super) fn ignored(repository: &Repository) -> Vec<IgnoreOfSource> {
    let documents = repository.yaml_files().flat_map(|(_, _, documents)| documents);
    let nodes: Vec<&Node> = documents.filter_map(|document| document.root.as_ref()).collect();
    let is_one = |node: &&&Node| Object::new(node).is(SOURCE_GROUP, "GitRepository");
    let mut all: Vec<&Node> = nodes.iter().filter(is_one).copied().collect();
    if all.iter().all(|node| node.at(&["spec", "ignore"]).is_none()) {
        return Vec::new();
    }
    let left_out = left_out_of_lists(repository);
    all.retain(|node| !repository.path(node.span.file).is_some_and(|file| left_out.contains(file)));
    let Some(own) = most_named(&nodes) else { return Vec::new() };
    let url = |node: &Node| node.text_at(&["spec", "url"]).map(normal_url);
    let is_named = |node: &&&Node| Object::new(node).name() == own;
    let own_urls: BTreeSet<String> = all.iter().filter(is_named).filter_map(|node| url(node)).collect();
    let is_own = |node: &&&Node| is_named(node) || url(node).is_some_and(|url| own_urls.contains(&url));
    let said = |node: &&Node| IgnoreOfSource {
        source: Object::new(node).reference(""),
        file: repository.path(node.span.file).unwrap_or_default().to_owned(),
        text: node.text_at(&["spec", "ignore"]).unwrap_or_default().to_owned(),
    };
    all.iter().filter(is_own).map(said).collect()
}

/// The files with the root of a cluster that the kustomization beside them does not list: `flux bootstrap` writes one, and applies
/// what is listed.
fn left_out_of_lists(repository: &Repository) -> BTreeSet<&str> {
    let is_list = |file: &str| file.rsplit('/').next().is_some_and(|name| kustomize::FILE_NAMES.contains(&name));
    let mut left_out = BTreeSet::new();
    for (_, file, documents) in repository.yaml_files().filter(|(_, file, _)| is_list(file)) {
        let root = documents.first().and_then(|document| document.root.as_ref());
        let listed = root.map(|root| root.items_at("resources")).unwrap_or_default();
        let is_listed = listed.iter().filter_map(Node::text).any(|one| path::within(one) == SYNC_FILE);
        let beside = path::join(path::parent(file), SYNC_FILE).and_then(|beside| repository.id(&beside));
        left_out.extend(beside.filter(|_| !is_listed).and_then(|id| repository.path(id)));
    }
    left_out
}

/// The GitRepository that most Kustomizations name.
fn most_named<'a>(nodes: &[&'a Node]) -> Option<&'a str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for node in nodes.iter().filter(|node| Object::new(node).is(KUSTOMIZE_GROUP, "Kustomization")) {
        let kind = node.text_at(&["spec", "sourceRef", "kind"]);
        if let Some(name) = node.text_at(&["spec", "sourceRef", "name"]).filter(|_| kind == Some("GitRepository")) {
            *counts.entry(name).or_default() += 1;
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(name, _)| name)
}

/// A path with what the defaults of its variables say, and whether that is all there is to know of it.
fn with_defaults(text: &str) -> (String, bool) {
    if !text.contains("${") {
        return (text.to_owned(), true);
    }
    let done = crate::substitute::substitute(text, &|_| None);
    done.map_or_else(|_| (text.to_owned(), true), |done| (done.text.to_string(), done.undefined.is_empty()))
}

/// `ssh://git@host/owner/name.git` and `https://host/owner/name` are one repository.
fn normal_url(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split_once('@').map_or(rest, |(_, rest)| rest);
    rest.trim_end_matches('/').trim_end_matches(".git").replace(':', "/").to_lowercase()
}
