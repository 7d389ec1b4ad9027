//! LoadBalancers, Gateways, Ceph, and any other custom resource that says that it is not ready.

use std::time::Duration;

use crate::detect::Found;
use crate::detect::gitops::edges_of_message;
use crate::facts::{Custom, ObjectKey, Truth, condition};
use crate::kstatus;
use crate::status::{Because, LayerName, Problem, State, What};
use crate::symptom::Symptom;
use crate::view::View;

const LAYER: LayerName = LayerName::Platform;
const ASSIGNING: Duration = Duration::from_mins(2);

pub(super) fn detect(view: &View<'_>, found: &mut Found) {
    balancers(view, found);
    // Steps of a Certificate, which tells of them itself.
    let is_step = |kind: &str| kind.ends_with("acme.cert-manager.io") || kind.starts_with("CertificateRequest.");
    for (kind, list) in view.facts.others.iter().filter(|(kind, _)| !is_step(kind)) {
        let mut good = 0;
        for object in list {
            match one(view, object, found) {
                Some(symptom) => found.add(symptom),
                None => good += 1,
            }
        }
        if kind.starts_with("Gateway.") {
            found.count(LAYER, What::Gateways, good, list.len());
        }
    }
}

fn balancers(view: &View<'_>, found: &mut Found) {
    let (mut good, mut of) = (0, 0);
    for service in view.facts.services.iter().filter(|it| it.kind == "LoadBalancer") {
        of += 1;
        if !service.ingress.is_empty() {
            good += 1;
            continue;
        }
        let ipam =
            condition(&service.conditions, "cilium.io/IPAMRequestSatisfied").filter(|it| it.status == Truth::False);
        let reason = ipam.map(|it| it.reason.clone()).unwrap_or_default();
        let mut symptom = Symptom::new(LAYER, service.meta.key("", "Service"), Problem::NoAddress { reason })
            .state(State::Degraded)
            .shows("status.loadBalancer.ingress", "", service.meta.created)
            .progressing_if(!view.is_older(service.meta.created, ASSIGNING));
        if let Some(ipam) = ipam {
            symptom = symptom.shows_condition(ipam);
        }
        found.add(symptom);
    }
    found.count(LAYER, What::LoadBalancers, good, of);
}

fn one(view: &View<'_>, it: &Custom, found: &mut Found) -> Option<Symptom> {
    let object = it.meta.key(&it.kind.group, &it.kind.kind);
    let layer = crate::known::layer_of_kind(&object).unwrap_or(LAYER);
    if &*it.kind.kind == "CephCluster" {
        return ceph(it, object);
    }
    let bad = match &*it.kind.kind {
        "GatewayClass" => condition(&it.conditions, "Accepted").filter(|it| it.status != Truth::True),
        "Gateway" => condition(&it.conditions, "Programmed").filter(|it| it.status != Truth::True),
        "HTTPRoute" | "GRPCRoute" | "TLSRoute" => {
            let conditions = it.inner.iter().flat_map(|inner| &inner.conditions);
            conditions.into_iter().find(|it| it.status == Truth::False && it.kind != "PartiallyInvalid")
        }
        _ => match kstatus::custom(it).status {
            kstatus::Status::Failed => condition(&it.conditions, "Stalled"),
            kstatus::Status::InProgress => condition(&it.conditions, "Ready").filter(|it| it.status == Truth::False),
            _ => None,
        },
    }?;
    let mut edges = edges_of_message(view, found, &bad.message, &it.meta.namespace);
    if !it.gateway_class.is_empty() {
        let class = ObjectKey::new("gateway.networking.k8s.io", "GatewayClass", "", &it.gateway_class);
        edges.push((class, Because::Names));
    }
    edges.extend(it.inner.iter().filter(|_| &*it.kind.kind == "HTTPRoute").map(|inner| {
        (ObjectKey::new("gateway.networking.k8s.io", "Gateway", &it.meta.namespace, &inner.name), Because::Names)
    }));
    let problem = Problem::NotReady { reason: bad.reason.clone(), message: bad.message.clone() };
    let is_young = !view.is_older(bad.since.or(it.meta.created), ASSIGNING);
    Some(
        Symptom::new(layer, object, problem)
            .state(State::Degraded)
            .shows_condition(bad)
            .edges(edges)
            .progressing_if(is_young),
    )
}

/// Warnings come and go while it recovers; an error, or data that can't be reached, is a fault.
fn ceph(it: &Custom, object: ObjectKey) -> Option<Symptom> {
    const STOPS: [&str; 5] = ["PG_AVAILABILITY", "MON_DOWN", "OSD_FULL", "POOL_FULL", "OSD_DOWN"];
    let named: Vec<&str> = it.details.iter().map(|it| &**it).filter(|it| STOPS.contains(it)).collect();
    if it.health == "HEALTH_OK" || it.health.is_empty() || (it.health == "HEALTH_WARN" && named.is_empty()) {
        return None;
    }
    let details = it.details.join(", ");
    let problem = Problem::CephUnhealthy { health: it.health.clone(), details: details.clone().into() };
    let symptom = Symptom::new(LayerName::Storage, object, problem).state(State::Degraded);
    Some(symptom.shows("status.ceph.health", it.health.clone(), None).shows("status.ceph.details", details, None))
}
