//! Which directory of this repository a Kustomization's source and path mean, if any.

use std::collections::BTreeMap;

use kustomize::{Files, PathKind};
use model::ObjectRef;
use yaml::Node;

use crate::artifact;
use crate::flux::entry::Entry;
use crate::flux::kustomization::{Kustomization, SourceRef};
use crate::flux::{SOURCE_EXTENSIONS_GROUP, SOURCE_GROUP};
use crate::object::Object;
use crate::path;
use crate::repository::Repository;

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
}

impl<'a> Sources<'a> {
    pub(crate) fn new(repository: &'a Repository) -> Self {
        let mut sources =
            Self { repository, objects: BTreeMap::new(), by_name: BTreeMap::new(), artifacts: BTreeMap::new() };
        for (_, _, documents) in repository.yaml_files() {
            for node in documents.iter().filter_map(|document| document.root.as_ref()) {
                let object = Object::new(node);
                if object.group() == SOURCE_GROUP {
                    sources.objects.insert(object.reference(""), node);
                    sources.by_name.insert((object.kind().to_owned(), object.name().to_owned()), node);
                } else if object.is(SOURCE_EXTENSIONS_GROUP, "ArtifactGenerator") {
                    for artifact in artifact::artifacts(node) {
                        sources.artifacts.entry(artifact.name.to_string()).or_default().push(artifact);
                    }
                }
            }
        }
        sources
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
            kind => Place::Elsewhere {
                what: format!("{kind} {}", source.object.path()),
                why: "is in another repository or artifact",
            },
        }
    }

    fn url(&self, source: &ObjectRef) -> Option<&'a str> {
        self.find(source)?.text_at(&["spec", "url"])
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
