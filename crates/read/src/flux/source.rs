//! Which directory of this repository a Kustomization's source and path mean, if any.

use std::collections::{BTreeMap, BTreeSet};

use kustomize::{Files, PathKind};
use model::ObjectRef;
use yaml::Node;

use crate::artifact;
use crate::flux::entry::{Entry, Written};
use crate::flux::kustomization::{Kustomization, SourceRef};
use crate::flux::{SOURCE_EXTENSIONS_GROUP, SOURCE_GROUP, sync};
use crate::object::Object;
use crate::path;
use crate::repository::Repository;

/// Artifacts that hold Flux, and nothing else.
const FLUX_ITSELF: [&str; 2] = ["fluxcd/flux-manifests", "controlplaneio-fluxcd/flux-operator-manifests"];

/// Where a Kustomization's objects are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Here(String),
    /// In another repository or artifact, or not to be told: what it is, and why it was not looked at.
    Elsewhere {
        what: String,
        why: &'static str,
    },
    /// It should be here, and is not.
    Missing(String),
}

/// The sources that a repository's files define, by identity, whoever applies them.
#[derive(Debug)]
pub(crate) struct Sources<'a> {
    repository: &'a Repository,
    objects: BTreeMap<ObjectRef, &'a Node>,
    /// Some objects get their namespace only when built: by kind and name alone.
    by_name: BTreeMap<(String, String), &'a Node>,
    /// Several clusters of a repository may each make an artifact of the same name.
    artifacts: BTreeMap<String, Vec<artifact::Artifact>>,
    /// The addresses of the sources that a FluxInstance makes, by kind and name if it gives one.
    synced: BTreeMap<(String, String), &'a str>,
    /// The sources of which at least one path is here.
    here: BTreeSet<ObjectRef>,
    /// The directories that artifacts were made of whose paths do not begin at the repository's root.
    bases: BTreeMap<ObjectRef, String>,
}

impl<'a> Sources<'a> {
    pub(crate) fn new(repository: &'a Repository) -> Self {
        let mut sources = Self {
            repository,
            objects: BTreeMap::new(),
            by_name: BTreeMap::new(),
            artifacts: BTreeMap::new(),
            synced: BTreeMap::new(),
            here: BTreeSet::new(),
            bases: BTreeMap::new(),
        };
        for (_, _, documents) in repository.yaml_files() {
            for node in documents.iter().filter_map(|document| document.root.as_ref()) {
                sources.add(node);
            }
        }
        sources
    }

    fn add(&mut self, node: &'a Node) {
        let object = Object::new(node);
        if object.group() == SOURCE_GROUP {
            insert_whole(&mut self.objects, object.reference(""), node);
            insert_whole(&mut self.by_name, (object.kind().to_owned(), object.name().to_owned()), node);
        } else if object.is(SOURCE_EXTENSIONS_GROUP, "ArtifactGenerator") {
            for artifact in artifact::artifacts(node) {
                self.artifacts.entry(artifact.name.to_string()).or_default().push(artifact);
            }
        } else if let Some(sync) = sync::sync_of(node)
            && let Some(url) = sync.text_at(&["url"])
        {
            let name = sync::name_of(sync).unwrap_or_default();
            self.synced.entry((sync::kind_of(sync).to_owned(), name.to_owned())).or_insert(url);
        }
    }

    /// Finds out from the paths that Kustomizations name which sources are made of this repository.
    pub(super) fn locate(&mut self, written: &[Written<'_>]) {
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
    }

    /// The one directory below which all of these exist.
    fn base_of(&self, paths: &BTreeSet<&str>) -> Option<String> {
        let bases = paths.iter().map(|path| self.repository.bases_of(path));
        let common = bases.reduce(|all, bases| all.intersection(&bases).copied().collect())?;
        common.first().filter(|_| common.len() == 1).map(|base| (*base).to_owned())
    }

    /// Whether a source is another repository than the one that `own` means.
    pub(crate) fn is_another(&self, source: &ObjectRef, own: &ObjectRef) -> bool {
        let urls = || Some((self.url(source)?, self.url(own)?));
        source.kind == "GitRepository" && urls().is_some_and(|(url, own)| normal_url(url) != normal_url(own))
    }

    /// The object a reference means, as written.
    pub(crate) fn find(&self, reference: &ObjectRef) -> Option<&'a Node> {
        let by_name = || self.by_name.get(&(reference.kind.to_string(), reference.name.to_string()));
        self.objects.get(reference).or_else(by_name).copied()
    }

    /// Where a Kustomization of the cluster that begins at `entry` has its objects.
    pub(crate) fn place(&self, kustomization: &Kustomization, entry: &Entry) -> Place {
        let own = entry.root.source.as_ref();
        let url = entry.url.as_deref();
        let written = kustomization.path.as_str();
        let written = if written.contains("${") { defaults_only(written) } else { written.to_owned() };
        let directory = self.repository.place(&written);
        let Some(source) = &kustomization.source else { return self.here(directory, &written) };
        let is_known = source.object.kind == "ExternalArtifact" || self.url(&source.object).is_some();
        // Nobody says what the source is, and nothing of it is here.
        if own.is_none() && !is_known && !self.here.contains(&source.object) && !self.exists(&directory) {
            let why = "is in no directory of this repository, nor is anything of its source";
            return Place::Elsewhere { what: source.object.to_string(), why };
        }
        // The root that Flux makes is given as a directory of the repository.
        let is_root = kustomization.object == entry.root.object;
        if own.is_some_and(|own| own.object == source.object) {
            let from_base = path::join(&entry.base, &path::within(&written)).unwrap_or_default();
            let is_shifted = !entry.base.is_empty() && !is_root;
            return self.here(if is_shifted { from_base } else { directory }, &written);
        }
        match source.object.kind.as_str() {
            "ExternalArtifact" => self.in_artifact(source, &path::join("", &written).unwrap_or_default(), &entry.base),
            "GitRepository" => self.in_git(source, directory, &written, url.or_else(|| self.url(&own?.object))),
            "OCIRepository" if !directory.is_empty() && self.exists(&directory) => Place::Here(directory),
            "OCIRepository" if self.bases.contains_key(&source.object) => {
                let base = self.bases.get(&source.object).map(String::as_str).unwrap_or_default();
                self.here(path::join(base, &path::within(&written)).unwrap_or_default(), &written)
            }
            kind => Place::Elsewhere {
                what: format!("{kind} {}", source.object.path()),
                why: match self.url(&source.object) {
                    Some(url) if FLUX_ITSELF.iter().any(|end| url.ends_with(end)) => model::FLUX_ITSELF,
                    _ => "is in another repository or artifact",
                },
            },
        }
    }

    fn url(&self, source: &ObjectRef) -> Option<&'a str> {
        // Without a name it is called like its namespace.
        let name = if source.name == source.namespace { "" } else { source.name.as_str() };
        let named = |name: &str| self.synced.get(&(source.kind.to_string(), name.to_owned()));
        let synced = || named(&source.name).or_else(|| named(name)).copied();
        self.find(source).and_then(|node| node.text_at(&["spec", "url"])).or_else(synced)
    }

    fn in_git(&self, source: &SourceRef, directory: String, written: &str, own: Option<&str>) -> Place {
        let other = self.url(&source.object);
        let is_other = match (own, other) {
            (Some(own), Some(other)) => normal_url(own) != normal_url(other),
            (None, Some(_)) => !self.exists(&directory) || directory.is_empty(),
            _ => false,
        };
        if is_other {
            let what = format!("GitRepository {} ({})", source.object.path(), other.unwrap_or_default());
            return Place::Elsewhere { what, why: "is in another repository or artifact" };
        }
        self.here(directory, written)
    }

    fn in_artifact(&self, source: &SourceRef, directory: &str, base: &str) -> Place {
        let artifacts = self.artifacts.get(source.object.name.as_str()).map(Vec::as_slice).unwrap_or_default();
        let candidates = artifacts.iter().flat_map(|artifact| artifact::resolve(artifact, directory));
        let mut places = candidates.map(|candidate| match base {
            "" => self.repository.place(&candidate),
            base => path::join(base, &candidate).unwrap_or_default(),
        });
        match places.find(|place| self.exists(place)) {
            Some(found) => Place::Here(found),
            None => Place::Elsewhere {
                what: format!("ExternalArtifact {}", source.object.path()),
                why: if artifacts.is_empty() {
                    "is made by no ArtifactGenerator here"
                } else {
                    "is made of sources that are not here"
                },
            },
        }
    }

    fn exists(&self, directory: &str) -> bool {
        self.repository.kind(directory) == PathKind::Directory
    }

    fn here(&self, directory: String, written: &str) -> Place {
        if self.exists(&directory) {
            Place::Here(directory)
        } else {
            Place::Missing(format!("path `{written}` does not exist"))
        }
    }
}

/// A patch of a source looks like one, and does not say where it is from.
fn insert_whole<'a, K: Ord>(sources: &mut BTreeMap<K, &'a Node>, key: K, node: &'a Node) {
    if node.text_at(&["spec", "url"]).is_some() || !sources.contains_key(&key) {
        sources.insert(key, node);
    }
}

/// A path whose variables are not known: what their defaults say.
fn defaults_only(text: &str) -> String {
    crate::substitute::substitute(text, &|_| None).map_or_else(|_| text.to_owned(), |done| done.text.to_string())
}

/// `ssh://git@host/owner/name.git` and `https://host/owner/name` are one repository.
fn normal_url(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split_once('@').map_or(rest, |(_, rest)| rest);
    rest.trim_end_matches('/').trim_end_matches(".git").replace(':', "/").to_lowercase()
}
