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
    commands: Vec<Command>,
}

/// A line of a script that applies something.
#[derive(Debug)]
struct Command {
    /// The directory of the script.
    home: String,
    line: String,
    /// The same script starts Flux.
    starts_flux: bool,
}

impl Command {
    /// Whether it applies a file: it names it with its directory, or its script lies beside it.
    fn applies(&self, file: &str) -> bool {
        let (home, name) = file.rsplit_once('/').unwrap_or(("", file));
        let near = if self.home == home { "" } else { home.rsplit('/').next().unwrap_or(home) };
        let rest = self.line.split(name).collect::<Vec<_>>();
        rest.len() > 1 && rest[..rest.len() - 1].iter().any(|before| before.ends_with(&format!("{near}/")))
    }
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
    /// What of the Kustomizations lies in files that scripts apply by themselves, and what the templates hold that they fill in.
    pub(super) fn of(repository: &Repository, written: &[Written<'_>]) -> Self {
        let is_script = |(path, text): &(&str, &str)| {
            let is_other = is_document(path) || is_for_tests(path::parent(path)) || path.starts_with('.');
            !is_other && text.contains("kubectl")
        };
        let scripts: Vec<(&str, &str)> = texts::all(repository).filter(is_script).collect();
        let (mut by_object, commands) = (templates(repository, &scripts), commands(&scripts));
        for it in written.iter().filter(|it| commands.iter().any(|command| command.applies(it.file))) {
            let kustomization = Kustomization::read(it.node, "flux-system");
            let object = kustomization.object.clone();
            let one = One { kustomization, file: Some(it.file.to_owned()), fits: Vec::new() };
            by_object.entry(object).or_insert(one);
        }
        Self { by_object, commands }
    }

    /// Whether a command applies a file, of a script that starts Flux.
    pub(super) fn applies_first(&self, file: &str) -> bool {
        self.commands.iter().filter(|command| command.starts_flux).any(|command| command.applies(file))
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

fn commands(scripts: &[(&str, &str)]) -> Vec<Command> {
    let is_one = |line: &&str| line.contains("kubectl") && line.contains("apply") && !line.contains("dry-run");
    let mut found = Vec::new();
    for (path, text) in scripts {
        // Of a file of tasks, each may be run by itself.
        let is_one_run = matches!(path.rsplit_once('.'), Some((_, "sh" | "bash")));
        let starts_flux = is_one_run && ["flux install", "flux bootstrap"].iter().any(|start| text.contains(start));
        let command = |line: &str| Command { home: path::parent(path).to_owned(), line: line.to_owned(), starts_flux };
        found.extend(text.lines().filter(is_one).map(command));
    }
    found
}

/// The Kustomizations in templates that a script names.
fn templates(repository: &Repository, scripts: &[(&str, &str)]) -> BTreeMap<ObjectRef, One> {
    let is_template = |path: &&str| TEMPLATES.iter().any(|ending| path.ends_with(ending)) && !is_for_tests(path);
    let files = repository.paths().filter(is_template);
    let mut found = BTreeMap::new();
    for file in files {
        let name = file.rsplit('/').next().unwrap_or(file);
        let Some(id) = repository.id(file).filter(|_| scripts.iter().any(|(_, text)| text.contains(name))) else {
            continue;
        };
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
