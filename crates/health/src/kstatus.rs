//! kstatus, as Flux and Helm wait by it: one object, and whether it is what was asked for.
//!
//! The rules are those of the status package of cli-utils, in the order in which it asks. What it can't prove is not repaired
//! here: a DaemonSet that wants no pod is Current, and so is a custom resource that nobody has looked at yet.

use std::time::Duration;

use ecow::EcoString;

use crate::Time;
use crate::facts::{
    Claim, Condition, Crd, Custom, Meta, Phase, Pod, Service, State, Truth, Update, Workload, Workloads, condition,
};

/// So long a pod may look for a node.
const SCHEDULING: Duration = Duration::from_secs(15);
/// A deadline of this many seconds means none.
const NO_DEADLINE_SECONDS: i64 = i32::MAX as i64;

/// What kstatus says of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    InProgress,
    Failed,
    Current,
    Terminating,
    Unknown,
}

/// Why, with the numbers that are compared: what is there, and what is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is what was asked for.
    AsAsked,
    Deleted,
    LatestGenerationNotObserved {
        generation: i64,
        observed: i64,
    },
    /// The reason of one of its own conditions.
    Own(EcoString),
    PodNotObserved,
    PodPending,
    PodNotScheduled,
    PodUnschedulable,
    PodRunningNotReady,
    ContainerCrashLooping(EcoString),
    ProgressDeadlineExceeded,
    LessReplicas(i64, i64),
    LessUpdated(i64, i64),
    LessAvailable(i64, i64),
    LessReady(i64, i64),
    LessCurrent(i64, i64),
    LessLabelled(i64, i64),
    ExtraPods(i64, i64),
    PartitionRollout(i64, i64),
    RevisionMismatch,
    ReplicaSetNotAvailable,
    DeploymentNotAvailable,
    ReplicaFailure,
    NoGeneration,
    NoObservedGeneration,
    NoDesiredNumber,
    JobNotStarted,
    JobFailed,
    NotBound,
    NoIpAssigned,
    Installing,
}

/// A status and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computed {
    pub status: Status,
    pub reason: Reason,
}

const CURRENT: Computed = Computed { status: Status::Current, reason: Reason::AsAsked };

fn going(reason: Reason) -> Computed {
    Computed { status: Status::InProgress, reason }
}

fn failed(reason: Reason) -> Computed {
    Computed { status: Status::Failed, reason }
}

/// What is asked before the kind: deletion, generation, and the conditions that say it outright.
fn before(meta: &Meta, observed: Option<i64>, conditions: &[Condition]) -> Option<Computed> {
    if meta.deleted.is_some() {
        return Some(Computed { status: Status::Terminating, reason: Reason::Deleted });
    }
    if let (Some(generation), Some(observed)) = (meta.generation, observed)
        && generation != observed
    {
        return Some(going(Reason::LatestGenerationNotObserved { generation, observed }));
    }
    conditions.iter().filter(|it| it.status == Truth::True).find_map(|it| match it.kind.as_str() {
        "Reconciling" => Some(going(Reason::Own(it.reason.clone()))),
        "Stalled" => Some(failed(Reason::Own(it.reason.clone()))),
        _ => None,
    })
}

/// Of an object of any kind, by its own conditions.
pub fn generic(meta: &Meta, observed: Option<i64>, conditions: &[Condition]) -> Computed {
    before(meta, observed, conditions).unwrap_or_else(|| match condition(conditions, "Ready") {
        Some(ready) if ready.status != Truth::True => going(Reason::Own(ready.reason.clone())),
        _ => CURRENT,
    })
}

/// A custom resource; PodDisruptionBudgets, CronJobs and what else has no rule, too.
pub fn custom(object: &Custom) -> Computed {
    generic(&object.meta, object.observed_generation, &object.conditions)
}

pub fn pod(pod: &Pod, now: Time) -> Computed {
    if let Some(computed) = before(&pod.meta, None, &pod.conditions) {
        return computed;
    }
    match pod.phase {
        Phase::Succeeded | Phase::Failed => CURRENT,
        Phase::Running if pod.is_ready() => CURRENT,
        Phase::Running => crash_looping(pod)
            .map_or_else(|| going(Reason::PodRunningNotReady), |name| failed(Reason::ContainerCrashLooping(name))),
        Phase::Pending => pending(pod, now),
        Phase::None => going(Reason::PodNotObserved),
        Phase::Unknown => Computed { status: Status::Unknown, reason: Reason::PodNotObserved },
    }
}

/// The first container that waits to be started again. Init containers are not asked.
fn crash_looping(pod: &Pod) -> Option<EcoString> {
    let is_looping = |state: &State| matches!(state, State::Waiting { reason, .. } if reason == "CrashLoopBackOff");
    pod.containers.iter().find(|it| !it.init && is_looping(&it.state)).map(|it| it.name.clone())
}

fn pending(pod: &Pod, now: Time) -> Computed {
    let scheduled = condition(&pod.conditions, "PodScheduled");
    if !scheduled.is_some_and(|it| it.status == Truth::False && it.reason == "Unschedulable") {
        return going(Reason::PodPending);
    }
    let is_young = pod.meta.created.is_some_and(|created| now.since(created) < SCHEDULING);
    if is_young { going(Reason::PodNotScheduled) } else { failed(Reason::PodUnschedulable) }
}

pub fn workload(workload: &Workload) -> Computed {
    let observed = workload.observed_generation;
    before(&workload.meta, observed, &workload.conditions).unwrap_or_else(|| match workload.workload {
        Workloads::Deployment => deployment(workload),
        Workloads::StatefulSet => stateful_set(workload),
        Workloads::DaemonSet => daemon_set(workload),
        Workloads::ReplicaSet => replica_set(workload),
        Workloads::Job => job(workload),
    })
}

/// The first number that is not what it should be.
fn first(checks: &[(bool, Reason)]) -> Option<Computed> {
    checks.iter().find(|(fails, _)| *fails).map(|(_, reason)| going(reason.clone()))
}

fn deployment(it: &Workload) -> Computed {
    let progressing = condition(&it.conditions, "Progressing");
    if progressing.is_some_and(|progressing| progressing.reason == "ProgressDeadlineExceeded") {
        return failed(Reason::ProgressDeadlineExceeded);
    }
    let want = it.replicas.unwrap_or(1);
    let [have, updated, available, ready] =
        [it.have.replicas, it.have.updated_replicas, it.have.available_replicas, it.have.ready_replicas]
            .map(Option::unwrap_or_default);
    let has_deadline = it.progress_deadline_seconds.is_some_and(|seconds| seconds != NO_DEADLINE_SECONDS);
    let is_rolled_out = progressing
        .is_some_and(|progressing| progressing.status == Truth::True && progressing.reason == "NewReplicaSetAvailable");
    let is_available = condition(&it.conditions, "Available").is_some_and(|available| available.status == Truth::True);
    first(&[
        (want > have, Reason::LessReplicas(have, want)),
        (want > updated, Reason::LessUpdated(updated, want)),
        (have > want, Reason::ExtraPods(have, want)),
        (updated > available, Reason::LessAvailable(available, updated)),
        (want > ready, Reason::LessReady(ready, want)),
        (has_deadline && !is_rolled_out, Reason::ReplicaSetNotAvailable),
        (!is_available, Reason::DeploymentNotAvailable),
    ])
    .unwrap_or(CURRENT)
}

fn stateful_set(it: &Workload) -> Computed {
    if it.update == Update::OnDelete {
        return CURRENT;
    }
    let want = it.replicas.unwrap_or(1);
    let [have, ready, current, updated] =
        [it.have.replicas, it.have.ready_replicas, it.have.current_replicas, it.have.updated_replicas]
            .map(Option::unwrap_or_default);
    let numbers = first(&[
        (want > have, Reason::LessReplicas(have, want)),
        (want > ready, Reason::LessReady(ready, want)),
        (have > want, Reason::ExtraPods(have, want)),
    ]);
    let rollout = || match it.partition {
        Some(partition) => {
            let want = want - partition;
            first(&[(updated < want, Reason::PartitionRollout(updated, want))])
        }
        None => first(&[
            (want > current, Reason::LessCurrent(current, want)),
            (it.current_revision != it.update_revision, Reason::RevisionMismatch),
        ]),
    };
    numbers.or_else(rollout).unwrap_or(CURRENT)
}

fn daemon_set(it: &Workload) -> Computed {
    if it.meta.generation.is_none() {
        return going(Reason::NoGeneration);
    }
    if it.observed_generation.is_none() {
        return going(Reason::NoObservedGeneration);
    }
    let Some(want) = it.have.desired_number_scheduled else { return going(Reason::NoDesiredNumber) };
    let [current, updated, available, ready] = [
        it.have.current_number_scheduled,
        it.have.updated_number_scheduled,
        it.have.number_available,
        it.have.number_ready,
    ]
    .map(Option::unwrap_or_default);
    first(&[
        (want > current, Reason::LessCurrent(current, want)),
        (want > updated, Reason::LessUpdated(updated, want)),
        (want > available, Reason::LessAvailable(available, want)),
        (want > ready, Reason::LessReady(ready, want)),
    ])
    .unwrap_or(CURRENT)
}

fn replica_set(it: &Workload) -> Computed {
    let want = it.replicas.unwrap_or(1);
    let [have, labelled, available, ready] =
        [it.have.replicas, it.have.fully_labeled_replicas, it.have.available_replicas, it.have.ready_replicas]
            .map(Option::unwrap_or_default);
    let fails = condition(&it.conditions, "ReplicaFailure").is_some_and(|failure| failure.status == Truth::True);
    first(&[
        (fails, Reason::ReplicaFailure),
        (want > labelled, Reason::LessLabelled(labelled, want)),
        (want > available, Reason::LessAvailable(available, want)),
        (want > ready, Reason::LessReady(ready, want)),
        (have > want, Reason::ExtraPods(have, want)),
    ])
    .unwrap_or(CURRENT)
}

fn job(it: &Workload) -> Computed {
    let is = |kind: &str| condition(&it.conditions, kind).is_some_and(|it| it.status == Truth::True);
    if is("Complete") || (is("Suspended") && it.suspend) {
        return CURRENT;
    }
    if is("Failed") {
        return failed(Reason::JobFailed);
    }
    if it.started.is_none() { going(Reason::JobNotStarted) } else { CURRENT }
}

pub fn claim(claim: &Claim) -> Computed {
    let bound = || if claim.phase == "Bound" { CURRENT } else { going(Reason::NotBound) };
    before(&claim.meta, None, &[]).unwrap_or_else(bound)
}

pub fn service(service: &Service) -> Computed {
    let lacks = service.kind == "LoadBalancer" && service.cluster_ip.is_empty();
    let assigned = || if lacks { going(Reason::NoIpAssigned) } else { CURRENT };
    before(&service.meta, None, &service.conditions).unwrap_or_else(assigned)
}

pub fn crd(crd: &Crd) -> Computed {
    if let Some(computed) = before(&crd.meta, None, &crd.conditions) {
        return computed;
    }
    for it in &crd.conditions {
        match (it.kind.as_str(), it.status) {
            ("NamesAccepted", Truth::False) => return failed(Reason::Own(it.reason.clone())),
            ("Established", Truth::False) if it.reason != "Installing" => {
                return failed(Reason::Own(it.reason.clone()));
            }
            ("Established", Truth::True) => return CURRENT,
            _ => {}
        }
    }
    going(Reason::Installing)
}
