//! Nodes.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::meta::WireMeta;
use super::wire::nullable;
use super::{Condition, Fact, Kind, Meta, Time, condition};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Taint {
    pub key: EcoString,
    #[serde(default, deserialize_with = "nullable")]
    pub value: EcoString,
    #[serde(default, deserialize_with = "nullable")]
    pub effect: EcoString,
    #[serde(default, rename = "timeAdded")]
    pub since: Option<Time>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub meta: Meta,
    /// Cordoned.
    pub unschedulable: bool,
    pub taints: Vec<Taint>,
    pub provider_id: EcoString,
    pub conditions: Vec<Condition>,
    /// Tells one boot from the next.
    pub boot_id: EcoString,
    pub kubelet_version: EcoString,
    pub os_image: EcoString,
    /// `InternalIP` and the like with their address.
    pub addresses: Vec<Address>,
    /// How many pods it takes.
    pub pods_max: EcoString,
    pub cpu: EcoString,
    pub memory: EcoString,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    #[serde(rename = "type")]
    pub kind: EcoString,
    pub address: EcoString,
}

impl Node {
    pub fn ready(&self) -> Option<&Condition> {
        condition(&self.conditions, "Ready")
    }

    pub fn taint(&self, key: &str) -> Option<&Taint> {
        self.taints.iter().find(|taint| taint.key == key)
    }

    pub fn is_control_plane(&self) -> bool {
        ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"]
            .iter()
            .any(|label| self.meta.labels.get(label).is_some())
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireNode {
    metadata: WireMeta,
    spec: WireSpec,
    status: WireStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireSpec {
    unschedulable: Option<bool>,
    #[serde(deserialize_with = "nullable")]
    taints: Vec<Taint>,
    #[serde(rename = "providerID", deserialize_with = "nullable")]
    provider_id: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireStatus {
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
    #[serde(deserialize_with = "nullable")]
    addresses: Vec<Address>,
    node_info: WireInfo,
    #[serde(deserialize_with = "nullable")]
    capacity: WireCapacity,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireInfo {
    #[serde(rename = "bootID")]
    boot_id: EcoString,
    kubelet_version: EcoString,
    os_image: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireCapacity {
    cpu: EcoString,
    memory: EcoString,
    pods: EcoString,
}

impl Fact for Node {
    type Wire = WireNode;

    fn from_wire(wire: WireNode, _: &Kind) -> Self {
        let (spec, status) = (wire.spec, wire.status);
        Self {
            meta: wire.metadata.with_all_labels(),
            unschedulable: spec.unschedulable == Some(true),
            taints: spec.taints,
            provider_id: spec.provider_id,
            conditions: status.conditions,
            boot_id: status.node_info.boot_id,
            kubelet_version: status.node_info.kubelet_version,
            os_image: status.node_info.os_image,
            addresses: status.addresses,
            pods_max: status.capacity.pods,
            cpu: status.capacity.cpu,
            memory: status.capacity.memory,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}
