//! Secrets that External Secrets copies out of the cluster itself: a store of provider `kubernetes` reads another namespace.

use std::collections::BTreeMap;

use ecow::EcoString;
use model::{Capability, CapabilityKind, ObjectRef, Phase, Purpose};
use yaml::Node;

use crate::content::collector::{Collector, Needing};
use crate::flux::Built;
use crate::object::Object;

/// Where External Secrets reads when a store says nothing.
const NAMESPACE: &str = "default";

/// What has an ExternalSecret of such a store needs the Secret that it is a copy of, where its maker is known.
pub(crate) fn read_all(collector: &mut Collector) {
    let objects = std::mem::take(&mut collector.assembled.objects);
    let stores: BTreeMap<ObjectRef, EcoString> = objects.iter().filter_map(store).collect();
    for built in objects.iter().filter(|_| !stores.is_empty()) {
        if Object::new(&built.node).is("external-secrets.io", "ExternalSecret") {
            copied(collector, built, &stores);
        }
    }
    collector.assembled.objects = objects;
}

/// A store that reads this cluster, and the namespace it reads. One with an address reads another cluster.
fn store(built: &Built) -> Option<(ObjectRef, EcoString)> {
    let object = Object::new(&built.node);
    let provider =
        built.node.at(&["spec", "provider", "kubernetes"]).filter(|_| object.kind().ends_with("SecretStore"))?;
    let address = provider.text_at(&["server", "url"]).unwrap_or_default();
    let is_here = address.is_empty() || address.contains("kubernetes.default");
    let namespace = provider.text_at(&["remoteNamespace"]).unwrap_or(NAMESPACE);
    is_here.then(|| (object.reference(&built.namespace), namespace.into()))
}

fn copied(collector: &mut Collector, built: &Built, stores: &BTreeMap<ObjectRef, EcoString>) {
    let own = Object::new(&built.node).reference(&built.namespace);
    let Some(spec) = built.node.get("spec") else { return };
    let usual = spec.get("secretStoreRef").and_then(|reference| read_by(reference, &own, stores));
    let workload = collector.workload(built.component, &built.node);
    let needing = Needing { of: workload, object: &own, phase: Phase::Ready, soft: false, optional: false };
    for item in ["data", "dataFrom"].iter().flat_map(|list| spec.items_at(list)) {
        let from = item.at(&["sourceRef", "storeRef"]);
        let namespace = from.map_or(usual, |reference| read_by(reference, &own, stores));
        let key = item.at(&["remoteRef", "key"]).or_else(|| item.at(&["extract", "key"]));
        if let Some((namespace, key)) = namespace.zip(key) {
            let name = key.text().unwrap_or_default();
            let capability = Capability::new(CapabilityKind::Secret, namespace.clone(), name);
            if collector.is_offered(&capability) {
                collector.need(&needing, capability, key.span, Purpose::Fill);
            }
        }
    }
}

/// The namespace that the store of a reference reads.
fn read_by<'s>(reference: &Node, own: &ObjectRef, stores: &'s BTreeMap<ObjectRef, EcoString>) -> Option<&'s EcoString> {
    let kind = reference.text_at(&["kind"]).unwrap_or("SecretStore");
    let namespace = if kind == "ClusterSecretStore" { EcoString::new() } else { own.namespace.clone() };
    stores.get(&ObjectRef::new(kind, namespace, reference.text_at(&["name"])?))
}
