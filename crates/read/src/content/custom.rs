//! References of well-known custom resources that no common field name gives away.

use model::{Capability, CapabilityKind, ComponentId, ObjectRef, Phase, Purpose};
use yaml::Node;

use crate::content::collector::{Collector, Needing};
use crate::kinds::is_custom;
use crate::object::Object;

/// `of` applies the resource, `workload` waits for what comes of it.
pub(crate) fn read(collector: &mut Collector, of: ComponentId, workload: ComponentId, own: &ObjectRef, node: &Node) {
    let object = Object::new(node);
    let needing = Needing { of: workload, object: own, phase: Phase::Ready, soft: false, optional: false };
    match (object.group(), object.kind()) {
        ("external-secrets.io", "ExternalSecret") => {
            // It asks its store as soon as it is applied, whatever the workload waits for.
            for of in [workload, of] {
                stores(collector, &Needing { of, ..needing.clone() }, node.get("spec"));
            }
        }
        ("external-secrets.io", "ClusterExternalSecret") => {
            stores(collector, &needing, node.at(&["spec", "externalSecretSpec"]));
        }
        ("external-secrets.io", "PushSecret") => {
            for reference in object.spec("secretStoreRefs").and_then(Node::as_seq).unwrap_or_default() {
                store(collector, &needing, reference);
            }
        }
        ("external-secrets.io", "ClusterSecretStore" | "SecretStore") => provider(collector, of, own, node),
        ("cert-manager.io", "Certificate") => issuer(collector, &needing, object.spec("issuerRef")),
        ("gateway.networking.k8s.io", "Gateway") => gateway(collector, of, own, node),
        ("bitnami.com", "SealedSecret") => {
            let needing = Needing { of: workload, ..needing };
            collector.need(
                &needing,
                Capability::cluster(CapabilityKind::SealingKey, ""),
                object.kind_span(),
                Purpose::Unseal,
            );
        }
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy") => {
            parameters(collector, of, own, node);
        }
        ("postgresql.cnpg.io", "Cluster") => {
            object_stores(collector, &needing, node);
            for storage in ["storage", "walStorage"].iter().filter_map(|key| object.spec(key)) {
                postgres_volume(collector, &needing, storage);
            }
        }
        _ => {}
    }
}

/// A policy whose parameters are of a kind that is not served yet refuses what it is asked about.
fn parameters(collector: &mut Collector, of: ComponentId, own: &ObjectRef, node: &Node) {
    let text = |field: &str| node.text_at(&["spec", "paramKind", field]).unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    if let Some(kind) = node.at(&["spec", "paramKind", "kind"]).filter(|_| is_custom(group)) {
        let needing = Needing { of, object: own, phase: Phase::Ready, soft: false, optional: false };
        collector.need(&needing, Capability::crd(group, text("kind")), kind.span, Purpose::Parameters);
    }
}

fn stores(collector: &mut Collector, needing: &Needing<'_>, spec: Option<&Node>) {
    let Some(spec) = spec else { return };
    if let Some(reference) = spec.get("secretStoreRef") {
        store(collector, needing, reference);
    }
    for item in ["data", "dataFrom"].iter().flat_map(|list| spec.items_at(list)) {
        if let Some(reference) = item.at(&["sourceRef", "storeRef"]) {
            store(collector, needing, reference);
        }
    }
}

fn store(collector: &mut Collector, needing: &Needing<'_>, reference: &Node) {
    let Some(name) = reference.get("name") else { return };
    let cluster_wide = reference.get("kind").and_then(Node::text) == Some("ClusterSecretStore");
    let namespace = if cluster_wide { "" } else { needing.object.namespace.as_str() };
    let capability = Capability::new(CapabilityKind::SecretStore, namespace, name.text().unwrap_or_default());
    collector.fill(needing.object, &capability);
    collector.need(needing, capability, name.span, Purpose::Fill);
}

/// The server a store asks, where it runs in the cluster: Vault, 1Password Connect and alike are named by their address.
fn provider(collector: &mut Collector, of: ComponentId, own: &ObjectRef, node: &Node) {
    if let Some(provider) = node.at(&["spec", "provider"]) {
        crate::content::hosts::collect(collector, of, own, provider, Phase::Ready);
    }
}

fn issuer(collector: &mut Collector, needing: &Needing<'_>, reference: Option<&Node>) {
    let Some((reference, name)) = reference.and_then(|reference| Some((reference, reference.get("name")?))) else {
        return;
    };
    let cluster_wide = reference.get("kind").and_then(Node::text) == Some("ClusterIssuer");
    let namespace = if cluster_wide { "" } else { needing.object.namespace.as_str() };
    let capability = Capability::new(CapabilityKind::Issuer, namespace, name.text().unwrap_or_default());
    collector.need(needing, capability, name.span, Purpose::Issue);
}

fn gateway(collector: &mut Collector, of: ComponentId, own: &ObjectRef, node: &Node) {
    let needing = Needing { of, object: own, phase: Phase::Ready, soft: false, optional: false };
    if let Some(class) = node.at(&["spec", "gatewayClassName"]) {
        let capability = Capability::cluster(CapabilityKind::GatewayClass, class.text().unwrap_or_default());
        collector.need(&needing, capability, class.span, Purpose::Program);
    }
}

fn postgres_volume(collector: &mut Collector, needing: &Needing<'_>, storage: &Node) {
    let classes = [storage.get("storageClass"), storage.at(&["pvcTemplate", "storageClassName"])];
    if let Some(size) = storage.get("size").filter(|_| classes.iter().all(Option::is_none)) {
        collector.claim(needing, size.span);
    }
}

/// CNPG backs up through a plugin whose ObjectStore the cluster names.
fn object_stores(collector: &mut Collector, needing: &Needing<'_>, node: &Node) {
    for plugin in node.at(&["spec", "plugins"]).and_then(Node::as_seq).unwrap_or_default() {
        if let Some(name) = plugin.at(&["parameters", "barmanObjectName"]) {
            let capability = Capability::new(
                CapabilityKind::Object,
                needing.object.namespace.clone(),
                ecow::eco_format!("ObjectStore {}", name.text().unwrap_or_default()),
            );
            collector.need(needing, capability, name.span, Purpose::Backups);
        }
    }
}
