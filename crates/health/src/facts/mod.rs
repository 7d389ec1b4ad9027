//! Facts: what was seen of a cluster, in light types that carry only what health is read from.
//!
//! Ten thousand pods are a gigabyte as trees of JSON and some sixty megabytes so. Every kind is a [`Listed`]: when it was seen,
//! its objects, and why the list is not whole. A kind is read from an object of Kubernetes by [`Fact`]; [`Facts`] as a whole are
//! written and read again as they are (`status --record`, `status --from`), by [`Facts::VERSION`].

mod api;
mod certificate;
mod condition;
mod custom;
mod event;
mod flux;
mod listed;
mod machine;
mod meta;
mod namespace;
mod node;
mod object;
mod pod;
mod secret;
mod service;
mod storage;
mod store;
mod time;
mod webhook;
mod why;
mod wire;
mod workload;

use std::collections::BTreeMap;

use ecow::EcoString;
use serde::{Deserialize, Serialize};

pub use api::{Answer, Api, ApiService, Check, Crd, Csr, Lease};
pub use certificate::{Certificate, Issuer};
pub use condition::{Condition, Truth, condition};
pub use custom::{Custom, Inner};
pub use event::Event;
pub use flux::{Helm, HelmRelease, Instance, Kustomization, ResourceSet, Revision, Source, Waits};
pub use listed::Listed;
pub use machine::{Alarm, Etcd, Machine, Member, Role, Service as MachineService, Volume};
pub use meta::{Labels, Meta, Owner};
pub use namespace::{ConfigMap, Namespace};
pub use node::{Node, Taint};
pub use object::{Kind, ObjectKey};
pub use pod::{Container, Needs, Phase, Pod, State};
pub use secret::Secret;
pub use service::{Endpoint, Endpoints, Service};
pub use storage::{Claim, CsiDriver, CsiNode, NodeDriver, StorageClass, Volume as PersistentVolume, VolumeAttachment};
pub use store::{ExternalSecret, SealedSecret, SecretStore};
pub use time::Time;
pub use webhook::{Failure, Hook, Rule, ServiceRef, Webhooks};
pub use why::Why;
pub use wire::Fact;
pub use workload::{Update, Workload, Workloads};

/// Everything that was seen of one cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// [`Facts::VERSION`] of the program that wrote them.
    pub version: u32,
    /// When the last of them was seen.
    pub seen: Option<Time>,
    pub api: Api,
    #[serde(default)]
    pub nodes: Listed<Node>,
    #[serde(default)]
    pub namespaces: Listed<Namespace>,
    #[serde(default)]
    pub pods: Listed<Pod>,
    #[serde(default)]
    pub deployments: Listed<Workload>,
    #[serde(default)]
    pub daemon_sets: Listed<Workload>,
    #[serde(default)]
    pub stateful_sets: Listed<Workload>,
    #[serde(default)]
    pub replica_sets: Listed<Workload>,
    #[serde(default)]
    pub jobs: Listed<Workload>,
    #[serde(default)]
    pub services: Listed<Service>,
    /// EndpointSlices.
    #[serde(default)]
    pub endpoints: Listed<Endpoints>,
    #[serde(default)]
    pub leases: Listed<Lease>,
    #[serde(default)]
    pub crds: Listed<Crd>,
    #[serde(default)]
    pub api_services: Listed<ApiService>,
    #[serde(default)]
    pub csrs: Listed<Csr>,
    #[serde(default)]
    pub validating_webhooks: Listed<Webhooks>,
    #[serde(default)]
    pub mutating_webhooks: Listed<Webhooks>,
    #[serde(default)]
    pub claims: Listed<Claim>,
    #[serde(default)]
    pub volumes: Listed<PersistentVolume>,
    #[serde(default)]
    pub storage_classes: Listed<StorageClass>,
    #[serde(default)]
    pub csi_nodes: Listed<CsiNode>,
    #[serde(default)]
    pub csi_drivers: Listed<CsiDriver>,
    #[serde(default)]
    pub attachments: Listed<VolumeAttachment>,
    /// Without any value.
    #[serde(default)]
    pub secrets: Listed<Secret>,
    /// Names only.
    #[serde(default)]
    pub config_maps: Listed<ConfigMap>,
    /// Those of a type other than Normal.
    #[serde(default)]
    pub events: Listed<Event>,
    #[serde(default)]
    pub certificates: Listed<Certificate>,
    #[serde(default)]
    pub issuers: Listed<Issuer>,
    #[serde(default)]
    pub cluster_issuers: Listed<Issuer>,
    #[serde(default)]
    pub git_repositories: Listed<Source>,
    #[serde(default)]
    pub oci_repositories: Listed<Source>,
    #[serde(default)]
    pub helm_repositories: Listed<Source>,
    #[serde(default)]
    pub helm_charts: Listed<Source>,
    #[serde(default)]
    pub buckets: Listed<Source>,
    #[serde(default)]
    pub kustomizations: Listed<Kustomization>,
    #[serde(default)]
    pub helm_releases: Listed<HelmRelease>,
    #[serde(default)]
    pub flux_instances: Listed<Instance>,
    #[serde(default)]
    pub resource_sets: Listed<ResourceSet>,
    #[serde(default)]
    pub external_secrets: Listed<ExternalSecret>,
    #[serde(default)]
    pub secret_stores: Listed<SecretStore>,
    #[serde(default)]
    pub cluster_secret_stores: Listed<SecretStore>,
    #[serde(default)]
    pub sealed_secrets: Listed<SealedSecret>,
    /// Any other custom resource, by `kind.group`.
    #[serde(default)]
    pub others: BTreeMap<EcoString, Listed<Custom>>,
    /// What the machines say for themselves, where they were asked.
    #[serde(default)]
    pub machines: Listed<Machine>,
}

impl Facts {
    /// The version of this form of facts. Raised whenever a field changes its meaning; new fields don't.
    pub const VERSION: u32 = 1;

    /// Nothing was seen yet.
    pub fn new(api: Api) -> Self {
        Self {
            version: Self::VERSION,
            seen: None,
            api,
            nodes: Listed::default(),
            namespaces: Listed::default(),
            pods: Listed::default(),
            deployments: Listed::default(),
            daemon_sets: Listed::default(),
            stateful_sets: Listed::default(),
            replica_sets: Listed::default(),
            jobs: Listed::default(),
            services: Listed::default(),
            endpoints: Listed::default(),
            leases: Listed::default(),
            crds: Listed::default(),
            api_services: Listed::default(),
            csrs: Listed::default(),
            validating_webhooks: Listed::default(),
            mutating_webhooks: Listed::default(),
            claims: Listed::default(),
            volumes: Listed::default(),
            storage_classes: Listed::default(),
            csi_nodes: Listed::default(),
            csi_drivers: Listed::default(),
            attachments: Listed::default(),
            secrets: Listed::default(),
            config_maps: Listed::default(),
            events: Listed::default(),
            certificates: Listed::default(),
            issuers: Listed::default(),
            cluster_issuers: Listed::default(),
            git_repositories: Listed::default(),
            oci_repositories: Listed::default(),
            helm_repositories: Listed::default(),
            helm_charts: Listed::default(),
            buckets: Listed::default(),
            kustomizations: Listed::default(),
            helm_releases: Listed::default(),
            flux_instances: Listed::default(),
            resource_sets: Listed::default(),
            external_secrets: Listed::default(),
            secret_stores: Listed::default(),
            cluster_secret_stores: Listed::default(),
            sealed_secrets: Listed::default(),
            others: BTreeMap::new(),
            machines: Listed::default(),
        }
    }
}
