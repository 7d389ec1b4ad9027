//! Helmfiles that are no part of a bootstrap: they could not be run any more, and another one installs the same releases, or no script,
//! recipe or document speaks of helmfile at all; or each installs an application by itself.
//!
//! Does not know who runs what: only that helmfile refuses a release whose values file is not there.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use kustomize::{Files, PathKind};
use model::{BlindSpot, Unseen, WhyUnseen};
use source::Span;
use yaml::EcoString;

use super::{Helmfile, last_part};
use crate::naming::{holds_commands, is_document, is_in_bootstrap_directory, says_bootstrap};
use crate::repository::Repository;
use crate::{templated_yaml, texts};
use ::repository::path;

/// Takes them out, and says so.
pub(crate) fn remove(repository: &Repository, helmfiles: &mut Vec<Helmfile>, blind: &mut Vec<BlindSpot>) {
    let leftovers = Leftovers::among(repository, helmfiles);
    let whys: Vec<Option<WhyUnseen>> = helmfiles.iter().map(|helmfile| leftovers.why(helmfile)).collect();
    let mut whys = whys.into_iter();
    helmfiles.retain(|helmfile| {
        let Some(why) = whys.next().flatten() else { return true };
        let at = helmfile.releases.first().map_or(Span::GENERATED, |release| release.span);
        blind.push(BlindSpot { what: Unseen::Named(helmfile.path.clone()), why, at, component: None });
        false
    });
}

struct Leftovers<'a> {
    repository: &'a Repository,
    /// What those install that can be run.
    installed: BTreeSet<(EcoString, EcoString)>,
    directories: BTreeSet<String>,
    is_unspoken: OnceCell<bool>,
    /// See [`Leftovers::is_run`].
    named: OnceCell<BTreeSet<&'a str>>,
}

impl<'a> Leftovers<'a> {
    fn among(repository: &'a Repository, helmfiles: &[Helmfile]) -> Self {
        let whole = helmfiles.iter().filter(|helmfile| !lacks_values(repository, helmfile));
        let directories = helmfiles.iter().map(|helmfile| path::parent(&helmfile.path).to_owned()).collect();
        let installed = whole.flat_map(installs).collect();
        Self { repository, installed, directories, is_unspoken: OnceCell::new(), named: OnceCell::new() }
    }

    fn why(&self, helmfile: &Helmfile) -> Option<WhyUnseen> {
        let is_unspoken = || *self.is_unspoken.get_or_init(|| is_not_spoken_of(self.repository));
        let is_forgotten = || !is_in_bootstrap_directory(&helmfile.path) && is_unspoken();
        let is_other = || installs(helmfile).any(|release| self.installed.contains(&release)) || is_forgotten();
        if lacks_values(self.repository, helmfile) && is_other() {
            return Some(WhyUnseen::LeftoverHelmfile);
        }
        self.is_by_itself(helmfile).then_some(WhyUnseen::HelmfileByItself)
    }

    /// Whether a helmfile lies in a directory that is named after what it installs, and nothing runs it: no script or recipe names
    /// the directory, and no helmfile lies above it.
    fn is_by_itself(&self, helmfile: &Helmfile) -> bool {
        let directory = path::parent(&helmfile.path);
        let name = directory.rsplit('/').next().unwrap_or_default();
        let is_name = |text: &str| !name.is_empty() && text == name;
        let is_named = helmfile
            .releases
            .iter()
            .any(|it| is_name(&it.name) || it.chart.as_deref().and_then(last_part).is_some_and(is_name));
        let is_below_one = || path::ancestors(directory).skip(1).any(|outer| self.directories.contains(outer));
        is_named && !says_bootstrap(&helmfile.path) && !is_below_one() && !self.is_run(name)
    }

    /// Whether a script or recipe that runs helmfile names a directory.
    fn is_run(&self, directory: &str) -> bool {
        let read = || {
            let scripts = texts::all(self.repository).filter(|(path, _)| !is_document(path)).map(|(_, text)| text);
            let is_of_name = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.');
            let speaking = scripts.filter(|text| text.contains("helmfile"));
            speaking.flat_map(|text| text.split(move |it: char| !is_of_name(it))).collect()
        };
        self.named.get_or_init(read).contains(directory)
    }
}

/// Whether there are scripts, recipes or documents, and none of them names the program.
fn is_not_spoken_of(repository: &Repository) -> bool {
    let mut texts = texts::all(repository).filter(|(path, _)| holds_commands(path)).peekable();
    texts.peek().is_some() && !texts.any(|(_, text)| text.contains("helmfile"))
}

fn installs(helmfile: &Helmfile) -> impl Iterator<Item = (EcoString, EcoString)> {
    let installed = helmfile.releases.iter().filter(|release| !release.only_crds);
    installed.map(|release| (release.namespace.clone(), release.name.clone()))
}

fn lacks_values(repository: &Repository, helmfile: &Helmfile) -> bool {
    let directory = path::parent(&helmfile.path);
    let is_there = |file: &String| repository.kind(file) != PathKind::Missing;
    let is_plain = |file: &String| !templated_yaml::is_unknown(file) && !file.contains("://");
    let mut files = helmfile.releases.iter().flat_map(|release| &release.values_files);
    files.any(|file| is_plain(file) && !is_there(file) && path::join(directory, file).is_some())
}
