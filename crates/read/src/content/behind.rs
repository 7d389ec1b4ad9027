//! Needs behind needs: a claim waits for the driver behind its class, and a Secret that an operator makes for the operator.

use std::collections::BTreeMap;

use ecow::EcoString;
use model::{Capability, CapabilityKind, ComponentId, ObjectRef, Phase, Role};

use crate::content::sink::{Needing, Sink};
use crate::object::Object;
use yaml::Node;

pub(crate) fn read_all(sink: &mut Sink) {
    drivers(sink);
    operators(sink);
}

/// A class that is a manifest of its own is there at once, and makes no volume before its driver runs.
fn drivers(sink: &mut Sink) {
    let mut provisioners: BTreeMap<EcoString, EcoString> = BTreeMap::new();
    for built in &sink.assembled.objects {
        let object = Object::new(&built.node);
        if object.kind() == "StorageClass" {
            let driver = built.node.get("provisioner").and_then(|driver| driver.text()).unwrap_or_default();
            provisioners.insert(object.name().into(), driver.into());
        }
    }
    if provisioners.is_empty() {
        return;
    }
    for need in sink.cluster().needs.clone() {
        let driver =
            provisioners.get(&need.capability.name).filter(|_| need.capability.kind == CapabilityKind::StorageClass);
        let Some(driver) = driver else { continue };
        let capability = Capability::cluster(CapabilityKind::CsiDriver, driver.clone());
        if sink.is_offered(&capability) {
            let needing = Needing {
                of: need.of,
                object: &need.object,
                phase: need.phase,
                soft: need.soft,
                optional: need.optional,
            };
            sink.need(&needing, capability, need.at, "for its volumes");
        }
    }
}

/// The kind that a claim is filled from, where that is a custom resource.
fn populator(claim: &Node) -> Option<(&str, &str)> {
    let from = claim.at(&["spec", "dataSourceRef"]).or_else(|| claim.at(&["spec", "dataSource"]))?;
    Some((from.get("apiGroup")?.text()?, from.get("kind")?.text()?))
}

/// What an operator makes of an object beside a release is not there before the operator is.
fn operators(sink: &mut Sink) {
    let mut kinds: BTreeMap<(ComponentId, ObjectRef), Capability> = BTreeMap::new();
    for need in sink.cluster().needs.iter().filter(|need| need.capability.kind == CapabilityKind::Crd) {
        kinds.insert((need.of, need.object.clone()), need.capability.clone());
    }
    for built in &sink.assembled.objects {
        if let Some((group, kind)) = populator(&built.node) {
            let own = Object::new(&built.node).reference(&built.namespace);
            kinds.insert((built.component, own), Capability::crd(group, kind));
        }
    }
    let mut found = Vec::new();
    let cluster = sink.cluster();
    let mut made: BTreeMap<(&Capability, ComponentId), &ObjectRef> = BTreeMap::new();
    for offer in &cluster.offers {
        made.insert((&offer.capability, offer.by), &offer.object);
    }
    for need in &cluster.needs {
        let of = cluster.component(need.of);
        let Some(parent) = of.parent.filter(|_| of.role == Role::HelmRelease) else { continue };
        if let Some(object) = made.get(&(&need.capability, parent))
            && let Some(kind) = kinds.get(&(parent, (*object).clone()))
        {
            found.push((need.clone(), kind.clone()));
        }
    }
    for (need, kind) in found {
        let needing = Needing {
            of: need.of,
            object: &need.object,
            phase: Phase::Ready,
            soft: need.soft,
            optional: need.optional,
        };
        sink.need(&needing, kind, need.at, ecow::eco_format!("whose controller makes {}", need.capability));
    }
}
