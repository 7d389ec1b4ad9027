//! Files into components, offers, needs and ties. One room per tool; objects are known by apiVersion and kind, never by
//! the name of their file.
//!
//! This crate knows file formats and what they mean. It does not know the graph or the rules.

pub mod artifact;
mod bootstrap;
mod content;
mod dead;
mod flux;
pub mod helmfile;
mod object;
pub mod parallel;
mod path;
mod remote_crds;
pub mod rendered;
mod repository;
pub mod resource_set;
mod settings;
pub mod substitute;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

use catalogue::Catalogue;
use model::Cluster;

pub use repository::{FILE_BYTES_MAX, OpenError, Repository, Skipped, may_hold_objects};
pub use settings::{CheckSettings, SETTINGS_FILE, Settings, SettingsError, Spelt};

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
}

/// Reads everything below `root`.
pub fn read(root: &Path) -> Result<Reading, ReadError> {
    let repository = Repository::open(root)?;
    let (settings, additions) = settings::read(&repository)?;
    let clusters = clusters(&repository, &catalogue_of(additions));
    Ok(Reading { repository, clusters, settings })
}

/// The catalogue with what `coldstart.yaml` adds to it.
fn catalogue_of(additions: Vec<catalogue::Component>) -> Cow<'static, Catalogue> {
    let embedded = Catalogue::embedded();
    if additions.is_empty() { Cow::Borrowed(embedded) } else { Cow::Owned(embedded.with_additions(additions)) }
}

fn clusters(repository: &Repository, catalogue: &Catalogue) -> Vec<Cluster> {
    let (bootstrap, assembled, live) = assembled(repository, catalogue);
    let assembled: Vec<Mutex<flux::Assembled>> = assembled.into_iter().map(Mutex::new).collect();
    let mut clusters: Vec<Cluster> = parallel::map(&assembled, |assembled| {
        let assembled = assembled.lock().map(|mut assembled| std::mem::take(&mut *assembled)).unwrap_or_default();
        content::extract(repository, catalogue, assembled, &bootstrap)
    });
    clusters.sort_by(|a, b| a.name.cmp(&b.name));
    dead::find(repository, &mut clusters, &live);
    clusters
}

/// The bootstrap, every cluster put together, and the files that any of them reaches.
fn assembled(
    repository: &Repository,
    catalogue: &Catalogue,
) -> (bootstrap::Bootstrap, Vec<flux::Assembled>, BTreeSet<String>) {
    let sources = flux::Sources::new(repository);
    // The two have nothing to do with each other, and each has long stretches for one core alone.
    let (bootstrap, declared, mut assembled) = std::thread::scope(|scope| {
        let bootstrap = scope.spawn(|| bootstrap::Bootstrap::read(repository, catalogue));
        let declared = flux::declared(repository);
        let assembled = parallel::map(&declared, |entry| flux::assemble(repository, &sources, entry));
        (bootstrap.join().unwrap_or_default(), declared, assembled)
    });
    let mut live: BTreeSet<String> = bootstrap.files.iter().cloned().collect();
    live.extend(assembled.iter().flat_map(|assembled| assembled.files.iter().cloned()));
    let undeclared = flux::undeclared(repository, &declared, &live);
    assembled.extend(parallel::map(&undeclared, |entry| flux::assemble(repository, &sources, entry)));
    live.extend(assembled.iter().flat_map(|assembled| assembled.files.iter().cloned()));
    (bootstrap, assembled, live)
}
