//! What the objects of a cluster offer and need, read from their content.
//!
//! Knows Kubernetes kinds, the catalogue, and where Helm values usually name things. Does not know who comes first.

mod arguments;
mod behind;
mod capabilities;
mod chart_files;
mod custom;
mod facts;
mod hosts;
mod kinds_served;
mod known;
mod kustomizations;
mod merging;
mod objects;
mod pods;
mod references;
mod releases;
mod rendering;
mod sink;
mod values;
mod webhooks;

use catalogue::Catalogue;
use model::Cluster;

use crate::bootstrap::Bootstrap;
use crate::charts::Renderer;
use crate::flux::Assembled;
use crate::repository::Repository;
pub(crate) use arguments::retries_by_default;
pub(crate) use capabilities::apis_asked_for;
pub(crate) use facts::note_chart;
pub(crate) use known::{need_foundation, need_gifts, offer_controllers, offer_known};
pub(crate) use merging::{chart_address, chart_sources, config_maps, merge, merged_values};
pub(crate) use objects::{SEALING_KEY_LABEL, is_sealing_key};
pub(crate) use sink::Sink;

/// Fills in offers and needs.
pub(crate) fn extract(
    repository: &Repository,
    catalogue: &Catalogue,
    assembled: Assembled,
    bootstrap: &Bootstrap,
    renderer: Option<&dyn Renderer>,
) -> Cluster {
    let mut sink = Sink::new(assembled);
    bootstrap.offer(repository, catalogue, &mut sink);
    offer_fetched(catalogue, &mut sink);
    if let Some(renderer) = renderer {
        rendering::render_all(&mut sink, repository, catalogue, renderer);
    }
    objects::read_all(&mut sink, catalogue);
    kustomizations::read_all(&mut sink);
    let watches_settings = arguments::watches_settings(&sink.assembled.objects);
    sink.cluster().facts.watches_settings = watches_settings;
    releases::read_all(&mut sink, repository, catalogue);
    hosts::resolve(&mut sink);
    behind::read_all(&mut sink);
    crate::bootstrap::offer_foundation(&mut sink);
    objects::webhook_needs(&mut sink);
    facts::gather(&mut sink, repository, bootstrap);
    sink.finish()
}

/// CRDs that a component takes from another repository: not seen, but their address tells what they are.
fn offer_fetched(catalogue: &Catalogue, sink: &mut Sink) {
    let spots = sink.cluster().blind.clone();
    for spot in spots.iter().filter(|spot| spot.what.contains("github")) {
        let Some(by) = spot.component else { continue };
        let own = sink.cluster().component(by).object.clone();
        let speaks = [&spot.what, own.name.as_str()].iter().any(|text| text.to_ascii_lowercase().contains("crd"));
        let addresses = spot.what.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '`' | ','));
        for kind in addresses
            .filter(|word| word.contains("github") && (speaks || crate::remote_crds::holds_crds(word)))
            .flat_map(|address| crate::remote_crds::kinds(address, catalogue))
        {
            sink.offer(
                by,
                model::Capability::cluster(model::CapabilityKind::Crd, kind),
                model::Arrival::Applied,
                &own,
                spot.at,
            );
        }
    }
}
