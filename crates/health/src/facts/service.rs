//! Services and what stands behind them.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::meta::WireMeta;
use super::wire::nullable;
use super::{Condition, Fact, Kind, Labels, Meta};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    pub meta: Meta,
    /// `ClusterIP`, `LoadBalancer` and so on.
    pub kind: EcoString,
    pub cluster_ip: EcoString,
    pub selector: Labels,
    /// A LoadBalancer that another implementation serves.
    pub load_balancer_class: EcoString,
    /// Addresses or names of a LoadBalancer.
    pub ingress: Vec<EcoString>,
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireService {
    metadata: WireMeta,
    spec: WireSpec,
    status: WireStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireSpec {
    #[serde(rename = "type", deserialize_with = "nullable")]
    kind: EcoString,
    #[serde(rename = "clusterIP", deserialize_with = "nullable")]
    cluster_ip: EcoString,
    selector: Labels,
    #[serde(deserialize_with = "nullable")]
    load_balancer_class: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireStatus {
    #[serde(deserialize_with = "nullable")]
    load_balancer: WireBalancer,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireBalancer {
    #[serde(deserialize_with = "nullable")]
    ingress: Vec<WireIngress>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireIngress {
    ip: EcoString,
    hostname: EcoString,
}

impl Fact for Service {
    type Wire = WireService;

    fn from_wire(wire: WireService, _: &Kind) -> Self {
        let ingress = wire.status.load_balancer.ingress.into_iter();
        Self {
            meta: wire.metadata.into(),
            kind: wire.spec.kind,
            cluster_ip: wire.spec.cluster_ip,
            selector: wire.spec.selector,
            load_balancer_class: wire.spec.load_balancer_class,
            ingress: ingress.map(|one| if one.ip.is_empty() { one.hostname } else { one.ip }).collect(),
            conditions: wire.status.conditions,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

/// One EndpointSlice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoints {
    pub meta: Meta,
    /// The Service in the same namespace.
    pub service: EcoString,
    pub endpoints: Vec<Endpoint>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    pub address: EcoString,
    pub ready: bool,
    pub node: EcoString,
    /// The pod behind it.
    pub pod: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireSlice {
    metadata: WireMeta,
    #[serde(deserialize_with = "nullable")]
    endpoints: Vec<WireEndpoint>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireEndpoint {
    #[serde(deserialize_with = "nullable")]
    addresses: Vec<EcoString>,
    conditions: WireReady,
    #[serde(deserialize_with = "nullable")]
    node_name: EcoString,
    #[serde(deserialize_with = "nullable")]
    target_ref: WireTarget,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireReady {
    ready: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireTarget {
    kind: EcoString,
    name: EcoString,
}

impl Fact for Endpoints {
    type Wire = WireSlice;

    fn from_wire(wire: WireSlice, _: &Kind) -> Self {
        let meta: Meta = wire.metadata.into();
        let endpoint = |one: WireEndpoint| Endpoint {
            address: one.addresses.into_iter().next().unwrap_or_default(),
            // Unknown means ready, says the API.
            ready: one.conditions.ready != Some(false),
            node: one.node_name,
            pod: if one.target_ref.kind == "Pod" { one.target_ref.name } else { EcoString::new() },
        };
        let service = meta.labels.get("kubernetes.io/service-name").unwrap_or_default().into();
        Self { meta, service, endpoints: wire.endpoints.into_iter().map(endpoint).collect() }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}
