//! Secrets, ConfigMaps and claims that Helm values and custom resources name. Charts make objects of their own under
//! names like these, so a name counts only when something in the cluster is known to make it.

use model::{Capability, CapabilityKind, ComponentId, ObjectRef, Phase, Purpose};
use yaml::{Entry, Node, Value};

use crate::content::collector::{Collector, Needing};

pub(crate) fn scan(collector: &mut Collector, of: ComponentId, own: &ObjectRef, namespace: &str, node: &Node) {
    walk(collector, of, own, namespace, node, "");
}

fn walk(collector: &mut Collector, of: ComponentId, own: &ObjectRef, namespace: &str, node: &Node, parent_key: &str) {
    match &node.value {
        Value::Map(map) => {
            for entry in map {
                if let Some(text) = entry.value.text() {
                    note(collector, of, own, namespace, node, (entry, text), parent_key);
                } else {
                    walk(collector, of, own, namespace, &entry.value, &entry.key);
                }
            }
        }
        Value::Seq(items) => {
            for item in items {
                walk(collector, of, own, namespace, item, parent_key);
            }
        }
        Value::Scalar(_) => {}
    }
}

fn note(
    collector: &mut Collector,
    of: ComponentId,
    own: &ObjectRef,
    namespace: &str,
    around: &Node,
    (entry, text): (&Entry, &str),
    parent_key: &str,
) {
    let Some(kind) = meaning(&entry.key).or_else(|| (entry.key == "name").then(|| meaning(parent_key))?) else {
        return;
    };
    let namespace = around.get("namespace").and_then(Node::text).unwrap_or(namespace);
    let capability = Capability::new(kind, namespace, text);
    if collector.is_offered(&capability) {
        // What a backup is made with is looked for when one is made.
        let is_for_backups = entry.key.to_ascii_lowercase().contains("backup");
        let (phase, why) =
            if is_for_backups { (Phase::Run, Purpose::Backups) } else { (Phase::Ready, Purpose::StartPods) };
        let needing = Needing { of, object: own, phase, soft: is_for_backups, optional: false };
        collector.need(&needing, capability, entry.value.span, why);
    }
}

/// What a key of this name holds the name of.
fn meaning(key: &str) -> Option<CapabilityKind> {
    let says = |word: &str| key.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()));
    if says("secret") {
        Some(CapabilityKind::Secret)
    } else if says("configmap") {
        Some(CapabilityKind::ConfigMap)
    } else if key.eq_ignore_ascii_case("existingclaim") || key.eq_ignore_ascii_case("claimname") {
        Some(CapabilityKind::PersistentVolumeClaim)
    } else {
        None
    }
}
