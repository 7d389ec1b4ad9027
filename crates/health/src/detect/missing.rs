//! Objects that something names and that do not exist, and who would make them.

use crate::detect::Found;
use crate::facts::ObjectKey;
use crate::status::{Because, Problem};
use crate::symptom::Symptom;
use crate::view::View;

/// Groups of well-known CRDs, and the charts that install them.
const CHARTS: [(&str, &[&str]); 16] = [
    ("cert-manager.io", &["cert-manager"]),
    ("acme.cert-manager.io", &["cert-manager"]),
    ("external-secrets.io", &["external-secrets"]),
    ("bitnami.com", &["sealed-secrets"]),
    ("monitoring.coreos.com", &["kube-prometheus-stack", "prometheus-operator-crds"]),
    ("gateway.networking.k8s.io", &["gateway-api", "gateway-api-crds", "gateway-helm"]),
    ("gateway.envoyproxy.io", &["gateway-helm"]),
    ("cilium.io", &["cilium"]),
    ("ceph.rook.io", &["rook-ceph"]),
    ("objectbucket.io", &["rook-ceph"]),
    ("postgresql.cnpg.io", &["cloudnative-pg"]),
    ("kyverno.io", &["kyverno"]),
    ("metallb.io", &["metallb"]),
    ("traefik.io", &["traefik"]),
    ("longhorn.io", &["longhorn"]),
    ("snapshot.storage.k8s.io", &["snapshot-controller"]),
];

pub(super) fn detect(view: &View<'_>, found: &mut Found) {
    for (key, layer) in std::mem::take(&mut found.missing) {
        if found.symptoms.iter().any(|it| it.object == key) {
            continue;
        }
        let symptom =
            Symptom::new(layer, key.clone(), Problem::Missing).shows("metadata.name", "not found", view.facts.seen);
        found.add(symptom.edges(makers(view, &key)));
    }
}

/// What would make it, as far as the cluster or the repository shows.
fn makers(view: &View<'_>, key: &ObjectKey) -> Vec<(ObjectKey, Because)> {
    let mut makers: Vec<ObjectKey> = Vec::new();
    if let Some(expected) = view.expected {
        makers.extend(expected.made.iter().filter(|(made, _)| made == key).map(|(_, by)| by.clone()));
    }
    match &*key.kind {
        "Secret" => makers.extend(secret(view, key)),
        "CustomResourceDefinition" => {
            let group = key.name.split_once('.').map_or("", |(_, group)| group);
            let charts = CHARTS.iter().find(|(of, _)| *of == group).map_or(&[][..], |(_, charts)| charts);
            let releases = view.facts.helm_releases.iter().filter(|it| charts.contains(&&*it.chart));
            makers.extend(releases.map(crate::facts::HelmRelease::key));
        }
        _ => {}
    }
    makers.into_iter().map(|by| (by, Because::Makes)).collect()
}

fn secret(view: &View<'_>, key: &ObjectKey) -> Vec<ObjectKey> {
    let facts = view.facts;
    let here = |namespace: &str| namespace == key.namespace;
    let external = facts.external_secrets.iter().filter(|it| here(&it.meta.namespace) && it.target == key.name);
    let sealed = facts.sealed_secrets.iter().filter(|it| here(&it.meta.namespace) && it.meta.name == key.name);
    let issued = facts.certificates.iter().filter(|it| here(&it.meta.namespace) && it.secret == key.name);
    external
        .map(|it| it.meta.key("external-secrets.io", "ExternalSecret"))
        .chain(sealed.map(|it| it.meta.key("bitnami.com", "SealedSecret")))
        .chain(issued.map(|it| it.meta.key("cert-manager.io", "Certificate")))
        .collect()
}
