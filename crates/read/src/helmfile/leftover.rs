//! Helmfiles that lie around: they could not be run any more, and another one installs the same releases, or no script, recipe or
//! document speaks of helmfile at all.
//!
//! Does not know who runs what: only that helmfile refuses a release whose values file is not there.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use kustomize::{Files, PathKind};
use model::{BlindSpot, Unseen, WhyUnseen};
use source::Span;
use yaml::EcoString;

use super::Helmfile;
use crate::naming::is_in_bootstrap_directory;
use crate::repository::Repository;
use crate::{templated_yaml, texts};
use ::repository::path;

/// Takes them out, and says so.
pub(crate) fn remove(repository: &Repository, helmfiles: &mut Vec<Helmfile>, blind: &mut Vec<BlindSpot>) {
    let whole = |helmfile: &&Helmfile| !lacks_values(repository, helmfile);
    let installed: BTreeSet<(EcoString, EcoString)> = helmfiles.iter().filter(whole).flat_map(installs).collect();
    let is_unspoken = OnceCell::new();
    helmfiles.retain(|helmfile| {
        let is_unspoken = || *is_unspoken.get_or_init(|| is_not_spoken_of(repository));
        let is_forgotten = || !is_in_bootstrap_directory(&helmfile.path) && is_unspoken();
        let is_other = || installs(helmfile).any(|release| installed.contains(&release)) || is_forgotten();
        let is_leftover = lacks_values(repository, helmfile) && is_other();
        if is_leftover {
            blind.push(BlindSpot {
                what: Unseen::Named(helmfile.path.clone()),
                why: WhyUnseen::LeftoverHelmfile,
                at: helmfile.releases.first().map_or(Span::GENERATED, |release| release.span),
                component: None,
            });
        }
        !is_leftover
    });
}

/// Whether there are scripts, recipes or documents, and none of them names the program.
fn is_not_spoken_of(repository: &Repository) -> bool {
    let mut texts = texts::all(repository).peekable();
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
