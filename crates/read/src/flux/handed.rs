//! Kustomizations that scripts hand to Flux one by one, beside the directory that a cluster begins with: files that they apply, and
//! templates that they fill in and apply.
//!
//! Does not know when a script runs, nor for which cluster: a cluster takes in what it waits for and nothing else makes.

use std::collections::{BTreeMap, BTreeSet};

use model::ObjectRef;

use crate::flux::entry::Written;
use crate::flux::kustomization::Kustomization;
use crate::flux::{KUSTOMIZE_GROUP, sync};
use crate::naming::{is_document, is_for_tests};
use crate::object::Object;
use crate::repository::Repository;
use crate::{templated_yaml, texts};
use ::repository::path;

/// How templates of manifests end.
const TEMPLATES: [&str; 6] = [".templ", ".tmpl", ".template", ".tpl", ".j2", ".envsubst"];

/// All that scripts hand to Flux.
#[derive(Debug, Default)]
pub(super) struct Handed {
    by_object: BTreeMap<ObjectRef, One>,
}

#[derive(Debug)]
struct One {
    kustomization: Kustomization,
    /// The file that a script applies as it is.
    file: Option<String>,
    /// The directories that its path may mean, where that is a template.
    fits: Vec<String>,
}

impl Handed {
    /// What of the Kustomizations lies in files that scripts apply, and what the templates hold that they fill in.
    pub(super) fn of(repository: &Repository, written: &[Written<'_>], is_applied: impl Fn(&str) -> bool) -> Self {
        let mut by_object = templates(repository);
        for it in written.iter().filter(|it| is_applied(it.file)) {
            let kustomization = Kustomization::read(it.node, "flux-system");
            let object = kustomization.object.clone();
            by_object.insert(object, One { kustomization, file: Some(it.file.to_owned()), fits: Vec::new() });
        }
        Self { by_object }
    }

    /// A Kustomization as the cluster that begins with a directory gets it. A template means what is inside of that directory.
    pub(super) fn for_cluster(&self, object: &ObjectRef, directory: &str) -> Option<Kustomization> {
        let one = self.by_object.get(object)?;
        let mut kustomization = one.kustomization.clone();
        let mut own = one.fits.iter().filter(|fits| path::is_below(fits, directory));
        if let (Some(fits), None) = (own.next(), own.next()) {
            kustomization.path = fits.into();
        }
        Some(kustomization)
    }

    /// The file of one that scripts apply as it is.
    pub(super) fn file(&self, object: &ObjectRef) -> Option<&str> {
        self.by_object.get(object)?.file.as_deref()
    }
}

/// The Kustomizations in templates that a script with `kubectl` in it names.
fn templates(repository: &Repository) -> BTreeMap<ObjectRef, One> {
    let is_template = |path: &&str| TEMPLATES.iter().any(|ending| path.ends_with(ending)) && !is_for_tests(path);
    let files: Vec<&str> = repository.paths().filter(is_template).collect();
    let mut found = BTreeMap::new();
    if files.is_empty() {
        return found;
    }
    let is_script = |(path, text): &(&str, &str)| !is_document(path) && text.contains("kubectl");
    let scripts: Vec<&str> = texts::all(repository).filter(is_script).map(|(_, text)| text).collect();
    for file in files {
        let name = file.rsplit('/').next().unwrap_or(file);
        let Some(id) = repository.id(file).filter(|_| scripts.iter().any(|text| text.contains(name))) else { continue };
        let Some(text) = repository.source(id).map(source::Source::text) else { continue };
        for node in templated_yaml::parse(id, text) {
            let object = Object::new(&node);
            if !object.is(KUSTOMIZE_GROUP, "Kustomization") || templated_yaml::is_unknown(object.name()) {
                continue;
            }
            let mut kustomization = Kustomization::read(&node, "flux-system");
            let fits = filled_in(repository, text, &mut kustomization);
            found.insert(kustomization.object.clone(), One { kustomization, file: None, fits });
        }
    }
    found
}

/// The directories that a path may mean which is a template. Without them, it is a path with a variable that nothing sets.
fn filled_in(repository: &Repository, text: &str, kustomization: &mut Kustomization) -> Vec<String> {
    if !templated_yaml::is_unknown(&kustomization.path) {
        return Vec::new();
    }
    let at = kustomization.path_at;
    let written = text.get(at.start as usize..at.end as usize).unwrap_or_default();
    kustomization.path = "${PATH}".into();
    let directories: BTreeSet<&str> = repository.paths().flat_map(|file| path::ancestors(path::parent(file))).collect();
    directories.into_iter().filter(|directory| sync::fits_path(directory, written)).map(str::to_owned).collect()
}
