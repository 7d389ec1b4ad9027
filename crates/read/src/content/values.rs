//! Names that mean the same wherever they stand: in Helm values, in custom resources, in pod templates.

use model::{Capability, CapabilityKind, ComponentId, ObjectRef, Phase, Purpose};
use source::Span;
use yaml::{Entry, Node, Value};

use crate::content::collector::{Collector, Needing};

/// Walks any tree and notes classes, devices, networks, issuers and gateways that it names.
pub(crate) fn scan(collector: &mut Collector, of: ComponentId, own: &ObjectRef, node: &Node, phase: Phase) {
    let needing = Needing { of, object: own, phase, soft: false, optional: false };
    let known = collector.claims.len();
    walk(collector, &needing, node, "");
    if names_class_for_all(node) {
        collector.claims.truncate(known);
    }
}

/// `global: {storageClass: …}`: what many charts fall back to.
fn names_class_for_all(values: &Node) -> bool {
    let named = ["storageClass", "defaultStorageClass", "storageClassName"].map(|key| values.text_at(&["global", key]));
    named.into_iter().flatten().any(|class| !class.is_empty())
}

fn walk(collector: &mut Collector, needing: &Needing<'_>, node: &Node, parent_key: &str) {
    match &node.value {
        Value::Map(map) => {
            if is_switched_off(node) {
                return;
            }
            if let Some(at) = classless_claim(node, parent_key) {
                collector.claim(needing, at);
            }
            for entry in map {
                note(collector, needing, entry, parent_key);
                if !matches!(entry.value.value, Value::Scalar(_)) {
                    // `ingress: {main: {className: internal}}`: the name of an entry says nothing.
                    let key = if parent_key == "ingress" { parent_key } else { &entry.key };
                    walk(collector, &carried_out(needing, &entry.key), &entry.value, key);
                }
            }
        }
        Value::Seq(items) => {
            for item in items {
                walk(collector, needing, item, parent_key);
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

fn note(collector: &mut Collector, needing: &Needing<'_>, entry: &Entry, parent_key: &str) {
    let Some(text) = entry.value.text().filter(|text| !text.is_empty()) else {
        return note_structure(collector, needing, entry);
    };
    let class = |kind| Capability::cluster(kind, text);
    let (capability, why) = match entry.key.as_str() {
        key if names_storage_class(key) && text != "-" => (class(CapabilityKind::StorageClass), Purpose::Volumes),
        "name" if parent_key.eq_ignore_ascii_case("storageClass") => {
            (class(CapabilityKind::StorageClass), Purpose::Volumes)
        }
        "volumeSnapshotClassName" | "snapshotClass" | "volumeSnapshotClass" => {
            (class(CapabilityKind::SnapshotClass), Purpose::Snapshots)
        }
        "ingressClassName" | "kubernetes.io/ingress.class" => (class(CapabilityKind::IngressClass), Purpose::Reach),
        "type" if text == "LoadBalancer" => return collector.balanced(needing, entry.value.span),
        "className" if parent_key == "ingress" => (class(CapabilityKind::IngressClass), Purpose::Reach),
        "runtimeClassName" => (class(CapabilityKind::RuntimeClass), Purpose::StartPods),
        "priorityClassName" => (class(CapabilityKind::PriorityClass), Purpose::StartPods),
        "cert-manager.io/cluster-issuer" | "cert-manager.io/issuer" => {
            return note_issuer(collector, needing, entry, text);
        }
        "k8s.v1.cni.cncf.io/networks" => return note_networks(collector, needing, entry, text),
        key if is_resources(parent_key) && key.contains('/') => {
            (Capability::cluster(CapabilityKind::Device, key), Purpose::SchedulePods)
        }
        key if parent_key == "nodeSelector" => return note_label(collector, needing, key, entry.value.span),
        key if parent_key == "selectors" || has_word(key, "network") => {
            return note_network_setting(collector, needing, entry, text);
        }
        "deviceClassName" => (class(CapabilityKind::Device), Purpose::SchedulePods),
        _ => return,
    };
    let soft = matches!(capability.kind, CapabilityKind::IngressClass);
    collector.need(&Needing { soft, ..needing.clone() }, capability, entry.value.span, why);
}

/// Keys that name a class of storage, in whatever case a chart writes them.
fn names_storage_class(key: &str) -> bool {
    const KEYS: [&str; 4] = ["storageClassName", "storageClass", "cacheStorageClassName", "storage_class"];
    KEYS.iter().any(|known| key.eq_ignore_ascii_case(known))
}

fn has_word(key: &str, word: &str) -> bool {
    key.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
}

/// A label that nodes must have. Those that people give their nodes by hand are there: only what a program discovers counts, or
/// what a rule of this cluster sets.
fn note_label(collector: &mut Collector, needing: &Needing<'_>, key: &str, at: Span) {
    let capability = Capability::cluster(CapabilityKind::NodeLabel, key);
    if is_discovered_label(key) || collector.is_offered(&capability) {
        collector.need(needing, capability, at, Purpose::SchedulePods);
    }
}

/// `storageNetwork: namespace/name`: a network that a setting names, where it is one of this cluster.
fn note_network_setting(collector: &mut Collector, needing: &Needing<'_>, entry: &Entry, text: &str) {
    let (namespace, name) = text.split_once('/').unwrap_or((&needing.object.namespace, text));
    let capability = Capability::new(CapabilityKind::NetworkAttachment, namespace, name);
    if collector.is_offered(&capability) {
        collector.need(needing, capability, entry.value.span, Purpose::StartPods);
    }
}

fn is_resources(parent_key: &str) -> bool {
    matches!(parent_key, "limits" | "requests")
}

fn is_discovered_label(key: &str) -> bool {
    key.contains("feature.node.kubernetes.io/") || key.starts_with("topology.kubernetes.io/")
}

fn note_structure(collector: &mut Collector, needing: &Needing<'_>, entry: &Entry) {
    let items = entry.value.as_seq().unwrap_or_default();
    match entry.key.as_str() {
        "parentRefs" => items.iter().for_each(|reference| note_gateway(collector, needing, reference)),
        // Of several terms one is enough: pods have another way.
        "nodeSelectorTerms" if items.len() == 1 => {
            for expression in items[0].items_at("matchExpressions") {
                note_expression(collector, needing, expression);
            }
        }
        _ => {}
    }
}

fn note_expression(collector: &mut Collector, needing: &Needing<'_>, expression: &Node) {
    let is_wanted = matches!(expression.text_at(&["operator"]), Some("In" | "Exists" | "Gt" | "Lt"));
    if let Some((key, name)) = expression.get("key").and_then(|key| Some((key, key.text()?))).filter(|_| is_wanted) {
        note_label(collector, needing, name, key.span);
    }
}

pub(crate) fn note_gateway(collector: &mut Collector, needing: &Needing<'_>, reference: &Node) {
    let Some(name) = reference.get("name") else { return };
    if reference.get("kind").and_then(Node::text).is_some_and(|kind| kind != "Gateway") {
        return;
    }
    let namespace = reference.get("namespace").and_then(Node::text).unwrap_or(&needing.object.namespace);
    let capability = Capability::new(CapabilityKind::Gateway, namespace, name.text().unwrap_or_default());
    collector.need(&Needing { soft: true, ..needing.clone() }, capability, name.span, Purpose::Reach);
}

fn note_issuer(collector: &mut Collector, needing: &Needing<'_>, entry: &Entry, text: &str) {
    let namespace = if entry.key.ends_with("cluster-issuer") { "" } else { needing.object.namespace.as_str() };
    let capability = Capability::new(CapabilityKind::Issuer, namespace, text);
    collector.need(&Needing { soft: true, ..needing.clone() }, capability, entry.value.span, Purpose::Certificate);
}

/// The annotation holds `name`, `namespace/name`, lists of those, or JSON.
fn note_networks(collector: &mut Collector, needing: &Needing<'_>, entry: &Entry, text: &str) {
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
        collector.need(needing, capability, entry.value.span, Purpose::StartPods);
    }
}
