//! cert-manager: certificates and who issues them.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::meta::WireMeta;
use super::wire::{lenient, nullable};
use super::{Condition, Fact, Kind, Meta, ObjectKey, Time};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    pub meta: Meta,
    /// The Secret that it is stored in.
    pub secret: EcoString,
    /// Issuer or ClusterIssuer; other groups are issuers of other projects.
    pub issuer: ObjectKey,
    pub not_after: Option<Time>,
    pub renewal: Option<Time>,
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireCertificate {
    metadata: WireMeta,
    spec: WireSpec,
    status: WireStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireSpec {
    #[serde(deserialize_with = "nullable")]
    secret_name: EcoString,
    issuer_ref: WireIssuerRef,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireIssuerRef {
    group: EcoString,
    kind: EcoString,
    name: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireStatus {
    #[serde(deserialize_with = "lenient")]
    not_after: Option<Time>,
    #[serde(deserialize_with = "lenient")]
    renewal_time: Option<Time>,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
}

impl Fact for Certificate {
    type Wire = WireCertificate;

    fn from_wire(wire: WireCertificate, _: &Kind) -> Self {
        let meta: Meta = wire.metadata.into();
        let issuer = wire.spec.issuer_ref;
        let group = if issuer.group.is_empty() { "cert-manager.io" } else { &issuer.group };
        let kind = if issuer.kind.is_empty() { "Issuer" } else { &issuer.kind };
        let namespace = if kind.starts_with("Cluster") { "" } else { meta.namespace.as_str() };
        Self {
            secret: wire.spec.secret_name,
            issuer: ObjectKey::new(group, kind, namespace, &issuer.name),
            not_after: wire.status.not_after,
            renewal: wire.status.renewal_time,
            conditions: wire.status.conditions,
            meta,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

/// An Issuer or ClusterIssuer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issuer {
    pub meta: Meta,
    pub cluster: bool,
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireIssuer {
    metadata: WireMeta,
    status: super::api::WireConditions,
}

impl Fact for Issuer {
    type Wire = WireIssuer;

    fn from_wire(wire: WireIssuer, kind: &Kind) -> Self {
        Self { meta: wire.metadata.into(), cluster: kind.kind == "ClusterIssuer", conditions: wire.status.conditions }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}
