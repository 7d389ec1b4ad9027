//! Deployments, DaemonSets, StatefulSets, ReplicaSets and Jobs: what kstatus reads of them, and what they make pods of.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::meta::WireMeta;
use super::pod::WirePodSpec;
use super::wire::nullable;
use super::{Condition, Fact, Kind, Labels, Meta, Needs, Time};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Workloads {
    #[default]
    Deployment,
    DaemonSet,
    StatefulSet,
    ReplicaSet,
    Job,
}

impl Workloads {
    pub fn kind(self) -> Kind {
        let (group, kind) = match self {
            Self::Deployment => ("apps", "Deployment"),
            Self::DaemonSet => ("apps", "DaemonSet"),
            Self::StatefulSet => ("apps", "StatefulSet"),
            Self::ReplicaSet => ("apps", "ReplicaSet"),
            Self::Job => ("batch", "Job"),
        };
        Kind::new(group, "v1", kind)
    }

    fn of(kind: &str) -> Self {
        match kind {
            "DaemonSet" => Self::DaemonSet,
            "StatefulSet" => Self::StatefulSet,
            "ReplicaSet" => Self::ReplicaSet,
            "Job" => Self::Job,
            _ => Self::Deployment,
        }
    }
}

/// How a StatefulSet or DaemonSet takes a new template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Update {
    #[default]
    Rolling,
    OnDelete,
}

/// Numbers are as the API server has them: what it left out is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    pub workload: Workloads,
    pub meta: Meta,
    // What is asked for.
    pub replicas: Option<i64>,
    pub update: Update,
    /// Of a StatefulSet's rolling update.
    pub partition: Option<i64>,
    pub progress_deadline_seconds: Option<i64>,
    pub paused: bool,
    /// Of a Job.
    pub suspend: bool,
    pub selector: Labels,
    pub node_selector: Labels,
    /// Of the pods that it makes; all of them, so that a Service can be matched.
    pub pod_labels: Labels,
    pub images: Vec<EcoString>,
    pub needs: Needs,
    // What is there.
    pub observed_generation: Option<i64>,
    pub have: Counts,
    pub current_revision: EcoString,
    pub update_revision: EcoString,
    pub started: Option<Time>,
    pub conditions: Vec<Condition>,
}

/// The numbers of a workload's status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Counts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_replicas: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_replicas: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_replicas: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_replicas: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fully_labeled_replicas: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired_number_scheduled: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_number_scheduled: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_number_scheduled: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number_available: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number_ready: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeeded: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireWorkload {
    metadata: WireMeta,
    spec: WireSpec,
    status: WireStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireSpec {
    replicas: Option<i64>,
    update_strategy: WireStrategy,
    progress_deadline_seconds: Option<i64>,
    paused: Option<bool>,
    suspend: Option<bool>,
    #[serde(deserialize_with = "nullable")]
    selector: WireSelector,
    template: WireTemplate,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireSelector {
    match_labels: Labels,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireStrategy {
    #[serde(rename = "type")]
    kind: EcoString,
    rolling_update: Option<WireRolling>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireRolling {
    partition: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireTemplate {
    #[serde(deserialize_with = "nullable")]
    metadata: WireMeta,
    spec: WirePodSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireStatus {
    observed_generation: Option<i64>,
    #[serde(flatten)]
    have: Counts,
    #[serde(deserialize_with = "nullable")]
    current_revision: EcoString,
    #[serde(deserialize_with = "nullable")]
    update_revision: EcoString,
    start_time: Option<Time>,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
}

impl Fact for Workload {
    type Wire = WireWorkload;

    fn from_wire(wire: WireWorkload, kind: &Kind) -> Self {
        let (spec, status) = (wire.spec, wire.status);
        let update = if spec.update_strategy.kind == "OnDelete" { Update::OnDelete } else { Update::Rolling };
        Self {
            workload: Workloads::of(&kind.kind),
            meta: wire.metadata.into(),
            replicas: spec.replicas,
            update,
            partition: spec.update_strategy.rolling_update.and_then(|rolling| rolling.partition),
            progress_deadline_seconds: spec.progress_deadline_seconds,
            paused: spec.paused == Some(true),
            suspend: spec.suspend == Some(true),
            selector: spec.selector.match_labels,
            node_selector: spec.template.spec.node_selector.clone(),
            images: spec.template.spec.images(),
            needs: spec.template.spec.needs(),
            pod_labels: spec.template.metadata.labels,
            observed_generation: status.observed_generation,
            have: status.have,
            current_revision: status.current_revision,
            update_revision: status.update_revision,
            started: status.start_time,
            conditions: status.conditions,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}
