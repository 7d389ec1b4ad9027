//! Files into components, offers, needs and ties. One room per tool; objects are known by apiVersion and kind, never by
//! the name of their file.
//!
//! This crate knows file formats and what they mean. It does not know the graph or the rules.

mod applied;
pub mod artifact;
mod bootstrap;
pub mod charts;
mod content;
mod dead;
mod flux;
pub mod found;
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

pub use applied::{Applied, applied};
pub use bootstrap::AFTER_RELEASE;
pub use repository::{FILE_BYTES_MAX, OpenError, Repository, Skipped, may_hold_objects};
pub use settings::{
    CheckSettings, Configuration, ControllerSettings, GENERATED_KINDS, GeneratedSecret, GeneratedValue, SETTINGS_FILE,
    SealSettings, Settings, SettingsError, Spelt, UpSettings,
};

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

/// Reads everything below `root`, and runs nothing.
pub fn read(root: &Path) -> Result<Reading, ReadError> {
    read_with(root, None)
}

/// Reads everything below `root`; charts that are on this machine are rendered, if there is something that does it.
pub fn read_with(root: &Path, renderer: Option<&dyn charts::Renderer>) -> Result<Reading, ReadError> {
    // The catalogue takes a while to be unpacked, which the search for files leaves a core free for.
    let (repository, catalogue) = parallel::both(|| Repository::open(root), Catalogue::embedded);
    let repository = repository?;
    let (settings, additions) = settings::read(&repository)?;
    let catalogue = extended(catalogue, additions);
    let clusters = clusters(&repository, &catalogue, renderer);
    Ok(Reading { repository, clusters, settings })
}

/// What `coldstart.yaml` says, and nothing else.
pub fn settings(repository: &Repository) -> Result<Settings, SettingsError> {
    settings::read(repository).map(|(settings, _)| settings)
}

/// The catalogue with what `coldstart.yaml` adds to it.
fn extended(catalogue: &'static Catalogue, additions: Vec<catalogue::Component>) -> Cow<'static, Catalogue> {
    if additions.is_empty() { Cow::Borrowed(catalogue) } else { Cow::Owned(catalogue.with_additions(additions)) }
}

fn clusters(repository: &Repository, catalogue: &Catalogue, renderer: Option<&dyn charts::Renderer>) -> Vec<Cluster> {
    let (bootstrap, assembled, live) = assembled(repository, catalogue);
    let assembled: Vec<Mutex<flux::Assembled>> = assembled.into_iter().map(Mutex::new).collect();
    let mut clusters: Vec<Cluster> = parallel::map(&assembled, |assembled| {
        let assembled = assembled.lock().map(|mut assembled| std::mem::take(&mut *assembled)).unwrap_or_default();
        content::extract(repository, catalogue, assembled, &bootstrap, renderer)
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
    // The two have nothing to do with each other, and each has long stretches for one core alone.
    let (flux, bootstrap) = parallel::both(
        || {
            let common = flux::Common::read(repository);
            let declared = flux::declared(&common);
            let assembled = parallel::map(&declared, |entry| flux::assemble(&common, entry));
            (common, declared, assembled)
        },
        || bootstrap::Bootstrap::read(repository, catalogue),
    );
    let (common, declared, mut assembled) = flux;
    let mut live: BTreeSet<String> = bootstrap.files.iter().cloned().collect();
    live.extend(assembled.iter().flat_map(|assembled| assembled.files.iter().cloned()));
    let undeclared = flux::undeclared(&common, &declared, &live);
    assembled.extend(parallel::map(&undeclared, |entry| flux::assemble(&common, entry)));
    live.extend(assembled.iter().flat_map(|assembled| assembled.files.iter().cloned()));
    (bootstrap, assembled, live)
}
