//! Custom resources that are a part of another one: a Database of its Cluster, a client of its identity provider. Which kinds
//! those are is said by the catalogue.

use std::collections::BTreeMap;

use catalogue::{Catalogue, Made, Satellite};
use model::{Capability, CapabilityKind, ObjectRef, Phase, Purpose};

use crate::content::collector::{Collector, Needing};
use crate::flux::Built;
use crate::object::Object;

/// The objects of each kind, as `group/Kind`.
type Instances = BTreeMap<String, Vec<ObjectRef>>;

pub(crate) fn read_all(collector: &mut Collector, catalogue: &Catalogue) {
    let known: BTreeMap<&str, &Satellite> = (catalogue.components().iter())
        .flat_map(|component| &component.satellites)
        .flat_map(|satellite| satellite.kinds.iter().map(move |kind| (kind.as_str(), satellite)))
        .collect();
    let objects = std::mem::take(&mut collector.assembled.objects);
    let mut instances = Instances::new();
    for built in &objects {
        let own = Object::new(&built.node).reference(&built.namespace);
        instances.entry(kind(built)).or_default().push(own);
    }
    for built in &objects {
        if let Some(satellite) = known.get(kind(built).as_str()) {
            needs(collector, built, satellite, &instances);
        }
    }
    collector.assembled.objects = objects;
}

fn kind(built: &Built) -> String {
    let object = Object::new(&built.node);
    format!("{}/{}", object.group(), object.kind())
}

fn needs(collector: &mut Collector, built: &Built, satellite: &Satellite, instances: &Instances) {
    let own = Object::new(&built.node).reference(&built.namespace);
    let known = instances.get(&satellite.of).map(Vec::as_slice).unwrap_or_default();
    let workload = collector.workload(built.component, &built.node);
    let needing = Needing { of: workload, object: &own, phase: Phase::Ready, soft: false, optional: false };
    for instance in meant(built, satellite, &own, known) {
        let name = ecow::eco_format!("{} {}", instance.kind, instance.name);
        let capability = Capability::new(CapabilityKind::Object, instance.namespace.clone(), name);
        collector.need(&needing, capability, Object::new(&built.node).kind_span(), Purpose::PartOf);
    }
}

/// The instances that it names, as `name` or `namespace/name`; the only one there is where it names none.
fn meant<'i>(built: &Built, satellite: &Satellite, own: &ObjectRef, known: &'i [ObjectRef]) -> Vec<&'i ObjectRef> {
    let follow = |pattern: &Option<String>| {
        pattern.as_deref().map(|pattern| Made::all_names(pattern, &built.node)).unwrap_or_default()
    };
    let names = follow(&satellite.name);
    if names.is_empty() {
        return if known.len() == 1 { known.iter().collect() } else { Vec::new() };
    }
    let beside = follow(&satellite.namespace).into_iter().next();
    let beside = beside.unwrap_or_else(|| own.namespace.to_string());
    let is_meant = |instance: &&ObjectRef| {
        names.iter().any(|name| {
            let (namespace, name) = name.split_once('/').unwrap_or((&beside, name));
            instance.name == name && instance.namespace == namespace
        })
    };
    known.iter().filter(is_meant).collect()
}
