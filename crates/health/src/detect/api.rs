//! The API server's own readiness, its controllers' leases, aggregated APIs, CRDs, namespaces and signing requests.

use std::time::Duration;

use crate::detect::Found;
use crate::facts::{ObjectKey, Truth, condition};
use crate::status::{Because, LayerName, Problem, State, What};
use crate::symptom::Symptom;
use crate::view::View;

const LAYER: LayerName = LayerName::Api;
/// A lease that was not renewed for so long beyond its own duration has no holder.
const SLACK: Duration = Duration::from_secs(45);
/// A request may wait so long for an administrator who approves it.
const APPROVAL: Duration = Duration::from_mins(5);
/// So long a deletion may take.
pub(super) const DELETION: Duration = Duration::from_mins(10);
const STARTING: Duration = Duration::from_mins(2);

/// The lease of a controller of Kubernetes.
pub(super) fn lease(name: &str) -> ObjectKey {
    ObjectKey::new("coordination.k8s.io", "Lease", "kube-system", name)
}

pub(super) fn detect(view: &View<'_>, found: &mut Found) {
    checks(view, found);
    leaders(view, found);
    api_services(view, found);
    crds(view, found);
    namespaces(view, found);
    requests(view, found);
}

fn checks(view: &View<'_>, found: &mut Found) {
    let checks = &view.facts.api.checks;
    found.count(LAYER, What::ReadinessChecks, checks.iter().filter(|it| it.ok).count(), checks.len());
    for check in checks.iter().filter(|it| !it.ok) {
        let layer = if check.name.starts_with("etcd") { LayerName::Etcd } else { LAYER };
        let object = ObjectKey::new("", "APIServer", "", &view.facts.api.server);
        let problem = Problem::CheckFails { check: check.name.clone() };
        found.add(Symptom::new(layer, object, problem).shows("/readyz", check.name.clone(), view.facts.api.seen));
    }
}

fn leaders(view: &View<'_>, found: &mut Found) {
    found.needs(LAYER, &view.facts.leases);
    let is_ours = |name: &str| name == "kube-controller-manager" || name == "kube-scheduler";
    let leases = view.facts.leases.iter().filter(|it| it.meta.namespace == "kube-system" && is_ours(&it.meta.name));
    let (mut good, mut of) = (0, 0);
    for lease in leases {
        of += 1;
        let lasts = Duration::from_secs(u64::try_from(lease.duration_seconds.unwrap_or(15)).unwrap_or(15));
        if view.is_lapsed(lease, lasts + SLACK) {
            let problem = Problem::LeaseNotRenewed { holder: lease.holder.clone() };
            let symptom = Symptom::new(LAYER, lease.meta.key("coordination.k8s.io", "Lease"), problem);
            let value = lease.renewed.map(|at| ecow::eco_format!("{at}")).unwrap_or_default();
            let statics = view.facts.pods.iter().filter(|pod| pod.meta.labels.is("component", &lease.meta.name));
            let statics = statics.map(|pod| (pod.meta.key("", "Pod"), Because::Backend));
            found.add(symptom.shows("spec.renewTime", value, lease.renewed).edges(statics));
        } else {
            good += 1;
        }
    }
    found.count(LAYER, What::Leaders, good, of);
}

fn api_services(view: &View<'_>, found: &mut Found) {
    found.needs(LAYER, &view.facts.api_services);
    let remote = view.facts.api_services.iter().filter_map(|it| it.service.as_ref().map(|service| (it, service)));
    let (mut good, mut of) = (0, 0);
    for (api, service) in remote {
        of += 1;
        let Some(available) = condition(&api.conditions, "Available").filter(|it| it.status != Truth::True) else {
            good += 1;
            continue;
        };
        let (reason, message) = (available.reason.clone(), available.message.clone());
        let object = api.meta.key("apiregistration.k8s.io", "APIService");
        let backends = view.backends(service).into_iter().map(|key| (key, Because::Backend));
        let own = ObjectKey::new("", "Service", &service.namespace, &service.name);
        found.named(view, &own, LAYER);
        let symptom = Symptom::new(LAYER, object, Problem::ApiServiceUnavailable { reason, message })
            .state(State::Degraded)
            .shows_condition(available)
            .edges(backends)
            .edge(own, Because::Names)
            .progressing_if(!view.is_older(available.since, STARTING));
        found.add(symptom);
    }
    found.count(LAYER, What::ApiServices, good, of);
}

/// The CRD of a kind, as an object that may not exist.
pub(super) fn crd_key(group: &str, kind: &str) -> ObjectKey {
    // Its plural is not known where it does not exist: it is named by its kind.
    ObjectKey::new("apiextensions.k8s.io", "CustomResourceDefinition", "", &format!("{kind}.{group}"))
}

fn crds(view: &View<'_>, found: &mut Found) {
    let crds = &view.facts.crds;
    let mut good = 0;
    for crd in crds {
        let computed = crate::kstatus::crd(crd);
        if computed.status == crate::kstatus::Status::Current {
            good += 1;
            continue;
        }
        let object = crd.meta.key("apiextensions.k8s.io", "CustomResourceDefinition");
        let bad = crd.conditions.iter().find(|it| it.status == Truth::False);
        let reason = bad.map(|it| it.reason.clone()).unwrap_or_default();
        let is_young = !view.is_older(crd.meta.deleted.or(crd.meta.created), STARTING);
        let problem = if crd.meta.deleted.is_some() {
            Problem::DeletionStuck { finalizers: crd.meta.finalizers.join(", ").into() }
        } else {
            Problem::CrdNotEstablished { reason }
        };
        let symptom = Symptom::new(LayerName::Platform, object, problem).progressing_if(is_young);
        found.add(match bad {
            Some(condition) => symptom.shows_condition(condition),
            None => symptom.shows("metadata.deletionTimestamp", "set", crd.meta.deleted),
        });
    }
    found.count(LayerName::Platform, What::Crds, good, crds.len());
}

fn namespaces(view: &View<'_>, found: &mut Found) {
    for namespace in view.facts.namespaces.iter().filter(|it| it.phase == "Terminating") {
        const SIGNS: [&str; 4] = [
            "NamespaceDeletionDiscoveryFailure",
            "NamespaceDeletionContentFailure",
            "NamespaceFinalizersRemaining",
            "NamespaceContentRemaining",
        ];
        let is = |kind: &&str| View::truth(&namespace.conditions, kind) == Some(Truth::True);
        let Some(kind) = SIGNS.iter().find(|kind| is(kind)) else { continue };
        let Some(held) = condition(&namespace.conditions, kind) else { continue };
        let problem = Problem::NamespaceStuck { reason: held.reason.clone(), message: held.message.clone() };
        // Discovery fails where an aggregated API does not answer.
        let apis = view.facts.api_services.iter().map(|it| it.meta.key("apiregistration.k8s.io", "APIService"));
        let apis = apis.filter(|_| *kind == SIGNS[0]).map(|key| (key, Because::Kind));
        let symptom = Symptom::new(LAYER, namespace.meta.key("", "Namespace"), problem)
            .state(State::Degraded)
            .shows_condition(held)
            .edges(apis)
            .progressing_if(!view.is_older(namespace.meta.deleted, DELETION));
        found.add(symptom);
    }
}

fn requests(view: &View<'_>, found: &mut Found) {
    let is_open = |it: &&crate::facts::Csr| {
        it.signer == "kubernetes.io/kubelet-serving" && !it.issued && it.conditions.is_empty()
    };
    let open = view.facts.csrs.iter().filter(is_open).filter(|it| view.is_older(it.meta.created, APPROVAL));
    // One request per node is enough to show it; an approver that does not run is the same fault for all.
    let mut newest: std::collections::BTreeMap<&str, &crate::facts::Csr> = std::collections::BTreeMap::new();
    for csr in open {
        newest.insert(&csr.username, csr);
    }
    for csr in newest.values() {
        let object = csr.meta.key("certificates.k8s.io", "CertificateSigningRequest");
        let problem = Problem::RequestPending { user: csr.username.clone() };
        let approver = view.workloads().iter().filter(|it| {
            ["kubelet-serving-cert-approver", "kubelet-csr-approver"].iter().any(|name| it.meta.name.contains(name))
        });
        let approver: Vec<_> = approver.map(|it| (crate::view::key(it), Because::Controller)).collect();
        let symptom = Symptom::new(LayerName::Nodes, object, problem)
            .state(State::Degraded)
            .shows("status.conditions", "", csr.meta.created)
            .edges(approver);
        found.add(symptom);
    }
}
