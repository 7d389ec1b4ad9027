//! What Flux cannot start without. Flux itself runs in pods and fetches by name, so the pod network and cluster DNS were there
//! before it, and with them all that their components bring, however they were installed.

use std::collections::BTreeSet;

use model::{BootstrapStep, CapabilityKind, ComponentId, Offer, Stage};

use super::components::add;
use crate::content::Collector;

/// Offers from the bootstrap stage, too, what the components that Flux cannot start without offer later.
pub(crate) fn offer_foundation(collector: &mut Collector) {
    let founding =
        |offer: &Offer| matches!(offer.capability.kind, CapabilityKind::PodNetwork | CapabilityKind::ClusterDns);
    let cluster = collector.cluster();
    let by: BTreeSet<ComponentId> =
        cluster.offers.iter().filter(|offer| founding(offer)).map(|offer| offer.by).collect();
    let offers: Vec<Offer> = cluster.offers.iter().filter(|offer| by.contains(&offer.by)).cloned().collect();
    for founder in by {
        let component = collector.cluster().component(founder).clone();
        if component.stage == Stage::Bootstrap {
            continue;
        }
        // One component with two hands: what the bootstrap installs is what Flux adopts.
        let installed = collector.cluster().ids().find(|id| {
            let early = collector.assembled.cluster.component(*id);
            early.stage == Stage::Bootstrap && early.known_as.is_some() && early.known_as == component.known_as
        });
        let step = BootstrapStep::Foundation;
        let object = step.object(component.object.namespace, component.object.name);
        let id = installed.unwrap_or_else(|| add(collector, step, object, component.at, component.startup_seconds));
        for offer in offers.iter().filter(|offer| offer.by == founder) {
            collector.offer(id, offer.capability.clone(), offer.arrival, &offer.object, offer.at);
        }
    }
}
