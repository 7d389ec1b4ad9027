//! Files into components, offers, needs and ties. One room per tool; objects are known by apiVersion and kind, never by
//! the name of their file.
//!
//! This crate knows file formats and what they mean. It does not know the graph or the rules.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod applied;
pub mod artifact;
mod boot;
pub mod bootstrap;
pub mod charts;
mod content;
mod dead;
mod flux;
mod gates;
pub mod helmfile;
pub mod inventory;
pub mod kinds;
mod ledger;
mod live;
pub mod machines;
pub mod made;
mod naming;
mod object;
mod overlooked;
pub mod platform;
mod remote_crds;
pub mod rendered;
mod repository;
pub mod resource_set;
pub mod scripts;
pub mod substitute;
mod talos;
mod templated_yaml;
pub mod terraform;
pub mod texts;
mod unapplied;
pub mod understood;
pub mod versions;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use ::repository::{OpenError, Unsaved, parallel, path};
use catalogue::Catalogue;
use kustomize::Files as _;
use model::{BlindSpot, Cluster, Facts, Unseen, WhyUnseen};
use settings::{Additions, SETTINGS_FILE, Settings, SettingsError};
use source::{Span, clean};
use yaml::{Budget, Cost};

pub use applied::{Applied, applied};
use bootstrap::{Bootstrap, ClusterDirectories};
pub use content::is_sealing_key;
pub use flux::{FluxObjects, flux_objects};
use live::Live;
pub use repository::{Repository, may_hold_objects};

/// A repository and the clusters it describes, sorted by the directory they start from.
#[derive(Debug)]
pub struct Reading {
    pub repository: Repository,
    pub clusters: Vec<Cluster>,
    /// What `coldstart.yaml` says.
    pub settings: Settings,
}

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("the entry point `{entry}` is not a directory of this repository", entry = clean(.entry))]
    EntryPoint { entry: String },
}

/// Reads everything below `root`, and runs nothing.
pub fn read(root: &Path) -> Result<Reading, ReadError> {
    read_with(root, None)
}

/// Reads everything below `root`; charts that are on this machine are rendered, if there is something that does it.
pub fn read_with(root: &Path, renderer: Option<&dyn charts::Renderer>) -> Result<Reading, ReadError> {
    read_then(root, renderer, |_| ()).map(|(reading, _)| reading)
}

/// As [`read_with`], and does something for every cluster as soon as it is read, while others still are. What comes of it is
/// in the order of the clusters. What nothing reaches is not known yet by then.
pub fn read_then<T: Send + Sync>(
    root: &Path,
    renderer: Option<&dyn charts::Renderer>,
    then: impl Fn(&Cluster) -> T + Sync,
) -> Result<(Reading, Vec<T>), ReadError> {
    read_from(root, None, renderer, then)
}

/// As [`read_then`], where the one cluster begins with this directory if one is given: it wins over `coldstart.yaml`.
pub fn read_from<T: Send + Sync>(
    root: &Path,
    entry: Option<&str>,
    renderer: Option<&dyn charts::Renderer>,
    then: impl Fn(&Cluster) -> T + Sync,
) -> Result<(Reading, Vec<T>), ReadError> {
    read_unsaved(root, Unsaved::default(), entry, renderer, then)
}

/// As [`read_from`], where these texts stand for those on the disk: what the repository would be after an edit.
pub fn read_unsaved<T: Send + Sync>(
    root: &Path,
    unsaved: Unsaved,
    entry: Option<&str>,
    renderer: Option<&dyn charts::Renderer>,
    then: impl Fn(&Cluster) -> T + Sync,
) -> Result<(Reading, Vec<T>), ReadError> {
    // The catalogue takes a while to be unpacked, which the search for files leaves a core free for.
    let (repository, catalogue) = parallel::both(|| Repository::open_unsaved(root, unsaved), Catalogue::embedded);
    let read = read_opened(repository?, entry, catalogue, renderer, &then)?;
    match read.0.repository.with_packages() {
        Some(repository) => read_opened(repository?, entry, catalogue, renderer, &then),
        None => Ok(read),
    }
}

fn read_opened<T: Send + Sync>(
    mut repository: Repository,
    entry: Option<&str>,
    catalogue: &'static Catalogue,
    renderer: Option<&dyn charts::Renderer>,
    then: impl Fn(&Cluster) -> T + Sync,
) -> Result<(Reading, Vec<T>), ReadError> {
    repository.heed_ignore_of_sources(flux::ignored_by_sources(&repository));
    let (settings, additions) = settings_and_additions(&repository)?;
    let said = entry.map_or_else(|| settings.entry_points.clone(), |entry| vec![entry.to_owned()]);
    repository.begin_at(entry_points(&repository, said)?);
    let catalogue = extended(catalogue, additions);
    let (clusters, results) = clusters(&repository, &catalogue, renderer, then);
    Ok((Reading { repository, clusters, settings }, results))
}

/// The directories that the settings say clusters begin with, as paths of the repository.
fn entry_points(repository: &Repository, said: Vec<String>) -> Result<Vec<String>, ReadError> {
    let directory = |entry: String| {
        let at = path::within(&entry);
        let is_one = repository.kind(&at) == kustomize::PathKind::Directory;
        if is_one { Ok(at) } else { Err(ReadError::EntryPoint { entry }) }
    };
    said.into_iter().map(directory).collect()
}

/// What `coldstart.yaml` says, and nothing else.
pub fn settings(repository: &Repository) -> Result<Settings, SettingsError> {
    settings_and_additions(repository).map(|(settings, _)| settings)
}

/// What `coldstart.yaml` says, and what it adds to the catalogue.
fn settings_and_additions(repository: &Repository) -> Result<(Settings, Additions), SettingsError> {
    if let Some((file, documents)) = repository.documents(SETTINGS_FILE)
        && let Some(source) = repository.source(file)
    {
        return settings::read(source, documents);
    }
    let unread = repository.obstacle(SETTINGS_FILE).map(SettingsError::Unread);
    unread.map_or_else(|| Ok((Settings::default(), Additions::default())), Err)
}

/// The catalogue with what `coldstart.yaml` adds to it.
fn extended(catalogue: &'static Catalogue, additions: Additions) -> Cow<'static, Catalogue> {
    if additions.is_empty() {
        return Cow::Borrowed(catalogue);
    }
    Cow::Owned(catalogue.with_additions(additions.components).with_providers(additions.providers))
}

fn clusters<T: Send + Sync>(
    repository: &Repository,
    catalogue: &Catalogue,
    renderer: Option<&dyn charts::Renderer>,
    then: impl Fn(&Cluster) -> T + Sync,
) -> (Vec<Cluster>, Vec<T>) {
    let (mut clusters, declared, bootstrap) = begin(repository, catalogue);
    let mut live = live(&clusters, &bootstrap);
    let names = |assembled: &[flux::Assembled]| assembled.iter().map(|one| one.cluster.name.clone()).collect();
    let declared_names: Vec<String> = names(&declared);
    let extract = |mut assembled: Vec<flux::Assembled>| {
        // Whoever is declared does not know of those that are not: they may be parts of it.
        let own: Vec<String> = names(&assembled);
        let all: BTreeSet<&str> = own.iter().chain(&declared_names).map(String::as_str).collect();
        let directories = ClusterDirectories::of(all.into_iter());
        let count = assembled.len();
        // The largest first: whoever gets the last one keeps the others waiting.
        assembled.sort_by_key(|one| std::cmp::Reverse(one.objects.len()));
        let first = |one: flux::Assembled| {
            let bootstrap = bootstrap.of_cluster(repository, catalogue, &directories, &one.cluster.name);
            content::extract(repository, catalogue, one, &bootstrap, renderer, Budget::of_part(Cost::REPORT_MAX, count))
        };
        parallel::map_twice(assembled, first, &then)
    };
    // What somebody must start by hand is known only now, and nobody else waits for it.
    let (mut all, undeclared) = parallel::both(|| extract(declared), || extract(clusters.undeclared(&live)));
    live.extend(clusters.files());
    all.extend(undeclared);
    all.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    if all.is_empty() {
        all.extend(without_gitops(&bootstrap).into_iter().map(|cluster| {
            let result = then(&cluster);
            (cluster, result)
        }));
    }
    let (mut all, results): (Vec<Cluster>, Vec<T>) = all.into_iter().unzip();
    let live = Live::new(live, &all);
    dead::find(repository, &mut all, &live);
    unapplied::find(repository, &mut all, &live);
    if repository.is_part() {
        let (what, why) = (Unseen::RestOfRepository, WhyUnseen::AboveDirectory);
        let above = BlindSpot { what, why, at: Span::GENERATED, component: None };
        for cluster in &mut all {
            cluster.blind.push(above.clone());
        }
    }
    (all, results)
}

/// A cluster of which only the boot is read: nothing says where Flux starts, and there is something to say of what comes before.
fn without_gitops(bootstrap: &Bootstrap) -> Option<Cluster> {
    let facts = Facts { boot: bootstrap.boot().clone(), ..Facts::default() };
    (!facts.boot.is_empty()).then(|| Cluster { name: ".".to_owned(), facts, ..Cluster::default() })
}

/// The bootstrap, every cluster put together, and how many of them are declared: they come first.
fn assembled(repository: &Repository, catalogue: &Catalogue) -> (Bootstrap, Vec<flux::Assembled>, usize) {
    let (mut clusters, mut assembled, bootstrap) = begin(repository, catalogue);
    let declared = assembled.len();
    assembled.extend(clusters.undeclared(&live(&clusters, &bootstrap)));
    (bootstrap, assembled, declared)
}

/// The clusters that are declared, and the bootstrap: the two have nothing to do with each other, and each has long
/// stretches for one core alone.
fn begin<'a>(
    repository: &'a Repository,
    catalogue: &Catalogue,
) -> (flux::Clusters<'a>, Vec<flux::Assembled>, Bootstrap) {
    let ((clusters, declared), bootstrap) =
        parallel::both(|| flux::Clusters::declared(repository), || Bootstrap::read(repository, catalogue));
    (clusters, declared, bootstrap)
}

/// The files that clusters or the bootstrap reach.
fn live(clusters: &flux::Clusters<'_>, bootstrap: &Bootstrap) -> BTreeSet<String> {
    clusters.files().chain(bootstrap.files().iter().cloned()).collect()
}
