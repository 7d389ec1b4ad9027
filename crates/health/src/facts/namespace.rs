//! Namespaces, and ConfigMaps by name.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::meta::WireMeta;
use super::wire::nullable;
use super::{Condition, Fact, Kind, Meta};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespace {
    pub meta: Meta,
    /// `Active` or `Terminating`.
    pub phase: EcoString,
    /// What keeps it from being deleted.
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireNamespace {
    metadata: WireMeta,
    status: WireStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireStatus {
    #[serde(deserialize_with = "nullable")]
    phase: EcoString,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
}

impl Fact for Namespace {
    type Wire = WireNamespace;

    fn from_wire(wire: WireNamespace, _: &Kind) -> Self {
        Self { meta: wire.metadata.into(), phase: wire.status.phase, conditions: wire.status.conditions }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

/// That it exists, and nothing of what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigMap {
    pub meta: Meta,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireConfigMap {
    metadata: WireMeta,
}

impl Fact for ConfigMap {
    type Wire = WireConfigMap;

    fn from_wire(wire: WireConfigMap, _: &Kind) -> Self {
        Self { meta: wire.metadata.into() }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}
