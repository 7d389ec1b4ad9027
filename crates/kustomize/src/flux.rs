//! What kustomize-controller does before it builds: it makes a kustomization where a directory has none, and adds what
//! the Flux Kustomization says.
//!
//! Not done here: the controller asks for origin annotations if a kustomization names no resources, only to keep it from
//! counting as empty. They would say nothing about the repository.

use source::Span;
use yaml::{Map, Node, Value};

use crate::builder::{Builder, DIRECTORIES_DEEP_MAX};
use crate::error::BuildError;
use crate::kustomization::{Kustomization, says_nothing};
use crate::{LimitError, Overlay, PathKind, path};

/// Files that never get into an artifact, of those that look like manifests.
const EXCLUDED_FILES: [&str; 9] = [
    ".sops.yaml",
    ".flux.yaml",
    ".goreleaser.yml",
    ".travis.yml",
    ".gitlab-ci.yml",
    "appveyor.yml",
    ".drone.yml",
    "cloudbuild.yaml",
    "codeship-services.yml",
];
const EXCLUDED_DIRECTORIES: [&str; 3] = [".git", ".github", ".circleci"];
/// Files looked at for one generated kustomization.
pub(crate) const SCANNED_MAX: usize = 100_000;

impl Builder<'_> {
    /// The kustomization that the controller generates for a directory without one.
    pub(crate) fn generated_kustomization(&mut self, directory: &str) -> Kustomization {
        let mut kustomization = Kustomization::empty();
        let mut found = Vec::new();
        let mut scanned = 0;
        self.scan(directory, "", 0, &mut scanned, &mut found);
        kustomization.resources = found;
        kustomization
    }

    /// The controller reads the file at the root of a build and writes it again: what kustomize does not know is gone then.
    pub(crate) fn forgive_unknown_fields(&mut self) {
        self.failures.retain(|failure| !matches!(failure.error, BuildError::UnknownField { .. }));
    }

    /// Whether a directory has one kustomization file, and nothing stands in it but what it is.
    pub(crate) fn is_empty_kustomization(&mut self, directory: &str) -> bool {
        let found = self.kustomization_files(directory);
        let [path] = found.as_slice() else { return false };
        let Some((_, documents)) = self.documents(path, Span::GENERATED) else { return false };
        documents.first().is_none_or(|document| match &document.root {
            Some(root) => says_nothing(root),
            None => document.problems.is_empty(),
        })
    }

    /// Walks below `directory` in the order of names; directories with a kustomization of their own are one resource.
    fn scan(&mut self, directory: &str, below: &str, depth: usize, scanned: &mut usize, found: &mut Vec<Node>) {
        if depth > DIRECTORIES_DEEP_MAX {
            self.fail(BuildError::DirectoriesTooDeep { path: below.to_owned() }, Span::GENERATED);
            return;
        }
        let Some(here) = path::join(directory, below) else { return };
        for name in self.files.list(&here) {
            *scanned += 1;
            if *scanned > SCANNED_MAX {
                self.exhaust(LimitError::Files { directory: directory.to_owned() }, Span::GENERATED);
                return;
            }
            let relative = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
            let Some(path) = path::join(directory, &relative) else { continue };
            match self.files.kind(&path) {
                kind if self.files.is_left_out(&path, kind) => {}
                PathKind::Directory if EXCLUDED_DIRECTORIES.contains(&name.as_str()) => {}
                PathKind::Directory if !self.kustomization_files(&path).is_empty() => {
                    found.push(Node::string(relative, Span::GENERATED));
                }
                PathKind::Directory => self.scan(directory, &relative, depth + 1, scanned, found),
                PathKind::File if is_manifest(&name) => found.push(Node::string(relative, self.start_of(&path))),
                PathKind::File | PathKind::Missing => {}
            }
        }
    }

    /// The first place of a file, for findings about a file that nobody wrote a reference to.
    fn start_of(&self, path: &str) -> Span {
        self.files.documents(path).map_or(Span::GENERATED, |(file, _)| Span::new(file, 0, 0))
    }

    /// Adds what a Flux Kustomization says to the kustomization at its path.
    pub(crate) fn overlay(&mut self, kustomization: &mut Kustomization, directory: &str, overlay: &Overlay) {
        let replace = |field: &mut Option<Node>, value: &Option<Node>| {
            if value.is_some() {
                field.clone_from(value);
            }
        };
        replace(&mut kustomization.namespace, &overlay.namespace);
        replace(&mut kustomization.name_prefix, &overlay.name_prefix);
        replace(&mut kustomization.name_suffix, &overlay.name_suffix);
        // The controller takes over `patch` and `target` and nothing else.
        kustomization.patches.extend(overlay.patches.iter().map(|patch| only(patch, &["patch", "target"])));
        for component in &overlay.components {
            let text = component.text().unwrap_or_default();
            if path::is_repository(text) || path::is_url(text) || text.starts_with('/') {
                self.fail(BuildError::ComponentOutside { path: text.to_owned() }, component.span);
                continue;
            }
            let path = path::join(directory, text);
            let exists = path.is_some_and(|path| self.files.kind(&path) != PathKind::Missing);
            if exists || !overlay.ignore_missing_components {
                kustomization.components.push(component.clone());
            }
        }
        for image in &overlay.images {
            let name = image.text_at(&["name"]);
            match kustomization.images.iter_mut().find(|known| known.text_at(&["name"]) == name) {
                Some(known) => merge_image(known, image),
                None => kustomization.images.push(only(image, &["name", "newName", "newTag", "digest"])),
            }
        }
    }
}

/// A new tag or digest replaces both old ones; a new name only the name.
fn merge_image(known: &mut Node, image: &Node) {
    let written = |key: &str| image.get(key).filter(|node| node.text().is_some_and(|text| !text.is_empty()));
    let Value::Map(map) = &mut known.value else { return };
    if let Some(name) = written("newName") {
        map.insert("newName", name.span, name.clone());
    }
    if written("newTag").is_none() && written("digest").is_none() {
        return;
    }
    for key in ["newTag", "digest"] {
        map.remove(key);
        if let Some(value) = written(key) {
            map.insert(key, value.span, value.clone());
        }
    }
}

fn only(node: &Node, keys: &[&str]) -> Node {
    let entries = node.entries().iter().filter(|entry| keys.contains(&entry.key.as_str())).cloned();
    Node::map(entries.collect::<Map>(), node.span)
}

fn is_manifest(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    matches!(extension, Some("yaml" | "yml")) && !EXCLUDED_FILES.contains(&name)
}
