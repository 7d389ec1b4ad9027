//! Pods: there are many of them, so they keep least.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::meta::WireMeta;
use super::wire::{lenient, nullable};
use super::{Condition, Fact, Kind, Meta, Time, condition};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Phase {
    Pending,
    Running,
    Succeeded,
    Failed,
    Unknown,
    /// No phase was set yet, or one that Kubernetes does not have.
    #[default]
    #[serde(other)]
    None,
}

/// What a container does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// Kubernetes says nothing of it yet.
    #[default]
    Unreported,
    Waiting {
        reason: EcoString,
        message: EcoString,
    },
    Running {
        since: Option<Time>,
    },
    Terminated {
        exit_code: i32,
        reason: EcoString,
        message: EcoString,
        finished: Option<Time>,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    pub name: EcoString,
    pub image: EcoString,
    pub init: bool,
    pub ready: bool,
    pub restarts: u32,
    pub state: State,
    /// How it ended the time before; only if terminated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<State>,
}

/// What a pod names and can't start without.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<EcoString>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub config_maps: Vec<EcoString>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<EcoString>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pod {
    pub meta: Meta,
    pub node: EcoString,
    pub host_network: bool,
    pub phase: Phase,
    pub reason: EcoString,
    pub message: EcoString,
    pub started: Option<Time>,
    pub conditions: Vec<Condition>,
    pub containers: Vec<Container>,
    #[serde(default)]
    pub needs: Needs,
}

impl Pod {
    pub fn is_ready(&self) -> bool {
        condition(&self.conditions, "Ready").is_some_and(|ready| ready.status == super::Truth::True)
    }

    /// Succeeded or Failed: it will not run again.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }

    /// The latest start of any container that runs, which no boot can be older than.
    pub fn running_since(&self) -> Option<Time> {
        let starts = self.containers.iter().filter(|container| !container.init);
        starts.filter_map(|container| if let State::Running { since } = container.state { since } else { None }).max()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WirePod {
    metadata: WireMeta,
    spec: WirePodSpec,
    status: WireStatus,
}

/// `spec` of a pod and of a template.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct WirePodSpec {
    #[serde(deserialize_with = "nullable")]
    node_name: EcoString,
    host_network: Option<bool>,
    #[serde(deserialize_with = "nullable")]
    volumes: Vec<WireVolume>,
    #[serde(deserialize_with = "nullable")]
    containers: Vec<WireContainer>,
    #[serde(deserialize_with = "nullable")]
    init_containers: Vec<WireContainer>,
    #[serde(deserialize_with = "nullable")]
    image_pull_secrets: Vec<WireName>,
    pub(crate) node_selector: super::Labels,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireVolume {
    secret: Option<WireVolumeSecret>,
    config_map: Option<WireName>,
    persistent_volume_claim: Option<WireClaim>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireVolumeSecret {
    #[serde(deserialize_with = "nullable")]
    secret_name: EcoString,
    optional: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireName {
    #[serde(deserialize_with = "nullable")]
    name: EcoString,
    optional: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireClaim {
    #[serde(deserialize_with = "nullable")]
    claim_name: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireContainer {
    #[serde(deserialize_with = "nullable")]
    image: EcoString,
    #[serde(deserialize_with = "nullable")]
    env: Vec<WireEnv>,
    #[serde(deserialize_with = "nullable")]
    env_from: Vec<WireEnvFrom>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireEnv {
    value_from: Option<WireValueFrom>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireValueFrom {
    secret_key_ref: Option<WireName>,
    config_map_key_ref: Option<WireName>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireEnvFrom {
    secret_ref: Option<WireName>,
    config_map_ref: Option<WireName>,
}

impl WirePodSpec {
    pub(crate) fn images(&self) -> Vec<EcoString> {
        self.containers.iter().map(|container| container.image.clone()).collect()
    }

    pub(crate) fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        let mut named = |list: fn(&mut Needs) -> &mut Vec<EcoString>, name: &EcoString, optional: Option<bool>| {
            if optional != Some(true) && !name.is_empty() {
                list(&mut needs).push(name.clone());
            }
        };
        for volume in &self.volumes {
            if let Some(secret) = &volume.secret {
                named(|needs| &mut needs.secrets, &secret.secret_name, secret.optional);
            }
            if let Some(map) = &volume.config_map {
                named(|needs| &mut needs.config_maps, &map.name, map.optional);
            }
            if let Some(claim) = &volume.persistent_volume_claim {
                named(|needs| &mut needs.claims, &claim.claim_name, None);
            }
        }
        for container in self.containers.iter().chain(&self.init_containers) {
            let values = container.env.iter().filter_map(|env| env.value_from.as_ref());
            let of_values = values.map(|from| (&from.secret_key_ref, &from.config_map_key_ref));
            let of_all = container.env_from.iter().map(|from| (&from.secret_ref, &from.config_map_ref));
            for (secret, map) in of_values.chain(of_all) {
                if let Some(secret) = secret {
                    named(|needs| &mut needs.secrets, &secret.name, secret.optional);
                }
                if let Some(map) = map {
                    named(|needs| &mut needs.config_maps, &map.name, map.optional);
                }
            }
        }
        // A pull Secret that does not exist stops no pod by itself, so it is no need.
        let _ = &self.image_pull_secrets;
        for list in [&mut needs.secrets, &mut needs.config_maps, &mut needs.claims] {
            list.sort();
            list.dedup();
            list.shrink_to_fit();
        }
        needs
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireStatus {
    #[serde(deserialize_with = "lenient")]
    phase: Phase,
    #[serde(deserialize_with = "nullable")]
    reason: EcoString,
    #[serde(deserialize_with = "nullable")]
    message: EcoString,
    start_time: Option<Time>,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
    #[serde(deserialize_with = "nullable")]
    container_statuses: Vec<WireContainerStatus>,
    #[serde(deserialize_with = "nullable")]
    init_container_statuses: Vec<WireContainerStatus>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireContainerStatus {
    name: EcoString,
    #[serde(deserialize_with = "nullable")]
    image: EcoString,
    ready: Option<bool>,
    restart_count: Option<u32>,
    #[serde(deserialize_with = "nullable")]
    state: WireState,
    #[serde(deserialize_with = "nullable")]
    last_state: WireState,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireState {
    waiting: Option<WireWaiting>,
    running: Option<WireRunning>,
    terminated: Option<WireTerminated>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireWaiting {
    #[serde(deserialize_with = "nullable")]
    reason: EcoString,
    #[serde(deserialize_with = "nullable")]
    message: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireRunning {
    #[serde(deserialize_with = "lenient")]
    started_at: Option<Time>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireTerminated {
    exit_code: i32,
    #[serde(deserialize_with = "nullable")]
    reason: EcoString,
    #[serde(deserialize_with = "nullable")]
    message: EcoString,
    #[serde(deserialize_with = "lenient")]
    finished_at: Option<Time>,
}

impl From<WireState> for State {
    fn from(wire: WireState) -> Self {
        if let Some(over) = wire.terminated {
            let WireTerminated { exit_code, reason, message, finished_at } = over;
            return Self::Terminated { exit_code, reason, message, finished: finished_at };
        }
        if let Some(running) = wire.running {
            return Self::Running { since: running.started_at };
        }
        wire.waiting
            .map_or(Self::Unreported, |waiting| Self::Waiting { reason: waiting.reason, message: waiting.message })
    }
}

fn container(wire: WireContainerStatus, init: bool) -> Container {
    Container {
        name: wire.name,
        image: wire.image,
        init,
        ready: wire.ready == Some(true),
        restarts: wire.restart_count.unwrap_or(0),
        state: wire.state.into(),
        last: wire.last_state.terminated.is_some().then(|| wire.last_state.into()),
    }
}

impl Fact for Pod {
    type Wire = WirePod;

    fn from_wire(wire: WirePod, _: &Kind) -> Self {
        let (spec, status) = (wire.spec, wire.status);
        let inits = status.init_container_statuses.into_iter().map(|status| container(status, true));
        let mains = status.container_statuses.into_iter().map(|status| container(status, false));
        let needs = spec.needs();
        Self {
            meta: wire.metadata.into(),
            node: spec.node_name,
            host_network: spec.host_network == Some(true),
            phase: status.phase,
            reason: status.reason,
            message: status.message,
            started: status.start_time,
            conditions: status.conditions,
            containers: inits.chain(mains).collect(),
            needs,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}
