//! Deployments, DaemonSets, StatefulSets and Jobs: as kstatus sees them, and the pods that make the difference.

use std::time::Duration;

use crate::detect::Found;
use crate::detect::gitops::edges_of_message;
use crate::facts::{Condition, ObjectKey, Truth, Workload, Workloads, condition};
use crate::known;
use crate::kstatus;
use crate::status::{Because, LayerName, Problem, State, What};
use crate::symptom::Symptom;
use crate::view::{View, key};

/// So long a rollout may show no progress.
const ROLLING: Duration = Duration::from_mins(10);
const MAKING: Duration = Duration::from_mins(1);
const RECENT: Duration = Duration::from_mins(15);

pub(super) fn detect(view: &View<'_>, found: &mut Found) {
    let facts = view.facts;
    found.needs(LayerName::Applications, &facts.deployments);
    found.needs(LayerName::Applications, &facts.stateful_sets);
    found.needs(LayerName::Applications, &facts.daemon_sets);
    let mut tally: std::collections::BTreeMap<LayerName, (usize, usize)> = std::collections::BTreeMap::new();
    for workload in view.workloads() {
        let layer = known::layer(&workload.meta, &workload.images);
        let symptom = one(view, workload, layer, found);
        if workload.workload != Workloads::Job {
            let counts = tally.entry(layer).or_default();
            counts.0 += usize::from(symptom.is_none());
            counts.1 += 1;
        }
        if let Some(symptom) = symptom {
            found.add(symptom);
        }
    }
    for (layer, (good, of)) in tally {
        found.count(layer, What::Workloads, good, of);
    }
}

fn one(view: &View<'_>, it: &Workload, layer: LayerName, found: &mut Found) -> Option<Symptom> {
    let computed = kstatus::workload(it);
    if it.workload == Workloads::Job {
        return job(view, it, layer);
    }
    if computed.status == kstatus::Status::Current || it.paused {
        return None;
    }
    let own = key(it);
    let (have, want) = numbers(it);
    let mut symptom = Symptom::new(layer, own.clone(), Problem::TooFew { have, want });
    symptom.state = if have == 0 { State::Failed } else { State::Degraded };
    symptom = symptom.shows(ready_field(it), ecow::eco_format!("{have} of {want}"), since(it));
    let pods = view.pods_of(&own);
    let red: Vec<ObjectKey> = {
        let keys: std::collections::BTreeSet<ObjectKey> = pods.iter().map(|pod| pod.meta.key("", "Pod")).collect();
        found
            .symptoms
            .iter()
            .filter(|it| keys.contains(&it.object) && it.is_red())
            .map(|it| it.object.clone())
            .collect()
    };
    // Pods are what it is about: with one that fails, the fault is the pod's.
    if !red.is_empty() {
        return Some(symptom.edges(red.into_iter().map(|pod| (pod, Because::Owns))));
    }
    if let Some((object, failure)) = creation(view, it) {
        let (reason, message) = (failure.reason.clone(), failure.message.clone());
        let edges = edges_of_message(view, found, &message, &it.meta.namespace);
        symptom.problem = Problem::CannotCreatePods { reason, message: message.clone() };
        return Some(symptom.shows_of(object, "status.conditions", message, failure.since).edges(edges));
    }
    if let Some(event) = view.event(&own, &["FailedCreate"], RECENT) {
        let edges = edges_of_message(view, found, &event.message, &it.meta.namespace);
        let (reason, message) = (event.reason.clone(), event.message.clone());
        symptom.problem = Problem::CannotCreatePods { reason, message };
        return Some(symptom.shows("event FailedCreate", event.message.clone(), event.last).edges(edges));
    }
    let is_told_elsewhere = found.symptoms.iter().any(|other| other.object == own);
    if is_told_elsewhere {
        return None;
    }
    Some(numbers_only(view, it, symptom, &computed, pods.len()))
}

/// No pod fails: it is on its way, or nobody acts on it.
fn numbers_only(
    view: &View<'_>,
    it: &Workload,
    symptom: Symptom,
    computed: &kstatus::Computed,
    pods: usize,
) -> Symptom {
    let want = numbers(it).1;
    let is_short = i64::try_from(pods).unwrap_or(i64::MAX) < want && view.facts.pods.is_whole();
    let is_unseen = matches!(computed.reason, kstatus::Reason::LatestGenerationNotObserved { .. });
    let leader = super::api::lease("kube-controller-manager");
    if computed.status == kstatus::Status::Failed {
        return symptom.edge(leader, Because::Controller);
    }
    let young = !view.is_older(since(it), if is_short { MAKING } else { ROLLING });
    // Without a red pod, and with all of them there, it is told as what it is: not done yet. What its controller has not seen
    // was changed a moment ago, as long as that controller lives.
    symptom.edge(leader, Because::Controller).progressing_if(young || is_unseen || !is_short)
}

/// Why no pod can be made.
fn creation<'a>(view: &View<'a>, it: &'a Workload) -> Option<(ObjectKey, &'a Condition)> {
    fn fails(workload: &Workload) -> Option<&Condition> {
        condition(&workload.conditions, "ReplicaFailure").filter(|it| it.status == Truth::True)
    }
    if let Some(failure) = fails(it) {
        return Some((key(it), failure));
    }
    view.replica_sets_of(it).find_map(|set| fails(set).map(|failure| (key(set), failure)))
}

fn ready_field(it: &Workload) -> &'static str {
    if it.workload == Workloads::DaemonSet { "status.numberReady" } else { "status.readyReplicas" }
}

fn numbers(it: &Workload) -> (i64, i64) {
    match it.workload {
        Workloads::DaemonSet => {
            (it.have.number_ready.unwrap_or_default(), it.have.desired_number_scheduled.unwrap_or_default())
        }
        _ => (it.have.ready_replicas.unwrap_or_default(), it.replicas.unwrap_or(1)),
    }
}

/// Since when it is not what it should be.
fn since(it: &Workload) -> Option<crate::Time> {
    let changed = it.conditions.iter().filter_map(|it| it.since).max();
    changed.or(it.meta.created)
}

fn job(view: &View<'_>, it: &Workload, layer: LayerName) -> Option<Symptom> {
    let failure = condition(&it.conditions, "Failed").filter(|it| it.status == Truth::True)?;
    if is_outdone(view, it) {
        return None;
    }
    let problem = Problem::JobFailed { reason: failure.reason.clone(), message: failure.message.clone() };
    Some(Symptom::new(layer, key(it), problem).state(State::Degraded).shows_condition(failure))
}

/// A later run of the same CronJob has completed.
fn is_outdone(view: &View<'_>, it: &Workload) -> bool {
    let Some(owner) = it.meta.owner.as_ref() else { return false };
    view.facts.jobs.iter().any(|other| {
        other.meta.namespace == it.meta.namespace
            && other.meta.owner.as_ref() == Some(owner)
            && other.meta.created > it.meta.created
            && View::truth(&other.conditions, "Complete") == Some(Truth::True)
    })
}
