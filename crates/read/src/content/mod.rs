//! What the objects of a cluster offer and need, read from their content.
//!
//! Knows Kubernetes kinds, the catalogue, and where Helm values usually name things. Does not know who comes first.

mod custom;
mod hosts;
mod kustomizations;
mod objects;
mod pods;
mod references;
mod releases;
mod sink;
mod values;

use catalogue::Catalogue;
use model::Cluster;

use crate::bootstrap::Bootstrap;
use crate::flux::Assembled;
use crate::repository::Repository;
pub(crate) use objects::{SEALING_KEY_LABEL, is_sealing_key};
pub(crate) use releases::{need_gifts, offer_known};
pub(crate) use sink::Sink;

/// Fills in offers and needs.
pub(crate) fn extract(
    repository: &Repository,
    catalogue: &Catalogue,
    assembled: Assembled,
    bootstrap: &Bootstrap,
) -> Cluster {
    let mut sink = Sink::new(assembled);
    bootstrap.offer(catalogue, &mut sink);
    objects::read_all(&mut sink, catalogue);
    kustomizations::read_all(&mut sink);
    releases::read_all(&mut sink, repository, catalogue);
    hosts::resolve(&mut sink);
    crate::bootstrap::offer_foundation(&mut sink);
    objects::webhook_needs(&mut sink);
    sink.finish()
}
