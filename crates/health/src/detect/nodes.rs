//! Nodes: the expected ones, ready, heard from lately, and free for pods.

use std::time::Duration;

use crate::detect::Found;
use crate::detect::machines::machine_key;
use crate::facts::{Node, ObjectKey, Truth, condition};
use crate::known;
use crate::status::{Because, LayerName, Problem, State, What};
use crate::symptom::Symptom;
use crate::view::{View, key};

const LAYER: LayerName = LayerName::Nodes;
pub(super) const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";
/// A new node may take so long to become ready.
const STARTING: Duration = Duration::from_mins(3);
/// The kubelet renews its lease every ten seconds; forty without are a node that is gone.
pub(super) const SILENT: Duration = Duration::from_mins(1);

pub(super) fn node_key(name: &str) -> ObjectKey {
    ObjectKey::new("", "Node", "", name)
}

pub(super) fn detect(view: &View<'_>, found: &mut Found) {
    let nodes = &view.facts.nodes;
    found.needs(LAYER, nodes);
    let mut good = 0;
    for node in nodes {
        let before = found.symptoms.len();
        one(view, node, found);
        good += usize::from(found.symptoms.len() == before);
    }
    found.count(LAYER, What::Nodes, good, nodes.len());
    let Some(expected) = view.expected.filter(|it| !it.nodes.is_empty() && nodes.is_whole()) else { return };
    let gone: Vec<_> = expected.nodes.iter().filter(|name| !view.nodes.contains_key(&***name)).collect();
    found.count(LAYER, What::ExpectedNodes, expected.nodes.len() - gone.len(), expected.nodes.len());
    for name in gone {
        let symptom = Symptom::new(LAYER, node_key(name), Problem::Missing).state(State::Degraded);
        found.add(symptom.shows("metadata.name", name.clone(), nodes.seen).edge(machine_key(name), Because::Names));
    }
}

fn one(view: &View<'_>, node: &Node, found: &mut Found) {
    let object = node_key(&node.meta.name);
    let machine = (machine_key(&node.meta.name), Because::Names);
    if let Some(symptom) = readiness(view, node) {
        found.add(symptom.edges([machine]));
        return;
    }
    if let Some(taint) = node.taint(UNINITIALIZED).filter(|_| node.provider_id.is_empty()) {
        let since = taint.since.or(node.meta.created);
        let ccm = view.workloads().iter().filter(|it| it.meta.name.contains("cloud-controller-manager"));
        let ccm: Vec<_> = ccm.map(|it| (key(it), Because::Controller)).collect();
        let symptom = Symptom::new(LAYER, object.clone(), Problem::NodeUninitialized)
            .shows("spec.taints", UNINITIALIZED, since)
            .shows("spec.providerID", "", None)
            .edges(ccm)
            .progressing_if(!view.is_older(since, STARTING));
        found.add(symptom);
        return;
    }
    for pressure in ["MemoryPressure", "DiskPressure", "PIDPressure"] {
        if let Some(it) = condition(&node.conditions, pressure).filter(|it| it.status == Truth::True) {
            let problem = Problem::NodePressure { condition: it.kind.clone() };
            found.add(Symptom::new(LAYER, object.clone(), problem).state(State::Degraded).shows_condition(it));
        }
    }
    if node.unschedulable {
        let since = node.taint("node.kubernetes.io/unschedulable").and_then(|taint| taint.since);
        let symptom = Symptom::new(LAYER, object, Problem::NodeCordoned).state(State::Degraded);
        found.add(symptom.shows("spec.unschedulable", "true", since));
    }
}

/// Why it is not ready, or only says so from before.
fn readiness(view: &View<'_>, node: &Node) -> Option<Symptom> {
    let object = node_key(&node.meta.name);
    let ready = node.ready();
    let is_young = !view.is_older(node.meta.created, STARTING);
    if let Some(ready) = ready.filter(|it| it.status != Truth::True) {
        let (reason, message) = (ready.reason.clone(), ready.message.clone());
        let waits_for_network = message.contains("NetworkPluginNotReady") || message.contains("cni plugin");
        let symptom = Symptom::new(LAYER, object, Problem::NodeNotReady { reason, message })
            .shows_condition(ready)
            .progressing_if(is_young || (waits_for_network && !view.is_older(ready.since, STARTING)));
        let agents = view.workloads().iter().filter(|it| waits_for_network && known::is_agent(&it.meta));
        let agents: Vec<_> = agents.map(|it| (agent_on(&key(it), &node.meta.name), Because::NodeNetwork)).collect();
        let lacks = waits_for_network && agents.is_empty() && view.facts.daemon_sets.is_whole();
        return Some(symptom.edges(agents).edges(lacks.then(|| (super::network::no_agent(), Because::NodeNetwork))));
    }
    let lease = view.node_lease(&node.meta.name)?;
    if !view.is_lapsed(lease, SILENT) || is_young {
        return None;
    }
    let value = lease.renewed.map(|at| ecow::eco_format!("{at}")).unwrap_or_default();
    let symptom = Symptom::new(LAYER, object, Problem::NodeSilent { ready: ready.is_some() }).shows_of(
        lease.meta.key("coordination.k8s.io", "Lease"),
        "spec.renewTime",
        value,
        lease.renewed,
    );
    Some(match ready {
        Some(ready) => symptom.shows_condition(ready),
        None => symptom,
    })
}

/// A network agent on one node. It is no object of Kubernetes: its DaemonSet is, and its pod there, if there is one.
pub(super) fn agent_on(agent: &ObjectKey, node: &str) -> ObjectKey {
    ObjectKey { kind: "Agent".into(), name: ecow::eco_format!("{}@{node}", agent.name), ..agent.clone() }
}
