//! The schema of a catalogue file. `docs/catalogue.md` explains it to people who add one.
//!
//! What is not said is not written either: the program reads the embedded data at each start.

use std::ops::Not;

use serde::{Deserialize, Serialize};

/// One piece of software, however it is deployed.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Component {
    /// The file's name without its ending.
    pub name: String,
    /// One line: what it is.
    pub about: String,
    pub layer: Layer,
    /// Names of the Helm charts that deploy it: the last part of a chart's or an OCI artifact's path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charts: Vec<String>,
    /// Image repositories (without tag, registry optional) that give it away in plain manifests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// From applied to healthy on an ordinary cluster with images to pull.
    pub startup_seconds: u32,
    /// The workloads that run when it is healthy, under its chart's own values: `Kind:name`, with names as in
    /// [`Self::services`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub healthy: Vec<String>,
    /// The DaemonSet that gives each node its network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<Resource>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crds: Vec<Crds>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub webhooks: Vec<Webhook>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Class>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gives: Vec<Gift>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub makes: Vec<Made>,
    /// Kinds of its own whose objects are a part of an object of another kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub satellites: Vec<Satellite>,
    /// What the status of its kinds says about their health.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<Status>,
    /// What is spoken at the first of its Services, where it is a database: postgresql, mysql, redis, mongodb.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaks: Option<String>,
    /// Names of Services that its chart makes. `{release}` stands for the release's name, `{fullname}` for the name that
    /// starter charts make of it: the release's, with the chart's appended unless it is in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
    /// The workloads that its chart makes. Not given: a Deployment of the usual name. An empty list: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workloads: Option<Vec<Workload>>,
    /// Names of the custom resources that its chart renders, where they are not the release's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renders: Vec<Rendered>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// Where the claims of this file can be read.
    pub sources: Vec<String>,
}

/// The floor a component lives on, bottom-up.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    Network,
    Dns,
    Node,
    Gitops,
    Secrets,
    Certificates,
    Storage,
    Ingress,
    Policy,
    Observability,
    Database,
    Identity,
    Platform,
    Application,
}

/// The custom resource that its chart consists of. An operator does the work, and Helm does not wait for it: classes,
/// gifts and Services of the component are there some time after its release is ready.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Resource {
    /// `group/Kind`.
    pub kind: String,
    /// Where the values name it.
    #[serde(default)]
    pub name_at: Option<String>,
    /// Its name where the values say nothing. `{release}` and `{fullname}` as in [`Component::services`], `{namespace}` is
    /// where the release lands.
    pub name: String,
    #[serde(default)]
    pub when: Vec<When>,
}

/// What runs on every node and gives it its network.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Agent {
    /// The name of its DaemonSet.
    pub daemon_set: String,
    /// How many of its pods may be missing when Helm counts it as ready, under the chart's own values.
    pub unavailable_max: u32,
}

/// CRDs that come with it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Crds {
    /// `group/Kind`, or `group/*` for every kind of a group that belongs to it alone.
    pub kinds: Vec<String>,
    pub via: Via,
    /// Any of these must hold; none listed means always.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<When>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// The chart's `crds/` directory: first, and subject to the release's `crds` policy.
    CrdsDirectory,
    /// Ordinary templates: in the same apply as everything else of the chart.
    Templates,
    /// Its own program registers them once it runs.
    Program,
}

/// A condition on the release's merged values.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct When {
    /// Path into the values, with dots; `\.` is a dot inside of a key.
    pub value: String,
    /// The text it must have; absent means: anything but false, null, empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals: Option<String>,
    /// Whether the condition holds where the values do not mention the path.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub default: bool,
    /// Turns the outcome round where the values do mention the path; `default` is always the last word where not.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub not: bool,
    /// Conditions that must hold as well, all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub and: Vec<When>,
}

/// An admission webhook.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Webhook {
    /// What it is asked about: `group/Kind`, `group/*`, `/Kind` of the core group, or `*` for everything.
    pub covers: Vec<String>,
    /// `failurePolicy: Fail`: while it does not answer, those objects can't be applied.
    pub fails_closed: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<When>,
}

/// Classes that its chart makes from its values.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Class {
    /// StorageClass, VolumeSnapshotClass, IngressClass, GatewayClass, PriorityClass, RuntimeClass, ...
    pub kind: String,
    /// Where the values name it: dots, `[]` for each item of a list, `*` for each key of a mapping. A path that closes
    /// with `*` means the keys themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_at: Option<String>,
    /// The name where the values say nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<When>,
    /// Conditions on each named item: paths start at the mapping that holds the name, or that the key stands for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub item_when: Vec<When>,
    /// Conditions, with paths as in `item-when`, under which it is the class of those who name none; without a path that
    /// names it, they start at the root. Without any it never is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub default_when: Vec<When>,
}

/// Something cluster-wide that is there once it runs.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Gift {
    /// pod-network, cluster-dns, load-balancer, node-label, node-initialized, device, snapshot-controller, metrics-api,
    /// csi-driver, secret-provider, network-attachments, ...
    pub capability: String,
    /// Which label, device or driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<When>,
}

/// What its controller makes for a custom resource. Names are patterns over the resource: `{metadata.name}-app`,
/// `{spec.target.name|metadata.name}` takes the first that is there.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Made {
    /// `group/Kind` of the custom resource.
    pub for_kind: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub config_maps: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
    /// What is spoken at the first of the Services, as in [`Component::speaks`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaks: Option<String>,
    /// Labels that nodes get, and extended resources that they offer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node_labels: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// Other objects, as `Kind:name-pattern`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<String>,
    /// Conditions on the custom resource: paths start at its root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<When>,
}

/// Objects that come to nothing without another one: a Database without its Cluster.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Satellite {
    /// `group/Kind` of each that is a part.
    pub kinds: Vec<String>,
    /// `group/Kind` of what they are a part of.
    pub of: String,
    /// Its name, or `namespace/name`: a pattern over the part, as in [`Made`]. Where it is not given, or leads nowhere, the only
    /// object of the kind is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its namespace, where it may be another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// How the health of a kind shows in its status.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Status {
    /// `group/Kind`.
    pub kind: String,
    /// The version of the group that the fields are in.
    pub version: String,
    /// True when an object of the kind does its work: an expression for `healthCheckExprs`.
    pub current: String,
    /// Where that can be read.
    pub source: String,
}

/// Pods that its chart makes, as one object.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Workload {
    /// With `{release}` and `{fullname}`, as in [`Component::services`].
    pub name: String,
    #[serde(default)]
    pub kind: WorkloadKind,
    /// Its webhooks are answered by these pods; if no workload says so, by all of them.
    #[serde(default)]
    pub answers_webhooks: bool,
    #[serde(default)]
    pub when: Vec<When>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
pub enum WorkloadKind {
    #[default]
    Deployment,
    StatefulSet,
    DaemonSet,
}

/// A custom resource that its chart renders.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rendered {
    /// `group/Kind`.
    pub kind: String,
    /// With `{release}`, `{fullname}` and `{namespace}`.
    pub name: String,
}

/// What it can't do without.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Need {
    /// As in [`Gift::capability`], or `crd`.
    pub capability: String,
    /// Which label, device, driver; for `crd` the `group/Kind`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub phase: Phase,
    /// Better with it, but comes up without.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub soft: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<When>,
    /// One line, for the finding.
    pub why: String,
}

/// When a need is felt.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Its objects are refused without.
    Apply,
    /// Its pods do not become ready without.
    Ready,
    /// It runs, and fails at its work without.
    Run,
}
