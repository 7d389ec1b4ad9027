//! DNS of the cluster: ready endpoints behind its Service.

use crate::Time;
use crate::detect::Found;
use crate::facts::{ObjectKey, Service, ServiceRef, condition};
use crate::known;
use crate::status::{Because, LayerName, Problem, What};
use crate::symptom::Symptom;
use crate::view::View;

const LAYER: LayerName = LayerName::Dns;

/// The Services that pods resolve names at.
fn services<'a>(view: &View<'a>) -> impl Iterator<Item = &'a Service> {
    view.facts.services.iter().filter(|it| {
        it.meta.namespace == "kube-system"
            && known::is_dns(&it.meta)
            && !it.selector.is_empty()
            && it.cluster_ip != "None"
    })
}

/// What a failed lookup waits for.
pub(super) fn resolvers(view: &View<'_>) -> Vec<ObjectKey> {
    services(view).map(|it| it.meta.key("", "Service")).collect()
}

pub(super) fn detect(view: &View<'_>, found: &mut Found) {
    found.needs(LAYER, &view.facts.services);
    found.needs(LAYER, &view.facts.endpoints);
    for service in services(view) {
        let place = ServiceRef { namespace: service.meta.namespace.clone(), name: service.meta.name.clone() };
        let Some((ready, of)) = view.endpoints(&place) else { continue };
        found.count(LAYER, What::DnsEndpoints, ready, of.max(1));
        if ready > 0 {
            continue;
        }
        let object = service.meta.key("", "Service");
        let backends = view.backends(&place);
        let mut symptom = Symptom::new(LAYER, object, Problem::NoReadyEndpoints { of })
            .shows("endpoints", ecow::eco_format!("{ready} of {of} ready"), view.facts.endpoints.seen)
            .edges(backends.iter().map(|key| (key.clone(), Because::Backend)));
        symptom.since = backends.iter().filter_map(|key| last_ready(view, key)).max();
        found.add(symptom);
    }
}

/// When the last of its pods stopped being ready, or its Deployment being available.
fn last_ready(view: &View<'_>, controller: &ObjectKey) -> Option<Time> {
    let of_pods = view.pods_of(controller).iter().filter_map(|pod| condition(&pod.conditions, "Ready")?.since).max();
    let of_own = || condition(&view.workload(controller)?.conditions, "Available")?.since;
    of_pods.or_else(of_own)
}
