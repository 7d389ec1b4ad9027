//! What a machine says for itself, over the Talos API. Kubernetes knows nothing of it.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::{Answer, Time};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    ControlPlane,
    #[default]
    Worker,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub name: EcoString,
    pub address: EcoString,
    pub role: Role,
    pub answer: Answer,
    pub seen: Option<Time>,
    /// `booting`, `maintenance`, `running` and so on.
    pub stage: EcoString,
    pub ready: bool,
    /// What keeps it from being ready: name and reason.
    pub unmet: Vec<(EcoString, EcoString)>,
    pub services: Vec<Service>,
    pub volumes: Vec<Volume>,
    pub time_synced: Option<bool>,
    pub boot_id: EcoString,
    pub etcd: Option<Etcd>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    pub id: EcoString,
    pub state: EcoString,
    pub healthy: Option<bool>,
    pub message: EcoString,
    pub since: Option<Time>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    pub id: EcoString,
    pub phase: EcoString,
    pub error: EcoString,
}

/// Etcd as one member sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Etcd {
    pub member: EcoString,
    pub leader: EcoString,
    pub members: Vec<Member>,
    pub alarms: Vec<(EcoString, Alarm)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub id: EcoString,
    pub hostname: EcoString,
    pub learner: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Alarm {
    NoSpace,
    Corrupt,
}
