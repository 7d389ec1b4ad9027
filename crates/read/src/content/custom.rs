//! References of well-known custom resources that no common field name gives away.

use model::{Capability, CapabilityKind, ComponentId, ObjectRef, Phase};
use yaml::Node;

use crate::content::sink::{Needing, Sink};
use crate::object::Object;

/// `of` applies the resource, `workload` waits for what comes of it.
pub(crate) fn read(sink: &mut Sink, of: ComponentId, workload: ComponentId, own: &ObjectRef, node: &Node) {
    let object = Object::new(node);
    let needing = Needing { of: workload, object: own, phase: Phase::Ready, soft: false, optional: false };
    match (object.group(), object.kind()) {
        ("external-secrets.io", "ExternalSecret") => stores(sink, &needing, node.get("spec")),
        ("external-secrets.io", "ClusterExternalSecret") => {
            stores(sink, &needing, node.at(&["spec", "externalSecretSpec"]));
        }
        ("external-secrets.io", "PushSecret") => {
            for reference in object.spec("secretStoreRefs").and_then(Node::as_seq).unwrap_or_default() {
                store(sink, &needing, reference);
            }
        }
        ("external-secrets.io", "ClusterSecretStore" | "SecretStore") => provider(sink, of, own, node),
        ("cert-manager.io", "Certificate") => issuer(sink, &needing, object.spec("issuerRef")),
        ("gateway.networking.k8s.io", "Gateway") => gateway(sink, of, own, node),
        ("bitnami.com", "SealedSecret") => {
            let needing = Needing { of: workload, ..needing };
            sink.need(
                &needing,
                Capability::cluster(CapabilityKind::SealingKey, ""),
                object.kind_span(),
                "to be unsealed",
            );
        }
        ("postgresql.cnpg.io", "Cluster") => {
            object_stores(sink, &needing, node);
            for storage in ["storage", "walStorage"].iter().filter_map(|key| object.spec(key)) {
                postgres_volume(sink, &needing, storage);
            }
        }
        _ => {}
    }
}

fn stores(sink: &mut Sink, needing: &Needing<'_>, spec: Option<&Node>) {
    let Some(spec) = spec else { return };
    if let Some(reference) = spec.get("secretStoreRef") {
        store(sink, needing, reference);
    }
    for item in ["data", "dataFrom"].iter().flat_map(|list| spec.items_at(list)) {
        if let Some(reference) = item.at(&["sourceRef", "storeRef"]) {
            store(sink, needing, reference);
        }
    }
}

fn store(sink: &mut Sink, needing: &Needing<'_>, reference: &Node) {
    let Some(name) = reference.get("name") else { return };
    let cluster_wide = reference.get("kind").and_then(Node::text) == Some("ClusterSecretStore");
    let namespace = if cluster_wide { "" } else { needing.object.namespace.as_str() };
    let capability = Capability::new(CapabilityKind::SecretStore, namespace, name.text().unwrap_or_default());
    sink.need(needing, capability, name.span, "to be filled");
}

/// The server a store asks, where it runs in the cluster: Vault, 1Password Connect and alike are named by their address.
fn provider(sink: &mut Sink, of: ComponentId, own: &ObjectRef, node: &Node) {
    if let Some(provider) = node.at(&["spec", "provider"]) {
        crate::content::hosts::collect(sink, of, own, provider, Phase::Ready);
    }
}

fn issuer(sink: &mut Sink, needing: &Needing<'_>, reference: Option<&Node>) {
    let Some((reference, name)) = reference.and_then(|reference| Some((reference, reference.get("name")?))) else {
        return;
    };
    let cluster_wide = reference.get("kind").and_then(Node::text) == Some("ClusterIssuer");
    let namespace = if cluster_wide { "" } else { needing.object.namespace.as_str() };
    let capability = Capability::new(CapabilityKind::Issuer, namespace, name.text().unwrap_or_default());
    sink.need(needing, capability, name.span, "to be issued");
}

fn gateway(sink: &mut Sink, of: ComponentId, own: &ObjectRef, node: &Node) {
    let needing = Needing { of, object: own, phase: Phase::Ready, soft: false, optional: false };
    if let Some(class) = node.at(&["spec", "gatewayClassName"]) {
        let capability = Capability::cluster(CapabilityKind::GatewayClass, class.text().unwrap_or_default());
        sink.need(&needing, capability, class.span, "to be programmed");
    }
}

fn postgres_volume(sink: &mut Sink, needing: &Needing<'_>, storage: &Node) {
    let classes = [storage.get("storageClass"), storage.at(&["pvcTemplate", "storageClassName"])];
    if let Some(size) = storage.get("size").filter(|_| classes.iter().all(Option::is_none)) {
        sink.claim(needing, size.span);
    }
}

/// CNPG backs up through a plugin whose ObjectStore the cluster names.
fn object_stores(sink: &mut Sink, needing: &Needing<'_>, node: &Node) {
    for plugin in node.at(&["spec", "plugins"]).and_then(Node::as_seq).unwrap_or_default() {
        if let Some(name) = plugin.at(&["parameters", "barmanObjectName"]) {
            let capability = Capability::new(
                CapabilityKind::Object,
                needing.object.namespace.clone(),
                ecow::eco_format!("ObjectStore {}", name.text().unwrap_or_default()),
            );
            sink.need(needing, capability, name.span, "for its backups");
        }
    }
}
