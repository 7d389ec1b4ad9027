//! Names that mean the same wherever they stand: in Helm values, in custom resources, in pod templates.

use model::{Capability, CapabilityKind, ComponentId, ObjectRef, Phase};
use yaml::{Entry, Node, Span, Value};

use crate::content::sink::{Needing, Sink};

/// Walks any tree and notes classes, devices, networks, issuers and gateways that it names.
pub(crate) fn scan(sink: &mut Sink, of: ComponentId, own: &ObjectRef, node: &Node, phase: Phase) {
    let needing = Needing { of, object: own, phase, soft: false, optional: false };
    let known = sink.claims.len();
    walk(sink, &needing, node, "");
    if names_class_for_all(node) {
        sink.claims.truncate(known);
    }
}

/// `global: {storageClass: …}`: what many charts fall back to.
fn names_class_for_all(values: &Node) -> bool {
    let named = ["storageClass", "defaultStorageClass", "storageClassName"].map(|key| values.text_at(&["global", key]));
    named.into_iter().flatten().any(|class| !class.is_empty())
}

fn walk(sink: &mut Sink, needing: &Needing<'_>, node: &Node, parent_key: &str) {
    match &node.value {
        Value::Map(map) => {
            if is_switched_off(node) {
                return;
            }
            if let Some(at) = classless_claim(node, parent_key) {
                sink.claim(needing, at);
            }
            for entry in map {
                note(sink, needing, entry, parent_key);
                if !matches!(entry.value.value, Value::Scalar(_)) {
                    // `ingress: {main: {className: internal}}`: the name of an entry says nothing.
                    let key = if parent_key == "ingress" { parent_key } else { &entry.key };
                    walk(sink, &carried_out(needing, &entry.key), &entry.value, key);
                }
            }
        }
        Value::Seq(items) => {
            for item in items {
                walk(sink, needing, item, parent_key);
            }
        }
        Value::Scalar(_) => {}
    }
}

/// `prometheusSpec: {storageSpec: …}`: the spec of a custom resource, which an operator carries out. Whoever waits for the
/// release does not see the pods that come of it.
fn carried_out<'n>(needing: &Needing<'n>, key: &str) -> Needing<'n> {
    let is_release = needing.object.kind == "HelmRelease";
    let phase = if is_release && key.len() > 4 && key.ends_with("Spec") && key != "podSpec" {
        needing.phase.max(Phase::Run)
    } else {
        needing.phase
    };
    Needing { phase, ..needing.clone() }
}

/// Where a claim says how much it wants, if it names no class: `spec` of a PersistentVolumeClaim or of a template for one, or
/// what charts make one from.
fn classless_claim(node: &Node, parent_key: &str) -> Option<Span> {
    const ELSEWHERE: [&str; 5] = ["storageClassName", "existingClaim", "existingVolume", "volumeName", "selector"];
    let says = |key: &str| node.get(key).is_some_and(|value| value.text() != Some(""));
    let is_claim =
        node.get("type").and_then(Node::text).is_none_or(|kind| kind == "persistentVolumeClaim" || kind == "pvc");
    if !is_claim
        || node.get("storageClassName").is_some()
        || says("storageClass")
        || ELSEWHERE.iter().any(|key| says(key))
    {
        return None;
    }
    let has_modes = node.get("accessModes").is_some() || node.get("accessMode").is_some();
    let is_switched_on = parent_key == "persistence" && node.get("enabled").and_then(Node::as_bool) == Some(true);
    let size = match node.get("size") {
        Some(size) if has_modes || is_switched_on => Some(size),
        _ => node.at(&["resources", "requests", "storage"]).filter(|_| has_modes),
    };
    size.filter(|size| size.text().is_some_and(|text| !text.is_empty())).map(|size| size.span)
}

/// `enabled: false` beside other keys: whatever is named there is not used.
fn is_switched_off(node: &Node) -> bool {
    node.get("enabled").and_then(Node::as_bool) == Some(false)
}

fn note(sink: &mut Sink, needing: &Needing<'_>, entry: &Entry, parent_key: &str) {
    let Some(text) = entry.value.text().filter(|text| !text.is_empty()) else {
        return note_structure(sink, needing, entry);
    };
    let class = |kind| Capability::cluster(kind, text);
    let (capability, why) = match entry.key.as_str() {
        "storageClassName" | "storageClass" | "cacheStorageClassName" | "storage_class" if text != "-" => {
            (class(CapabilityKind::StorageClass), "for its volumes")
        }
        "name" if parent_key.eq_ignore_ascii_case("storageClass") => {
            (class(CapabilityKind::StorageClass), "for its volumes")
        }
        "volumeSnapshotClassName" | "snapshotClass" | "volumeSnapshotClass" => {
            (class(CapabilityKind::SnapshotClass), "for its snapshots")
        }
        "ingressClassName" => (class(CapabilityKind::IngressClass), "to be reached"),
        "className" if parent_key == "ingress" => (class(CapabilityKind::IngressClass), "to be reached"),
        "runtimeClassName" => (class(CapabilityKind::RuntimeClass), "for its pods to start"),
        "priorityClassName" => (class(CapabilityKind::PriorityClass), "for its pods to start"),
        "cert-manager.io/cluster-issuer" | "cert-manager.io/issuer" => return note_issuer(sink, needing, entry, text),
        "k8s.v1.cni.cncf.io/networks" => return note_networks(sink, needing, entry, text),
        key if is_resources(parent_key) && key.contains('/') => {
            (Capability::cluster(CapabilityKind::Device, key), "for its pods to be scheduled")
        }
        key if parent_key == "nodeSelector" && is_discovered_label(key) => {
            (Capability::cluster(CapabilityKind::NodeLabel, key), "for its pods to be scheduled")
        }
        "deviceClassName" => (class(CapabilityKind::Device), "for its pods to be scheduled"),
        _ => return,
    };
    let soft = matches!(capability.kind, CapabilityKind::IngressClass);
    sink.need(&Needing { soft, ..needing.clone() }, capability, entry.value.span, why);
}

fn is_resources(parent_key: &str) -> bool {
    matches!(parent_key, "limits" | "requests")
}

fn is_discovered_label(key: &str) -> bool {
    key.contains("feature.node.kubernetes.io/") || key.starts_with("topology.kubernetes.io/")
}

fn note_structure(sink: &mut Sink, needing: &Needing<'_>, entry: &Entry) {
    if entry.key == "parentRefs" {
        for reference in entry.value.as_seq().unwrap_or_default() {
            note_gateway(sink, needing, reference);
        }
    }
}

pub(crate) fn note_gateway(sink: &mut Sink, needing: &Needing<'_>, reference: &Node) {
    let Some(name) = reference.get("name") else { return };
    if reference.get("kind").and_then(Node::text).is_some_and(|kind| kind != "Gateway") {
        return;
    }
    let namespace = reference.get("namespace").and_then(Node::text).unwrap_or(&needing.object.namespace);
    let capability = Capability::new(CapabilityKind::Gateway, namespace, name.text().unwrap_or_default());
    sink.need(&Needing { soft: true, ..needing.clone() }, capability, name.span, "to be reached");
}

fn note_issuer(sink: &mut Sink, needing: &Needing<'_>, entry: &Entry, text: &str) {
    let namespace = if entry.key.ends_with("cluster-issuer") { "" } else { needing.object.namespace.as_str() };
    let capability = Capability::new(CapabilityKind::Issuer, namespace, text);
    sink.need(&Needing { soft: true, ..needing.clone() }, capability, entry.value.span, "for its certificate");
}

/// The annotation holds `name`, `namespace/name`, lists of those, or JSON.
fn note_networks(sink: &mut Sink, needing: &Needing<'_>, entry: &Entry, text: &str) {
    let own = needing.object.namespace.clone();
    let mut found: Vec<(String, String)> = Vec::new();
    if text.trim_start().starts_with('[') {
        let parsed: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        for network in parsed.as_array().into_iter().flatten() {
            let field = |key: &str| network.get(key).and_then(serde_json::Value::as_str);
            if let Some(name) = field("name") {
                found.push((field("namespace").unwrap_or(&own).to_owned(), name.to_owned()));
            }
        }
    } else {
        for network in text.split(',').map(str::trim).filter(|network| !network.is_empty()) {
            let network = network.split_once('@').map_or(network, |(network, _)| network);
            let (namespace, name) = network.split_once('/').unwrap_or((&own, network));
            found.push((namespace.to_owned(), name.to_owned()));
        }
    }
    for (namespace, name) in found {
        let capability = Capability::new(CapabilityKind::NetworkAttachment, namespace, name);
        sink.need(needing, capability, entry.value.span, "for its pods to start");
    }
}
