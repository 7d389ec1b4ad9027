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
mod parallel;
mod path;
mod repository;
pub mod resource_set;
mod settings;
pub mod substitute;

use std::collections::BTreeSet;
use std::path::Path;

use catalogue::Catalogue;
use model::Cluster;

pub use repository::{FILE_BYTES_MAX, OpenError, Repository, Skipped};
pub use settings::SettingsError;

/// A repository and the clusters it describes, sorted by the directory they start from.
#[derive(Debug)]
pub struct Reading {
    pub repository: Repository,
    pub clusters: Vec<Cluster>,
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
    let additions = settings::read(&repository)?;
    let catalogue = Catalogue::embedded();
    let extended;
    let catalogue = if additions.is_empty() {
        catalogue
    } else {
        extended = catalogue.with_additions(additions);
        &extended
    };
    let clusters = clusters(&repository, catalogue);
    Ok(Reading { repository, clusters })
}

fn clusters(repository: &Repository, catalogue: &Catalogue) -> Vec<Cluster> {
    let bootstrap = bootstrap::Bootstrap::read(repository);
    let sources = flux::Sources::new(repository);
    let mut live: BTreeSet<String> = bootstrap.files.iter().cloned().collect();
    let mut clusters = Vec::new();
    for entry in flux::find_entries(repository) {
        let assembled = flux::assemble(repository, &sources, &entry);
        live.extend(assembled.files.iter().cloned());
        clusters.push(content::extract(repository, catalogue, assembled, &bootstrap));
    }
    dead::find(repository, &mut clusters, &live);
    clusters
}
