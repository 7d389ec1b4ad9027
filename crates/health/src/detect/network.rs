//! The pod network: an agent on every node, of this boot.

use std::collections::BTreeMap;
use std::time::Duration;

use ecow::EcoString;

use crate::Time;
use crate::detect::Found;
use crate::detect::nodes::{agent_on, node_key};
use crate::facts::{Node, ObjectKey, Pod, Truth, Workload, condition};
use crate::known;
use crate::status::{Because, LayerName, Problem, State, What};
use crate::symptom::Symptom;
use crate::view::{View, key};

const LAYER: LayerName = LayerName::Network;
const AGENT_TAINT: &str = "node.cilium.io/agent-not-ready";
const STARTING: Duration = Duration::from_mins(3);

/// Stands for the agent of a cluster that has none.
pub(super) fn no_agent() -> ObjectKey {
    ObjectKey::new("", "PodNetwork", "", "agent")
}

/// Nodes of one agent, by what is wrong there.
#[derive(Default)]
struct Tally {
    ready: usize,
    of_this_boot: usize,
    booted: usize,
    missing: Vec<EcoString>,
    before: Vec<(EcoString, Option<Time>)>,
}

pub(super) fn detect(view: &View<'_>, found: &mut Found) {
    found.needs(LAYER, &view.facts.daemon_sets);
    found.needs(LAYER, &view.facts.pods);
    let agents: Vec<&Workload> = view.facts.daemon_sets.iter().filter(|it| known::is_agent(&it.meta)).collect();
    for agent in &agents {
        one(view, agent, found);
    }
    if agents.is_empty() && view.facts.daemon_sets.is_whole() {
        none(view, found);
    }
}

/// No agent that is known: a fault only where nodes say that they wait for one.
fn none(view: &View<'_>, found: &mut Found) {
    let waits =
        |node: &&Node| node.ready().is_some_and(|it| it.status != Truth::True && it.message.contains("cni plugin"));
    let waiting: Vec<&Node> = view.facts.nodes.iter().filter(waits).collect();
    let Some(first) = waiting.first().and_then(|node| node.ready().map(|ready| (node, ready))) else { return };
    let symptom = Symptom::new(LAYER, no_agent(), Problem::NoAgent)
        .shows_of(node_key(&first.0.meta.name), "status.conditions", first.1.message.clone(), first.1.since)
        .progressing_if(!view.is_older(first.1.since, STARTING));
    found.add(symptom);
    found.count(LAYER, What::Agents, 0, view.facts.nodes.len());
}

fn one(view: &View<'_>, agent: &Workload, found: &mut Found) {
    let own = key(agent);
    let want = agent.have.desired_number_scheduled;
    if want == Some(0) && !view.facts.nodes.is_empty() {
        let selector: Vec<String> = agent.node_selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let symptom = Symptom::new(LAYER, own.clone(), Problem::NobodyWanted)
            .shows("status.desiredNumberScheduled", "0", view.facts.daemon_sets.seen)
            .shows("spec.template.spec.nodeSelector", selector.join(","), None);
        found.add(symptom);
    }
    let on: BTreeMap<&str, &Pod> =
        view.pods_of(&own).iter().filter(|pod| !pod.is_over()).map(|pod| (&*pod.node, *pod)).collect();
    let mut tally = Tally::default();
    for node in &view.facts.nodes {
        on_node(view, agent, node, on.get(&*node.meta.name).copied(), &mut tally, found);
    }
    let all = view.facts.nodes.len();
    found.count(LAYER, What::Agents, tally.ready, all);
    if tally.booted > 0 {
        found.count(LAYER, What::AgentsOfThisBoot, tally.of_this_boot, tally.booted);
    }
    if !tally.missing.is_empty() && want != Some(0) && view.facts.pods.is_whole() {
        let controller = super::api::lease("kube-controller-manager");
        let problem = Problem::AgentMissing { nodes: tally.missing.clone() };
        let mut symptom = Symptom::new(LAYER, own.clone(), problem)
            .state(if tally.ready == 0 { State::Failed } else { State::Degraded })
            .edge(controller, Because::Controller)
            .edges(tally.missing.iter().filter(|name| is_lost(view, name)).map(|node| (node_key(node), Because::Node)));
        let value = ecow::eco_format!("{} of {all}", want.unwrap_or_default());
        symptom = symptom.shows("status.desiredNumberScheduled", value, view.facts.daemon_sets.seen);
        for node in tally.missing.iter().take(3) {
            symptom = symptom.shows_of(node_key(node), "pods", "none of the agent", view.facts.pods.seen);
        }
        let is_young =
            |name: &EcoString| view.nodes.get(&**name).is_some_and(|it| !view.is_older(it.meta.created, STARTING));
        let is_on_its_way = |name: &EcoString| is_young(name) || is_replaced(view, agent, name);
        found.add(symptom.progressing_if(tally.missing.iter().all(is_on_its_way)));
    }
    if !tally.before.is_empty() {
        let nodes = tally.before.iter().map(|(node, _)| node.clone()).collect();
        let mut symptom = Symptom::new(LAYER, own, Problem::AgentBeforeBoot { nodes }).state(State::Degraded);
        for (node, since) in tally.before.iter().take(3) {
            symptom = symptom.shows_of(node_key(node), "status.nodeInfo.bootID", "not that of the agent", *since);
        }
        found.add(symptom);
    }
}

/// The agent is wanted on all nodes, and of this one it is only just not there: between the pod of before and the next one.
fn is_replaced(view: &View<'_>, agent: &Workload, node: &str) -> bool {
    let own = key(agent);
    let wanted = agent.have.desired_number_scheduled.and_then(|want| usize::try_from(want).ok());
    let fails = view.pods_of(&own).iter().any(|pod| pod.node == node && pod.is_over());
    let is_refused = view.event(&own, &["FailedCreate"], STARTING).is_some();
    wanted.is_some_and(|want| want >= view.facts.nodes.len()) && !fails && !is_refused && !is_lost(view, node)
}

/// The API server hears nothing from the node: what ran there is lost with it.
fn is_lost(view: &View<'_>, node: &str) -> bool {
    view.nodes.get(node).and_then(|node| node.ready()).is_some_and(|ready| ready.status == Truth::Unknown)
}

/// The agent on one node, and what stands for it there.
fn on_node(view: &View<'_>, agent: &Workload, node: &Node, pod: Option<&Pod>, tally: &mut Tally, found: &mut Found) {
    let name = &node.meta.name;
    let own = key(agent);
    let this_boot = pod.and_then(|pod| is_of_this_boot(view, agent, node, pod));
    if let Some(is) = this_boot {
        tally.booted += 1;
        tally.of_this_boot += usize::from(is);
    }
    let here = agent_on(&own, name);
    let (problem, to) = match pod {
        // A node that sends no heartbeats has lost its pods with it.
        None => {
            tally.missing.push(name.clone());
            (Problem::AgentMissing { nodes: vec![name.clone()] }, own)
        }
        Some(pod) if !pod.is_ready() => (Problem::PodNotReady, pod.meta.key("", "Pod")),
        Some(pod) if this_boot == Some(false) => {
            tally.before.push((name.clone(), pod.running_since()));
            (Problem::AgentBeforeBoot { nodes: vec![name.clone()] }, own)
        }
        Some(pod) => {
            tally.ready += 1;
            taint(view, agent, node, pod, found);
            return;
        }
    };
    let mut symptom = Symptom::new(LAYER, here, problem).state(State::Degraded).edge(to, Because::Backend);
    symptom.since = pod.and_then(|pod| condition(&pod.conditions, "Ready")).and_then(|it| it.since);
    symptom.shown = key(agent);
    // A pod that is being replaced has nothing to say of itself.
    let is_leaving = pod.is_some_and(|pod| pod.meta.deleted.is_some());
    found.add(symptom.progressing_if(is_leaving || (pod.is_none() && is_replaced(view, agent, name))));
}

/// Whether the agent has started since the node has: the boot id that Cilium wrote down, or an event of a reboot.
fn is_of_this_boot(view: &View<'_>, agent: &Workload, node: &Node, pod: &Pod) -> Option<bool> {
    let since = pod.running_since()?;
    if agent.meta.labels.is("k8s-app", "cilium") || agent.meta.name == "cilium" {
        let nodes = view.others("CiliumNode.cilium.io").into_iter().flatten();
        let wrote =
            nodes.filter(|it| it.meta.name == node.meta.name && !it.boot_id.is_empty()).map(|it| &it.boot_id).next();
        if let Some(wrote) = wrote.filter(|_| !node.boot_id.is_empty()) {
            return Some(*wrote == node.boot_id);
        }
    }
    let about = node_key(&node.meta.name);
    let reboot = view.event(&about, &["Rebooted"], Duration::from_hours(1))?;
    Some(reboot.last.is_none_or(|at| since > at))
}

/// Cilium's operator takes the taint away, not the agent.
fn taint(view: &View<'_>, agent: &Workload, node: &Node, pod: &Pod, found: &mut Found) {
    let Some(taint) = node.taint(AGENT_TAINT) else { return };
    let since = taint.since.or(pod.running_since());
    let operators = view.workloads().iter().filter(|it| {
        it.meta.namespace == agent.meta.namespace
            && (it.meta.labels.is("io.cilium/app", "operator") || it.meta.name == "cilium-operator")
    });
    let operators: Vec<_> = operators.map(|it| (key(it), Because::Controller)).collect();
    let symptom = Symptom::new(LAYER, node_key(&node.meta.name), Problem::AgentTaintStays)
        .state(State::Degraded)
        .shows("spec.taints", AGENT_TAINT, since)
        .shows_of(pod.meta.key("", "Pod"), "status.conditions", "Ready=True", pod.running_since())
        .edges(operators)
        .progressing_if(!view.is_older(since, Duration::from_mins(1)));
    found.add(symptom);
}

/// The agents on a node, as things that pods there wait for.
pub(super) fn agents_on<'a>(view: &'a View<'_>, node: &'a str) -> impl Iterator<Item = ObjectKey> + 'a {
    view.facts.daemon_sets.iter().filter(|it| known::is_agent(&it.meta)).map(move |it| agent_on(&key(it), node))
}
