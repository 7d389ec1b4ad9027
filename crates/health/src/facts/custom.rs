//! Any other custom resource: its conditions, and what it names.

use ecow::EcoString;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::meta::WireMeta;
use super::wire::{lenient, nullable};
use super::{Condition, Fact, Kind, Meta};

/// Conditions of a part of an object: a listener of a Gateway, a parent of a route.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inner {
    pub name: EcoString,
    pub conditions: Vec<Condition>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Custom {
    pub kind: Kind,
    pub meta: Meta,
    pub suspend: bool,
    pub observed_generation: Option<i64>,
    /// Whether there is a `status` at all.
    pub reported: bool,
    pub phase: EcoString,
    /// `status.ceph.health`.
    pub health: EcoString,
    /// The keys of `status.ceph.details`.
    pub details: Vec<EcoString>,
    pub conditions: Vec<Condition>,
    pub inner: Vec<Inner>,
    /// `status.addresses` of a Gateway: how many.
    pub addresses: usize,
    /// `spec.gatewayClassName`.
    pub gateway_class: EcoString,
    /// `spec.bootid` of a CiliumNode.
    pub boot_id: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireCustom {
    metadata: WireMeta,
    #[serde(deserialize_with = "lenient")]
    spec: WireSpec,
    #[serde(deserialize_with = "lenient")]
    status: Option<WireStatus>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireSpec {
    #[serde(deserialize_with = "lenient")]
    suspend: bool,
    #[serde(deserialize_with = "lenient")]
    gateway_class_name: EcoString,
    #[serde(deserialize_with = "lenient")]
    bootid: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireStatus {
    #[serde(deserialize_with = "lenient")]
    observed_generation: Option<i64>,
    #[serde(deserialize_with = "lenient")]
    phase: EcoString,
    #[serde(deserialize_with = "lenient")]
    conditions: Vec<Condition>,
    #[serde(deserialize_with = "lenient")]
    ceph: WireCeph,
    #[serde(deserialize_with = "lenient")]
    listeners: Vec<WireInner>,
    #[serde(deserialize_with = "lenient")]
    parents: Vec<WireParent>,
    #[serde(deserialize_with = "lenient")]
    addresses: Vec<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireCeph {
    #[serde(deserialize_with = "nullable")]
    health: EcoString,
    #[serde(deserialize_with = "super::wire::keys")]
    details: Option<Vec<EcoString>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireInner {
    name: EcoString,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireParent {
    parent_ref: WireParentRef,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireParentRef {
    name: EcoString,
}

impl Fact for Custom {
    type Wire = WireCustom;

    fn from_wire(wire: WireCustom, kind: &Kind) -> Self {
        let reported = wire.status.is_some();
        let status = wire.status.unwrap_or_default();
        let listeners = status.listeners.into_iter().map(|it| Inner { name: it.name, conditions: it.conditions });
        let parents =
            status.parents.into_iter().map(|it| Inner { name: it.parent_ref.name, conditions: it.conditions });
        Self {
            kind: kind.clone(),
            meta: wire.metadata.into(),
            suspend: wire.spec.suspend,
            observed_generation: status.observed_generation,
            reported,
            phase: status.phase,
            health: status.ceph.health,
            details: status.ceph.details.unwrap_or_default(),
            conditions: status.conditions,
            inner: listeners.chain(parents).collect(),
            addresses: status.addresses.len(),
            gateway_class: wire.spec.gateway_class_name,
            boot_id: wire.spec.bootid,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}
