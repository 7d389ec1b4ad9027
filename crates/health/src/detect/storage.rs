//! Storage: drivers on nodes, classes, claims, attachments.

use std::collections::BTreeSet;
use std::time::Duration;

use ecow::EcoString;

use crate::detect::Found;
use crate::facts::{Claim, ObjectKey, Workload};
use crate::known;
use crate::status::{Because, LayerName, Problem, State, What};
use crate::symptom::Symptom;
use crate::view::{View, key};

const LAYER: LayerName = LayerName::Storage;
/// A claim may wait so long for its volume.
const BINDING: Duration = Duration::from_secs(90);
/// A driver registers within seconds of its pod's start.
const REGISTERING: Duration = Duration::from_mins(1);
const RECENT: Duration = Duration::from_mins(15);

fn class_key(name: &str) -> ObjectKey {
    ObjectKey::new("storage.k8s.io", "StorageClass", "", name)
}

pub(super) fn driver_key(name: &str) -> ObjectKey {
    ObjectKey::new("storage.k8s.io", "CSIDriver", "", name)
}

pub(super) fn detect(view: &View<'_>, found: &mut Found) {
    let facts = view.facts;
    let has_storage = !facts.storage_classes.is_empty() || !facts.csi_drivers.is_empty() || !facts.claims.is_empty();
    if !has_storage && facts.storage_classes.is_whole() {
        return;
    }
    found.needs(LAYER, &facts.storage_classes);
    found.needs(LAYER, &facts.csi_nodes);
    found.needs(LAYER, &facts.claims);
    let defaults = facts.storage_classes.iter().filter(|it| it.default).count();
    if facts.storage_classes.is_whole() {
        found.count(LAYER, What::DefaultClasses, defaults, 1);
    }
    drivers(view, found);
    claims(view, found);
    attachments(view, found);
}

/// Words of a name that tell one driver from another.
fn words(name: &str) -> BTreeSet<&str> {
    const COMMON: [&str; 12] =
        ["csi", "com", "io", "org", "net", "driver", "plugin", "node", "k8s", "storage", "kube", "system"];
    name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 2 && !COMMON.contains(word)).collect()
}

/// The DaemonSet that registers a driver: the only one there is, or the one that shares a word with it.
fn plugin<'a>(view: &View<'a>, driver: &str) -> Option<&'a Workload> {
    let sets: Vec<&Workload> = view.facts.daemon_sets.iter().filter(|it| known::registers_driver(&it.images)).collect();
    let wanted = words(driver);
    let shares = |set: &&&Workload| {
        let texts = [&*set.meta.name, &*set.meta.namespace];
        let images = set.images.iter().filter(|image| !image.contains("node-driver-registrar"));
        texts
            .into_iter()
            .chain(images.map(|image| &**image))
            .any(|text| words(text).iter().any(|word| wanted.contains(word)))
    };
    let sharing: Vec<&&Workload> = sets.iter().filter(shares).collect();
    match (sharing[..].first(), sharing.len(), sets.len()) {
        (Some(set), 1, _) => Some(**set),
        (_, 0, 1) => sets.first().copied(),
        _ => None,
    }
}

/// The Deployment that provisions for a driver.
fn provisioners(view: &View<'_>, driver: &str) -> Vec<(ObjectKey, Because)> {
    let wanted = words(driver);
    let is = |it: &&&Workload| {
        let name = [&*it.meta.name, &*it.meta.namespace];
        let shares = name.iter().any(|text| words(text).iter().any(|word| wanted.contains(word)));
        shares && (known::provisions(&it.images) || known::layer(&it.meta, &it.images) == LAYER)
    };
    view.workloads().iter().filter(is).map(|it| (key(it), Because::Controller)).collect()
}

fn drivers(view: &View<'_>, found: &mut Found) {
    let facts = view.facts;
    let (mut good, mut of) = (0, 0);
    for driver in &facts.csi_drivers {
        let name = &driver.meta.name;
        let Some(set) = plugin(view, name) else { continue };
        let own = key(set);
        let is_used = facts.storage_classes.iter().any(|it| it.provisioner == *name);
        if set.have.desired_number_scheduled == Some(0) && is_used && !facts.nodes.is_empty() {
            let selector: Vec<String> = set.node_selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
            let symptom = Symptom::new(LAYER, own.clone(), Problem::NobodyWanted)
                .shows("status.desiredNumberScheduled", "0", facts.daemon_sets.seen)
                .shows("spec.template.spec.nodeSelector", selector.join(","), None);
            found.add(symptom);
        }
        let mut lacking: Vec<EcoString> = Vec::new();
        let mut waits: Vec<(ObjectKey, Because)> = Vec::new();
        let mut is_ready_there = false;
        for pod in view.pods_of(&own).iter().filter(|pod| !pod.is_over() && !pod.node.is_empty()) {
            let Some(node) = facts.csi_nodes.iter().find(|it| it.meta.name == pod.node) else { continue };
            of += 1;
            if node.drivers.iter().any(|it| it.name == *name) {
                good += 1;
            } else if pod.is_ready() && view.is_older(pod.running_since(), REGISTERING) {
                is_ready_there = true;
                lacking.push(pod.node.clone());
            } else {
                lacking.push(pod.node.clone());
                waits.push((pod.meta.key("", "Pod"), Because::Backend));
            }
        }
        if set.have.desired_number_scheduled == Some(0) && is_used {
            waits.push((own.clone(), Because::Backend));
            lacking.extend(facts.nodes.iter().map(|it| it.meta.name.clone()));
        }
        if lacking.is_empty() {
            continue;
        }
        lacking.sort();
        lacking.dedup();
        let mut symptom = Symptom::new(
            LAYER,
            driver_key(name),
            Problem::DriverNotRegistered { driver: name.clone(), nodes: lacking.clone() },
        )
        .state(State::Degraded);
        if !is_ready_there {
            symptom = symptom.edges(waits);
        }
        for node in lacking.iter().take(3) {
            let object = ObjectKey::new("storage.k8s.io", "CSINode", "", node);
            symptom =
                symptom.shows_of(object, "spec.drivers", ecow::eco_format!("without {name}"), facts.csi_nodes.seen);
        }
        found.add(symptom);
    }
    found.count(LAYER, What::DriversOnNodes, good, of);
}

fn claims(view: &View<'_>, found: &mut Found) {
    let mut good = 0;
    for claim in &view.facts.claims {
        let object = claim.meta.key("", "PersistentVolumeClaim");
        match &*claim.phase {
            "Bound" => good += 1,
            "Lost" => {
                let symptom = Symptom::new(LAYER, object, Problem::ClaimLost).shows("status.phase", "Lost", None);
                found.add(symptom.edge(ObjectKey::new("", "PersistentVolume", "", &claim.volume), Because::Names));
            }
            _ => match pending(view, claim, found) {
                Some(symptom) => found.add(symptom),
                // It waits for its first pod, as it should.
                None => good += 1,
            },
        }
    }
    found.count(LAYER, What::Claims, good, view.facts.claims.len());
}

fn is_used(view: &View<'_>, claim: &Claim) -> bool {
    let mut pods = view.facts.pods.iter().filter(|pod| pod.meta.namespace == claim.meta.namespace && !pod.is_over());
    pods.any(|pod| pod.needs.claims.contains(&claim.meta.name))
}

fn pending(view: &View<'_>, claim: &Claim, found: &mut Found) -> Option<Symptom> {
    let classes = &view.facts.storage_classes;
    let class = match &claim.class {
        Some(name) => classes.iter().find(|it| it.meta.name == *name),
        None => classes.iter().find(|it| it.default),
    };
    if class.is_some_and(|it| it.waits_for_consumer) && claim.selected_node.is_empty() && !is_used(view, claim) {
        return None;
    }
    let object = claim.meta.key("", "PersistentVolumeClaim");
    let name = claim.class.clone().unwrap_or_default();
    let mut symptom = Symptom::new(LAYER, object.clone(), Problem::ClaimPending { class: name.clone() })
        .shows("status.phase", claim.phase.clone(), claim.meta.created)
        .progressing_if(!view.is_older(claim.meta.created, BINDING));
    if let Some(event) = view.event(&object, &["ProvisioningFailed"], RECENT) {
        symptom = symptom.shows_of(object, "event ProvisioningFailed", event.message.clone(), event.last);
    }
    if claim.class.is_some() && !name.is_empty() {
        found.named(view, &class_key(&name), LAYER);
        symptom.add(class_key(&name), Because::Names);
    }
    if claim.class.is_none() && class.is_none() && classes.is_whole() {
        symptom.problem = Problem::NoDefaultClass;
        symptom = symptom.shows_of(class_key("default"), "metadata.annotations", "none is the default", classes.seen);
    }
    if let Some(class) = class {
        symptom =
            symptom.edge(driver_key(&class.provisioner), Because::Driver).edges(provisioners(view, &class.provisioner));
    }
    if !claim.selected_node.is_empty() && !view.is_ready_node(&claim.selected_node) {
        symptom.add(super::nodes::node_key(&claim.selected_node), Because::Node);
    }
    Some(symptom)
}

fn attachments(view: &View<'_>, found: &mut Found) {
    for it in &view.facts.attachments {
        let is_lost =
            it.attached && !it.node.is_empty() && view.facts.nodes.is_whole() && !view.is_ready_node(&it.node);
        if it.attach_error.is_empty() && !(is_lost && it.meta.deleted.is_some()) {
            continue;
        }
        let object = it.meta.key("storage.k8s.io", "VolumeAttachment");
        let problem = Problem::AttachFailed { message: it.attach_error.clone() };
        let symptom = Symptom::new(LAYER, object, problem)
            .state(State::Degraded)
            .shows("status.attachError", it.attach_error.clone(), it.meta.created)
            .edge(driver_key(&it.attacher), Because::Driver)
            .edge(super::nodes::node_key(&it.node), Because::Node);
        found.add(symptom.progressing_if(!view.is_older(it.meta.created, BINDING)));
    }
}
