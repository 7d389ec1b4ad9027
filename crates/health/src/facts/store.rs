//! Where Secrets come from: external-secrets and sealed-secrets.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::meta::WireMeta;
use super::wire::{keys, lenient, nullable};
use super::{Condition, Fact, Kind, Meta, ObjectKey, Time};

const GROUP: &str = "external-secrets.io";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalSecret {
    pub meta: Meta,
    pub store: Option<ObjectKey>,
    /// The Secret that it makes.
    pub target: EcoString,
    pub refreshed: Option<Time>,
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireExternal {
    metadata: WireMeta,
    spec: WireExternalSpec,
    status: WireExternalStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireExternalSpec {
    secret_store_ref: Option<WireStoreRef>,
    #[serde(deserialize_with = "nullable")]
    target: WireStoreRef,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireStoreRef {
    kind: EcoString,
    name: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireExternalStatus {
    #[serde(deserialize_with = "lenient")]
    refresh_time: Option<Time>,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
}

impl Fact for ExternalSecret {
    type Wire = WireExternal;

    fn from_wire(wire: WireExternal, _: &Kind) -> Self {
        let meta: Meta = wire.metadata.into();
        let store = wire.spec.secret_store_ref.filter(|store| !store.name.is_empty()).map(|store| {
            if store.kind == "ClusterSecretStore" {
                ObjectKey::new(GROUP, "ClusterSecretStore", "", &store.name)
            } else {
                ObjectKey::new(GROUP, "SecretStore", &meta.namespace, &store.name)
            }
        });
        let target = if wire.spec.target.name.is_empty() { meta.name.clone() } else { wire.spec.target.name };
        Self { store, target, refreshed: wire.status.refresh_time, conditions: wire.status.conditions, meta }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

/// A SecretStore or ClusterSecretStore.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretStore {
    pub meta: Meta,
    pub cluster: bool,
    /// The name of its provider's field, such as `vault`.
    pub provider: EcoString,
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireStore {
    metadata: WireMeta,
    spec: WireStoreSpec,
    status: super::api::WireConditions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireStoreSpec {
    #[serde(deserialize_with = "keys")]
    provider: Option<Vec<EcoString>>,
}

impl Fact for SecretStore {
    type Wire = WireStore;

    fn from_wire(wire: WireStore, kind: &Kind) -> Self {
        Self {
            meta: wire.metadata.into(),
            cluster: kind.kind == "ClusterSecretStore",
            provider: wire.spec.provider.unwrap_or_default().into_iter().next().unwrap_or_default(),
            conditions: wire.status.conditions,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedSecret {
    pub meta: Meta,
    pub observed_generation: Option<i64>,
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireSealed {
    metadata: WireMeta,
    #[serde(deserialize_with = "nullable")]
    status: WireSealedStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireSealedStatus {
    #[serde(deserialize_with = "lenient")]
    observed_generation: Option<i64>,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
}

impl Fact for SealedSecret {
    type Wire = WireSealed;

    fn from_wire(wire: WireSealed, _: &Kind) -> Self {
        Self {
            meta: wire.metadata.into(),
            observed_generation: wire.status.observed_generation,
            conditions: wire.status.conditions,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}
