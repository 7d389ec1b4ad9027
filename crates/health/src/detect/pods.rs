//! Pods that do not run as they should, and what they name.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ecow::EcoString;

use crate::Time;
use crate::detect::Found;
use crate::detect::gitops::edges_of_message;
use crate::detect::nodes::node_key;
use crate::facts::{Container, ObjectKey, Phase, Pod, State as Doing, Truth, condition};
use crate::known;
use crate::message;
use crate::status::{Because, LayerName, Problem, State};
use crate::symptom::Symptom;
use crate::view::{View, key};

/// So long a pod may look for a node before it counts.
const SCHEDULING: Duration = Duration::from_secs(30);
/// So long images, volumes and probes may take.
const STARTING: Duration = Duration::from_mins(3);
const DELETION: Duration = Duration::from_mins(10);
const RECENT: Duration = Duration::from_mins(15);
/// Restarts that are no accident any more.
const CRASHES_MIN: u32 = 2;

/// Stands for a registry outside of the cluster.
fn registry_key(host: &str) -> ObjectKey {
    ObjectKey::new("", "Registry", "", host)
}

pub(super) fn detect(view: &View<'_>, found: &mut Found) {
    found.needs(LayerName::Applications, &view.facts.pods);
    let mut registries: BTreeMap<EcoString, Vec<(ObjectKey, EcoString)>> = BTreeMap::new();
    let agents = agents(found);
    for pod in &view.facts.pods {
        let Some(symptom) = one(view, pod, found, &agents) else { continue };
        if let Problem::Waiting { reason, message, .. } = &symptom.problem
            && reason.contains("Image")
            && message::is_registry_down(message)
            && let Some(image) = pulled(pod)
        {
            let host = message::registry(&image);
            registries.entry(host.into()).or_default().push((symptom.object.clone(), message.clone()));
            found.add(symptom.edge(registry_key(host), Because::Names));
            continue;
        }
        found.add(symptom);
    }
    for (host, pods) in registries {
        let message = pods.first().map(|(_, message)| message.clone()).unwrap_or_default();
        let problem = Problem::NotReady { reason: "Image".into(), message };
        let mut symptom = Symptom::new(LayerName::Platform, registry_key(&host), problem);
        for (pod, message) in pods.iter().take(3) {
            symptom =
                symptom.shows_of(pod.clone(), "status.containerStatuses.state.waiting.message", message.clone(), None);
        }
        found.add(symptom);
    }
}

/// Agents of nodes that have something to say.
fn agents(found: &Found) -> BTreeSet<ObjectKey> {
    found.symptoms.iter().filter(|it| it.object.kind == "Agent").map(|it| it.object.clone()).collect()
}

/// The image that could not be pulled.
fn pulled(pod: &Pod) -> Option<EcoString> {
    let waits = |it: &&Container| matches!(&it.state, Doing::Waiting { reason, .. } if reason.contains("Image"));
    pod.containers.iter().find(waits).map(|it| it.image.clone())
}

struct Trouble {
    problem: Problem,
    state: State,
    text: EcoString,
    field: &'static str,
    since: Option<Time>,
}

fn one(view: &View<'_>, pod: &Pod, found: &mut Found, agents: &BTreeSet<ObjectKey>) -> Option<Symptom> {
    let trouble = trouble(view, pod)?;
    let controller = view.controller(pod);
    let layer = view.layer_of(&controller, pod);
    let object = pod.meta.key("", "Pod");
    let mut symptom = Symptom::new(layer, object.clone(), trouble.problem).state(trouble.state).shows(
        trouble.field,
        trouble.text.clone(),
        trouble.since,
    );
    symptom.shown = controller;
    let mut edges = edges_of_message(view, found, &trouble.text, &pod.meta.namespace);
    if !is_running(pod) {
        let events = ["FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "FailedScheduling"];
        if let Some(event) = view.event(&object, &events, RECENT) {
            edges.extend(edges_of_message(view, found, &event.message, &pod.meta.namespace));
            symptom = symptom.shows("event", event.message.clone(), event.last);
        }
        edges.extend(named(view, pod, found));
    }
    edges.extend(on_node(view, pod, agents));
    if matches!(symptom.problem, Problem::Unschedulable { .. }) {
        edges.extend(placement(view, pod, &trouble.text));
    }
    if matches!(symptom.problem, Problem::NotScheduled) {
        edges.push((super::api::lease("kube-scheduler"), Because::Controller));
    }
    let is_above_dns = !matches!(layer, LayerName::Api | LayerName::Nodes | LayerName::Network | LayerName::Dns);
    let may_resolve = matches!(symptom.problem, Problem::Crashing { .. } | Problem::PodNotReady);
    if may_resolve && is_above_dns && !pod.host_network {
        edges.extend(super::dns::resolvers(view).into_iter().map(|it| (it, Because::Resolves)));
    }
    edges.extend(own_operator(view, pod, &symptom));
    Some(symptom.edges(edges))
}

/// An agent waits for its operator, which registers what the agent needs.
fn own_operator(view: &View<'_>, pod: &Pod, symptom: &Symptom) -> Vec<(ObjectKey, Because)> {
    let is_agent = view.workload(&symptom.shown).is_some_and(|it| known::is_agent(&it.meta));
    if !is_agent {
        return Vec::new();
    }
    let operators = view.workloads().iter().filter(|it| {
        it.meta.namespace == pod.meta.namespace
            && (it.meta.labels.is("io.cilium/app", "operator") || it.meta.name == "cilium-operator")
    });
    operators.map(|it| (key(it), Because::Controller)).collect()
}

fn is_running(pod: &Pod) -> bool {
    pod.phase == Phase::Running && pod.containers.iter().any(|it| matches!(it.state, Doing::Running { .. }))
}

/// What is wrong with it, if it has had its time.
fn trouble(view: &View<'_>, pod: &Pod) -> Option<Trouble> {
    if let Some(deleted) = pod.meta.deleted {
        let is_stuck = view.is_older(Some(deleted), DELETION) && !pod.meta.finalizers.is_empty();
        let problem = Problem::DeletionStuck { finalizers: pod.meta.finalizers.join(", ").into() };
        let text = EcoString::from("set");
        let field = "metadata.deletionTimestamp";
        return is_stuck.then_some(Trouble { problem, state: State::Degraded, text, field, since: Some(deleted) });
    }
    // What is over is its controller's business.
    if pod.is_over() || pod.is_ready() {
        return (pod.meta.labels.is("vault-sealed", "true") && !pod.is_over()).then(|| sealed_vault(pod));
    }
    pod.containers.iter().find_map(|it| in_container(view, pod, it)).or_else(|| before_containers(view, pod)).or_else(
        || {
            if pod.meta.labels.is("vault-sealed", "true") {
                return Some(sealed_vault(pod));
            }
            let ready = condition(&pod.conditions, "Ready")?;
            let since = ready.since.or(pod.started);
            let is_young = !view.is_older(since, STARTING);
            let state = if is_young { State::Progressing } else { State::Failed };
            let (text, field) = (ready.message.clone(), "status.conditions");
            Some(Trouble { problem: Problem::PodNotReady, state, text, field, since })
        },
    )
}

fn sealed_vault(pod: &Pod) -> Trouble {
    Trouble {
        problem: Problem::NotReady { reason: "Sealed".into(), message: EcoString::new() },
        state: State::Failed,
        text: "vault-sealed=true".into(),
        field: "metadata.labels",
        since: condition(&pod.conditions, "Ready").and_then(|it| it.since),
    }
}

fn in_container(view: &View<'_>, pod: &Pod, it: &Container) -> Option<Trouble> {
    let ready_since = condition(&pod.conditions, "Ready").and_then(|it| it.since).or(pod.started);
    let ended = |state: Option<&Doing>| match state {
        Some(Doing::Terminated { exit_code, reason, message, finished }) => {
            Some((*exit_code, reason.clone(), message.clone(), *finished))
        }
        _ => None,
    };
    let crashing = |(exit_code, reason, message, finished): (i32, EcoString, EcoString, Option<Time>)| {
        let text =
            if message.is_empty() { ecow::eco_format!("exit code {exit_code} {reason}") } else { message.clone() };
        let problem = Problem::Crashing { container: it.name.clone(), exit_code, reason, message };
        let state = if it.restarts < CRASHES_MIN { State::Progressing } else { State::Failed };
        let since = ready_since.or(finished);
        Trouble { problem, state, text, field: "status.containerStatuses.lastState.terminated", since }
    };
    match &it.state {
        Doing::Waiting { reason, message } if reason == "CrashLoopBackOff" => {
            let (exit_code, why, last, at) =
                ended(it.last.as_ref()).unwrap_or((0, reason.clone(), message.clone(), None));
            Some(crashing((exit_code, why, last, at)))
        }
        Doing::Terminated { exit_code, .. } if *exit_code != 0 && it.restarts > 0 => {
            ended(Some(&it.state)).map(crashing)
        }
        Doing::Waiting { reason, message } if reason != "PodInitializing" => {
            let is_start = reason == "ContainerCreating";
            let state = if is_start && !view.is_older(pod.started.or(pod.meta.created), STARTING) {
                State::Progressing
            } else {
                State::Failed
            };
            let problem =
                Problem::Waiting { container: it.name.clone(), reason: reason.clone(), message: message.clone() };
            let text = if message.is_empty() { reason.clone() } else { message.clone() };
            let field = "status.containerStatuses.state.waiting";
            Some(Trouble { problem, state, text, field, since: pod.started.or(pod.meta.created) })
        }
        // An init container that runs for long keeps the others from starting.
        Doing::Running { since } if it.init && !it.ready && pod.phase == Phase::Pending => {
            let state = if view.is_older(*since, STARTING) { State::Failed } else { State::Progressing };
            let (text, field) = (EcoString::from("running"), "status.initContainerStatuses.state");
            let problem =
                Problem::Waiting { container: it.name.clone(), reason: "Init".into(), message: EcoString::new() };
            Some(Trouble { problem, state, text, field, since: *since })
        }
        _ => None,
    }
}

/// No container was started yet.
fn before_containers(view: &View<'_>, pod: &Pod) -> Option<Trouble> {
    if !matches!(pod.phase, Phase::Pending | Phase::None) {
        return None;
    }
    let created = pod.meta.created;
    let aged = |limit| if view.is_older(created, limit) { State::Failed } else { State::Progressing };
    match condition(&pod.conditions, "PodScheduled") {
        Some(it) if it.status == Truth::False => Some(Trouble {
            problem: Problem::Unschedulable { message: it.message.clone() },
            state: aged(SCHEDULING),
            text: it.message.clone(),
            field: "status.conditions",
            since: it.since.or(created),
        }),
        None if pod.node.is_empty() => Some(Trouble {
            problem: Problem::NotScheduled,
            state: aged(SCHEDULING * 4),
            text: EcoString::new(),
            field: "spec.nodeName",
            since: created,
        }),
        _ => {
            let problem = Problem::Waiting {
                container: EcoString::new(),
                reason: "ContainerCreating".into(),
                message: EcoString::new(),
            };
            let text = EcoString::from("Pending");
            Some(Trouble { problem, state: aged(STARTING), text, field: "status.phase", since: created })
        }
    }
}

/// Secrets, ConfigMaps and claims without which it can't start.
fn named(view: &View<'_>, pod: &Pod, found: &mut Found) -> Vec<(ObjectKey, Because)> {
    let needs = &pod.needs;
    let of = |kind: &'static str, names: &[EcoString]| {
        names.iter().map(|name| ObjectKey::new("", kind, &pod.meta.namespace, name)).collect::<Vec<_>>()
    };
    let mut keys = of("Secret", &needs.secrets);
    keys.extend(of("ConfigMap", &needs.config_maps));
    keys.extend(of("PersistentVolumeClaim", &needs.claims));
    for key in &keys {
        found.named(view, key, known::layer_of_kind(key).unwrap_or(LayerName::Applications));
    }
    keys.into_iter().map(|key| (key, Because::Names)).collect()
}

/// Its node, where that is lost, and the node's network.
fn on_node(view: &View<'_>, pod: &Pod, agents: &BTreeSet<ObjectKey>) -> Vec<(ObjectKey, Because)> {
    if pod.node.is_empty() {
        return Vec::new();
    }
    let node = view.nodes.get(&*pod.node);
    let waits_for_network = node
        .and_then(|node| node.ready())
        .is_some_and(|it| it.message.contains("NetworkPluginNotReady") || it.message.contains("cni plugin"));
    let mut edges = Vec::new();
    if !waits_for_network {
        // Only a node that is not ready or not heard from has a symptom that stops what runs on it.
        let is_down = node.is_none() || !view.is_ready_node(&pod.node) || is_silent(view, &pod.node);
        edges.extend(is_down.then(|| (node_key(&pod.node), Because::Node)));
    }
    if !pod.host_network {
        let here = super::network::agents_on(view, &pod.node).filter(|it| agents.contains(it));
        edges.extend(here.map(|it| (it, Because::NodeNetwork)));
    }
    edges
}

fn is_silent(view: &View<'_>, node: &str) -> bool {
    view.node_lease(node).is_some_and(|it| view.is_lapsed(it, super::nodes::SILENT))
}

/// What the scheduler names: taints of nodes, cordons, claims.
fn placement(view: &View<'_>, pod: &Pod, text: &str) -> Vec<(ObjectKey, Because)> {
    let mut edges = Vec::new();
    let tainted = message::taints(text);
    for node in view.facts.nodes.iter().filter(|node| node.taints.iter().any(|it| tainted.contains(&&*it.key))) {
        edges.push((node_key(&node.meta.name), Because::Node));
    }
    if text.contains("were unschedulable") {
        let cordoned = view.facts.nodes.iter().filter(|it| it.unschedulable);
        edges.extend(cordoned.map(|it| (node_key(&it.meta.name), Because::Node)));
    }
    if text.contains("unbound immediate PersistentVolumeClaims") || text.contains("persistentvolumeclaim") {
        let claims = pod.needs.claims.iter();
        let namespace = &pod.meta.namespace;
        edges.extend(claims.map(|it| (ObjectKey::new("", "PersistentVolumeClaim", namespace, it), Because::Names)));
    }
    edges
}
