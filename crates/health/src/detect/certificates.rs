//! Certificates and issuers of cert-manager.

use std::time::Duration;

use crate::detect::Found;
use crate::detect::gitops::edges_of_message;
use crate::detect::secrets::reported;
use crate::facts::{Certificate, Issuer, Truth, condition};
use crate::status::{Because, LayerName, Problem, What};
use crate::symptom::Symptom;
use crate::view::View;

const LAYER: LayerName = LayerName::Certificates;
/// An ACME order takes so long at most before it is worth a look.
const ISSUING: Duration = Duration::from_mins(10);

pub(super) fn detect(view: &View<'_>, found: &mut Found) {
    let issuers: Vec<&Issuer> = view.facts.issuers.iter().chain(&view.facts.cluster_issuers).collect();
    let mut good = 0;
    for issuer in &issuers {
        let ready = condition(&issuer.conditions, "Ready");
        if ready.is_some_and(|it| it.status == Truth::True) {
            good += 1;
            continue;
        }
        let object = issuer.meta.key("cert-manager.io", if issuer.cluster { "ClusterIssuer" } else { "Issuer" });
        // Secrets of a ClusterIssuer are in cert-manager's own namespace.
        let own = if issuer.cluster { "cert-manager" } else { &*issuer.meta.namespace };
        let edges = ready.map(|it| edges_of_message(view, found, &it.message, own)).unwrap_or_default();
        found.add(reported(view, edges, object, ready, issuer.meta.created));
    }
    found.count(LAYER, What::Issuers, good, issuers.len());
    let mut good = 0;
    for certificate in &view.facts.certificates {
        match one(view, certificate, found) {
            Some(symptom) => found.add(symptom),
            None => good += 1,
        }
    }
    found.count(LAYER, What::Certificates, good, view.facts.certificates.len());
}

fn one(view: &View<'_>, it: &Certificate, found: &mut Found) -> Option<Symptom> {
    let object = it.meta.key("cert-manager.io", "Certificate");
    let ready = condition(&it.conditions, "Ready");
    let issuing = condition(&it.conditions, "Issuing").filter(|it| it.status == Truth::True);
    let expired = it.not_after.filter(|at| *at <= view.now);
    let is_ready = ready.is_some_and(|it| it.status == Truth::True);
    if is_ready && expired.is_none() {
        return None;
    }
    let mut edges =
        ready.map(|ready| edges_of_message(view, found, &ready.message, &it.meta.namespace)).unwrap_or_default();
    found.named(view, &it.issuer, LAYER);
    edges.push((it.issuer.clone(), Because::Names));
    let managers = view.workloads().iter().filter(|it| it.meta.labels.is("app.kubernetes.io/name", "cert-manager"));
    edges.extend(managers.map(|it| (crate::view::key(it), Because::Controller)));
    let symptom = match expired {
        Some(at) => {
            let value = ecow::eco_format!("{at}");
            Symptom::new(LAYER, object, Problem::CertificateExpired { at })
                .shows("status.notAfter", value, Some(at))
                .edges(edges)
        }
        None => reported(view, edges, object, ready, it.meta.created),
    };
    let started = issuing.and_then(|it| it.since).or(it.meta.created);
    let goes_on = issuing.is_some() && expired.is_none() && !view.is_older(started, ISSUING);
    Some(symptom.progressing_if(goes_on))
}
