//! The API server and what it serves.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::meta::WireMeta;
use super::wire::{lenient, nullable};
use super::{Condition, Fact, Kind, Meta, ServiceRef, Time, Why};

/// How an endpoint answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    #[default]
    NotAsked,
    /// It answers, as this version.
    Version(EcoString),
    No(Why),
}

/// One line of `/readyz?verbose`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub name: EcoString,
    pub ok: bool,
}

/// The API server that was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Api {
    /// The address in the kubeconfig.
    pub server: EcoString,
    pub context: EcoString,
    pub answer: Answer,
    pub seen: Option<Time>,
    /// `/readyz`, where it may be read.
    pub checks: Vec<Check>,
    /// Other addresses of the API, such as each control plane's, where they were asked.
    pub endpoints: Vec<(EcoString, Answer)>,
}

/// A CustomResourceDefinition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crd {
    pub meta: Meta,
    pub group: EcoString,
    pub kind: EcoString,
    pub plural: EcoString,
    pub served: Vec<EcoString>,
    /// The Service that converts between versions.
    pub conversion: Option<ServiceRef>,
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireCrd {
    metadata: WireMeta,
    spec: WireCrdSpec,
    status: WireConditions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireCrdSpec {
    group: EcoString,
    names: WireNames,
    #[serde(deserialize_with = "nullable")]
    versions: Vec<WireVersion>,
    #[serde(deserialize_with = "nullable")]
    conversion: WireConversion,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireNames {
    kind: EcoString,
    plural: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireVersion {
    name: EcoString,
    served: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireConversion {
    webhook: Option<WireConversionHook>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireConversionHook {
    client_config: Option<WireClientConfig>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireClientConfig {
    service: Option<ServiceRef>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireConditions {
    #[serde(deserialize_with = "nullable")]
    pub(crate) conditions: Vec<Condition>,
}

impl Fact for Crd {
    type Wire = WireCrd;

    fn from_wire(wire: WireCrd, _: &Kind) -> Self {
        let spec = wire.spec;
        let served = spec.versions.into_iter().filter(|version| version.served).map(|version| version.name);
        let hook = spec.conversion.webhook.and_then(|hook| hook.client_config);
        Self {
            meta: wire.metadata.into(),
            group: spec.group,
            kind: spec.names.kind,
            plural: spec.names.plural,
            served: served.collect(),
            conversion: hook.and_then(|config| config.service),
            conditions: wire.status.conditions,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiService {
    pub meta: Meta,
    pub group: EcoString,
    pub version: EcoString,
    /// None: the API server serves it itself.
    pub service: Option<ServiceRef>,
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireApiService {
    metadata: WireMeta,
    spec: WireApiServiceSpec,
    status: WireConditions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireApiServiceSpec {
    #[serde(deserialize_with = "nullable")]
    group: EcoString,
    #[serde(deserialize_with = "nullable")]
    version: EcoString,
    service: Option<ServiceRef>,
}

impl Fact for ApiService {
    type Wire = WireApiService;

    fn from_wire(wire: WireApiService, _: &Kind) -> Self {
        Self {
            meta: wire.metadata.into(),
            group: wire.spec.group,
            version: wire.spec.version,
            service: wire.spec.service,
            conditions: wire.status.conditions,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub meta: Meta,
    pub holder: EcoString,
    pub renewed: Option<Time>,
    pub duration_seconds: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireLease {
    metadata: WireMeta,
    spec: WireLeaseSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireLeaseSpec {
    #[serde(deserialize_with = "nullable")]
    holder_identity: EcoString,
    #[serde(deserialize_with = "lenient")]
    renew_time: Option<Time>,
    lease_duration_seconds: Option<i64>,
}

impl Fact for Lease {
    type Wire = WireLease;

    fn from_wire(wire: WireLease, _: &Kind) -> Self {
        Self {
            meta: wire.metadata.into(),
            holder: wire.spec.holder_identity,
            renewed: wire.spec.renew_time,
            duration_seconds: wire.spec.lease_duration_seconds,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

/// A CertificateSigningRequest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Csr {
    pub meta: Meta,
    pub signer: EcoString,
    pub username: EcoString,
    pub issued: bool,
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireCsr {
    metadata: WireMeta,
    spec: WireCsrSpec,
    status: WireCsrStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireCsrSpec {
    signer_name: EcoString,
    #[serde(deserialize_with = "nullable")]
    username: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireCsrStatus {
    certificate: Option<serde::de::IgnoredAny>,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
}

impl Fact for Csr {
    type Wire = WireCsr;

    fn from_wire(wire: WireCsr, _: &Kind) -> Self {
        Self {
            meta: wire.metadata.into(),
            signer: wire.spec.signer_name,
            username: wire.spec.username,
            issued: wire.status.certificate.is_some(),
            conditions: wire.status.conditions,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}
