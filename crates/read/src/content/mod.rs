//! What the objects of a cluster offer and need, read from their content.
//!
//! Knows Kubernetes kinds, the catalogue, and where Helm values usually name things. Does not know who comes first.

mod appliers;
mod arguments;
mod capabilities;
mod chart_files;
mod collector;
mod copies;
mod custom;
mod facts;
mod foreign;
mod hidden_hosts;
mod hosts;
mod indirect_needs;
mod kinds_served;
mod known;
mod kustomizations;
mod merging;
mod missing_checks;
mod objects;
mod pods;
mod public_hosts;
mod references;
mod releases;
mod rendering;
mod renewal;
mod satellites;
mod values;
mod webhooks;

use catalogue::Catalogue;
use model::{Cluster, ComponentId};
use source::Span;
use yaml::Budget;

use crate::bootstrap::ClusterBootstrap;
use crate::charts::Renderer;
use crate::flux::Assembled;
use crate::repository::Repository;
pub(crate) use arguments::retries_by_default;
pub(crate) use capabilities::apis_asked_for;
pub(crate) use collector::Collector;
pub(crate) use facts::{adds_variables, note_chart};
pub(crate) use known::{need_foundation, need_known_capabilities, offer_controllers, offer_known};
pub(crate) use merging::{chart_address, chart_sources, config_maps, is_wrapped, merge, merged_values, unseen_values};
pub(crate) use objects::SEALING_KEY_LABEL;
pub use objects::is_sealing_key;

/// Fills in offers and needs.
pub(crate) fn extract(
    repository: &Repository,
    catalogue: &Catalogue,
    assembled: Assembled,
    bootstrap: &ClusterBootstrap<'_>,
    renderer: Option<&dyn Renderer>,
    mut budget: Budget,
) -> Cluster {
    let mut collector = Collector::new(assembled);
    bootstrap.offer(repository, catalogue, &mut collector);
    offer_fetched(catalogue, &mut collector);
    if let Some(renderer) = renderer {
        rendering::render_all(&mut collector, repository, catalogue, renderer, &mut budget);
    }
    objects::read_all(&mut collector, catalogue);
    kustomizations::read_all(&mut collector);
    let watches_settings = arguments::watches_settings(&collector.assembled.objects);
    collector.cluster().facts.watches_settings = watches_settings;
    releases::read_all(&mut collector, repository, catalogue, &mut budget);
    let talks = std::mem::take(&mut collector.talks);
    hosts::resolve(&mut collector, &talks);
    public_hosts::resolve(&mut collector, &talks);
    hidden_hosts::resolve(&mut collector, &talks);
    copies::read_all(&mut collector);
    satellites::read_all(&mut collector, catalogue);
    indirect_needs::read_all(&mut collector);
    crate::bootstrap::offer_foundation(&mut collector);
    objects::webhook_needs(&mut collector);
    foreign::offer_all(&mut collector);
    missing_checks::gather(&mut collector, bootstrap);
    facts::gather(&mut collector, repository, bootstrap);
    collector.cluster().facts.expressions = facts::expressions(catalogue);
    drop_needs_of_the_same_file(collector.cluster());
    appliers::settle(&mut collector);
    collector.finish()
}

/// What stands in one file with a component that is applied before Flux applies anything is applied with it.
fn drop_needs_of_the_same_file(cluster: &mut Cluster) {
    let Cluster { needs, offers, components, facts, .. } = cluster;
    let is_met = |need: &model::Need| {
        let Some(owner) = facts.beside_root.get(&need.of) else { return false };
        let file = components[need.of.index()].at.file;
        let is_it = |offer: &model::Offer| offer.by == *owner && offer.at.file == file;
        offers.iter().any(|offer| is_it(offer) && offer.capability == need.capability)
    };
    needs.retain(|need| !is_met(need));
}

/// CRDs that a component takes from another repository: not seen, but their address tells what they are.
fn offer_fetched(catalogue: &Catalogue, collector: &mut Collector) {
    for (by, kind, at) in fetched_kinds(collector.cluster(), catalogue) {
        let own = collector.cluster().component(by).object.clone();
        let capability = model::Capability::cluster(model::CapabilityKind::Crd, kind);
        collector.offer(by, capability, model::Arrival::Applied, &own, at);
    }
}

/// The kinds (`group/Kind` or `group/*`) whose CRDs components take from elsewhere, and the place of the address that tells so.
pub(crate) fn fetched_kinds(cluster: &Cluster, catalogue: &Catalogue) -> Vec<(ComponentId, String, Span)> {
    let mut all = Vec::new();
    for spot in &cluster.blind {
        let address = spot.what.address().filter(|address| address.contains("github"));
        let (Some(by), Some(address)) = (spot.component, address) else { continue };
        let own = &cluster.component(by).object.name;
        let speaks = spot.what.names().chain([own.as_str()]).any(|name| name.to_ascii_lowercase().contains("crd"));
        if speaks || crate::remote_crds::holds_crds(address) {
            let kinds = crate::remote_crds::kinds(address, catalogue);
            all.extend(kinds.into_iter().map(|kind| (by, kind, spot.at)));
        }
    }
    all
}
