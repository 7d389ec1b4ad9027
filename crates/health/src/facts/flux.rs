//! Flux: sources, Kustomizations, HelmReleases, and what installs them.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::meta::WireMeta;
use super::wire::{lenient, nullable};
use super::{Condition, Fact, Kind, Meta, ObjectKey, Time};

const KUSTOMIZE: &str = "kustomize.toolkit.fluxcd.io";
const HELM: &str = "helm.toolkit.fluxcd.io";
const SOURCE: &str = "source.toolkit.fluxcd.io";
const OPERATOR: &str = "fluxcd.controlplane.io";

/// A revision as Flux writes it: `main@sha1:…`, `sha256:…`, a chart's version.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(pub EcoString);

impl Revision {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The digest or commit of it, without the branch or tag.
    pub fn digest(&self) -> &str {
        self.0.rsplit_once('@').map_or(self.0.as_str(), |(_, digest)| digest)
    }
}

/// One `dependsOn`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    pub on: ObjectKey,
    /// Ready is decided by an expression that we do not evaluate.
    pub by_expression: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireRef {
    api_version: EcoString,
    kind: EcoString,
    name: EcoString,
    #[serde(deserialize_with = "nullable")]
    namespace: EcoString,
    #[serde(deserialize_with = "nullable")]
    ready_expr: EcoString,
    optional: Option<bool>,
}

impl WireRef {
    /// The object that is meant, from an object of this namespace.
    fn key(&self, group: &str, kind: &str, namespace: &str) -> ObjectKey {
        let own = self.api_version.split_once('/').map_or(group, |(group, _)| group);
        let kind = if self.kind.is_empty() { kind } else { self.kind.as_str() };
        let namespace = if self.namespace.is_empty() { namespace } else { self.namespace.as_str() };
        ObjectKey::new(own, kind, namespace, &self.name)
    }

    fn waits(&self, group: &str, kind: &str, namespace: &str) -> Waits {
        Waits { on: self.key(group, kind, namespace), by_expression: !self.ready_expr.is_empty() }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireName {
    #[serde(deserialize_with = "nullable")]
    name: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireInventory {
    #[serde(deserialize_with = "nullable")]
    entries: Vec<WireEntry>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireEntry {
    id: EcoString,
}

impl WireInventory {
    /// Ids are `namespace_name_group_kind`; names of RBAC spell `:` as `__`.
    fn keys(&self) -> Vec<ObjectKey> {
        self.entries.iter().filter_map(|entry| inventory_key(&entry.id)).collect()
    }
}

fn inventory_key(id: &str) -> Option<ObjectKey> {
    let (namespace, rest) = id.split_once('_')?;
    let (rest, kind) = rest.rsplit_once('_')?;
    let (name, group) = rest.rsplit_once('_')?;
    Some(ObjectKey::new(group, kind, namespace, &name.replace("__", ":")))
}

/// A GitRepository, OCIRepository, HelmRepository, HelmChart or Bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub kind: EcoString,
    pub meta: Meta,
    pub suspend: bool,
    pub url: EcoString,
    /// The branch, tag, version or commit that is asked for.
    pub reference: EcoString,
    /// A HelmRepository of type `oci`, which has no status.
    pub is_oci_helm: bool,
    /// The Secret with its credentials.
    pub secret: EcoString,
    /// The source of a HelmChart.
    pub from: Option<ObjectKey>,
    pub observed_generation: Option<i64>,
    pub revision: Revision,
    /// When its artifact was stored.
    pub fetched: Option<Time>,
    pub handled: EcoString,
    pub conditions: Vec<Condition>,
}

impl Source {
    pub fn key(&self) -> ObjectKey {
        self.meta.key(SOURCE, &self.kind)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireSource {
    metadata: WireMeta,
    spec: WireSourceSpec,
    #[serde(deserialize_with = "nullable")]
    status: WireSourceStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireSourceSpec {
    suspend: Option<bool>,
    #[serde(deserialize_with = "nullable")]
    url: EcoString,
    #[serde(deserialize_with = "nullable")]
    endpoint: EcoString,
    #[serde(rename = "ref", deserialize_with = "nullable")]
    reference: WireReference,
    #[serde(deserialize_with = "nullable")]
    version: EcoString,
    #[serde(rename = "type", deserialize_with = "nullable")]
    kind: EcoString,
    #[serde(deserialize_with = "nullable")]
    secret_ref: WireName,
    source_ref: Option<WireRef>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireReference {
    commit: Option<EcoString>,
    digest: Option<EcoString>,
    name: Option<EcoString>,
    semver: Option<EcoString>,
    tag: Option<EcoString>,
    branch: Option<EcoString>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireSourceStatus {
    #[serde(deserialize_with = "lenient")]
    observed_generation: Option<i64>,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
    #[serde(deserialize_with = "nullable")]
    artifact: WireArtifact,
    #[serde(deserialize_with = "nullable")]
    last_handled_reconcile_at: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireArtifact {
    #[serde(deserialize_with = "nullable")]
    revision: Revision,
    #[serde(deserialize_with = "lenient")]
    last_update_time: Option<Time>,
}

impl Fact for Source {
    type Wire = WireSource;

    fn from_wire(wire: WireSource, kind: &Kind) -> Self {
        let (spec, status) = (wire.spec, wire.status);
        let meta: Meta = wire.metadata.into();
        let reference = spec.reference;
        let named = [reference.commit, reference.digest, reference.name, reference.semver, reference.tag];
        let reference = named.into_iter().flatten().find(|it| !it.is_empty()).or(reference.branch);
        Self {
            kind: kind.kind.clone(),
            suspend: spec.suspend == Some(true),
            url: if spec.url.is_empty() { spec.endpoint } else { spec.url },
            reference: reference.unwrap_or(spec.version),
            is_oci_helm: kind.kind == "HelmRepository" && spec.kind == "oci",
            secret: spec.secret_ref.name,
            from: spec.source_ref.map(|from| from.key(SOURCE, "HelmRepository", &meta.namespace)),
            observed_generation: status.observed_generation,
            revision: status.artifact.revision,
            fetched: status.artifact.last_update_time,
            handled: status.last_handled_reconcile_at,
            conditions: status.conditions,
            meta,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kustomization {
    pub meta: Meta,
    pub suspend: bool,
    pub source: ObjectKey,
    pub path: EcoString,
    pub depends_on: Vec<Waits>,
    pub wait: bool,
    pub interval: EcoString,
    pub retry_interval: EcoString,
    pub timeout: EcoString,
    /// The Secret with the key that decrypts, in its own namespace.
    pub decryption_secret: EcoString,
    /// Secrets and ConfigMaps that it can't be built without.
    pub substitute_from: Vec<ObjectKey>,
    pub health_checks: Vec<ObjectKey>,
    /// It applies to another cluster.
    pub remote: bool,
    pub observed_generation: Option<i64>,
    pub last_applied: Revision,
    pub last_attempted: Revision,
    pub inventory: Vec<ObjectKey>,
    pub handled: EcoString,
    pub conditions: Vec<Condition>,
}

impl Kustomization {
    pub fn key(&self) -> ObjectKey {
        self.meta.key(KUSTOMIZE, "Kustomization")
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireKustomization {
    metadata: WireMeta,
    spec: WireKustomizationSpec,
    #[serde(deserialize_with = "nullable")]
    status: WireKustomizationStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireKustomizationSpec {
    suspend: Option<bool>,
    source_ref: WireRef,
    #[serde(deserialize_with = "nullable")]
    path: EcoString,
    #[serde(deserialize_with = "nullable")]
    depends_on: Vec<WireRef>,
    wait: Option<bool>,
    #[serde(deserialize_with = "nullable")]
    interval: EcoString,
    #[serde(deserialize_with = "nullable")]
    retry_interval: EcoString,
    #[serde(deserialize_with = "nullable")]
    timeout: EcoString,
    #[serde(deserialize_with = "nullable")]
    decryption: WireDecryption,
    #[serde(deserialize_with = "nullable")]
    post_build: WirePostBuild,
    #[serde(deserialize_with = "nullable")]
    health_checks: Vec<WireRef>,
    kube_config: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireDecryption {
    #[serde(deserialize_with = "nullable")]
    secret_ref: WireName,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WirePostBuild {
    #[serde(deserialize_with = "nullable")]
    substitute_from: Vec<WireRef>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireKustomizationStatus {
    #[serde(deserialize_with = "lenient")]
    observed_generation: Option<i64>,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
    #[serde(deserialize_with = "nullable")]
    last_applied_revision: Revision,
    #[serde(deserialize_with = "nullable")]
    last_attempted_revision: Revision,
    #[serde(deserialize_with = "nullable")]
    last_handled_reconcile_at: EcoString,
    #[serde(deserialize_with = "nullable")]
    inventory: WireInventory,
}

/// Secrets and ConfigMaps that are named and not optional.
fn required(names: &[WireRef], namespace: &str) -> Vec<ObjectKey> {
    let required = names.iter().filter(|it| it.optional != Some(true));
    required.map(|it| ObjectKey::new("", &it.kind, namespace, &it.name)).collect()
}

impl Fact for Kustomization {
    type Wire = WireKustomization;

    fn from_wire(wire: WireKustomization, _: &Kind) -> Self {
        let (spec, status) = (wire.spec, wire.status);
        let meta: Meta = wire.metadata.into();
        let own = meta.namespace.clone();
        let waits = |it: &WireRef| it.waits(KUSTOMIZE, "Kustomization", &own);
        let check = |it: &WireRef| it.key("", &it.kind, &own);
        Self {
            suspend: spec.suspend == Some(true),
            source: spec.source_ref.key(SOURCE, "GitRepository", &own),
            path: spec.path,
            depends_on: spec.depends_on.iter().map(waits).collect(),
            wait: spec.wait == Some(true),
            interval: spec.interval,
            retry_interval: spec.retry_interval,
            timeout: spec.timeout,
            decryption_secret: spec.decryption.secret_ref.name,
            substitute_from: required(&spec.post_build.substitute_from, &own),
            health_checks: spec.health_checks.iter().map(check).collect(),
            remote: spec.kube_config.is_some(),
            observed_generation: status.observed_generation,
            last_applied: status.last_applied_revision,
            last_attempted: status.last_attempted_revision,
            inventory: status.inventory.keys(),
            handled: status.last_handled_reconcile_at,
            conditions: status.conditions,
            meta,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

/// The newest release of a HelmRelease.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Helm {
    #[serde(deserialize_with = "nullable")]
    pub name: EcoString,
    #[serde(deserialize_with = "nullable")]
    pub namespace: EcoString,
    /// `deployed`, `failed`, `pending-install` and so on.
    #[serde(deserialize_with = "nullable")]
    pub status: EcoString,
    #[serde(deserialize_with = "nullable")]
    pub chart_version: EcoString,
    #[serde(deserialize_with = "lenient")]
    pub version: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelmRelease {
    pub meta: Meta,
    pub suspend: bool,
    /// The chart's source: a HelmRepository, GitRepository and so on, or what `chartRef` names.
    pub source: Option<ObjectKey>,
    pub chart: EcoString,
    pub chart_version: EcoString,
    pub release: EcoString,
    /// Where its objects go.
    pub namespace: EcoString,
    pub depends_on: Vec<Waits>,
    pub interval: EcoString,
    pub retry_interval: EcoString,
    /// Secrets and ConfigMaps that it can't be installed without.
    pub values_from: Vec<ObjectKey>,
    pub remote: bool,
    pub observed_generation: Option<i64>,
    pub last_attempted: Revision,
    pub failures: i64,
    pub newest: Option<Helm>,
    /// The HelmChart that was made for it.
    pub helm_chart: Option<ObjectKey>,
    pub inventory: Vec<ObjectKey>,
    pub handled: EcoString,
    pub conditions: Vec<Condition>,
}

impl HelmRelease {
    pub fn key(&self) -> ObjectKey {
        self.meta.key(HELM, "HelmRelease")
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireRelease {
    metadata: WireMeta,
    spec: WireReleaseSpec,
    #[serde(deserialize_with = "nullable")]
    status: WireReleaseStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireReleaseSpec {
    suspend: Option<bool>,
    chart: Option<WireChart>,
    chart_ref: Option<WireRef>,
    #[serde(deserialize_with = "nullable")]
    release_name: EcoString,
    #[serde(deserialize_with = "nullable")]
    target_namespace: EcoString,
    #[serde(deserialize_with = "nullable")]
    depends_on: Vec<WireRef>,
    #[serde(deserialize_with = "nullable")]
    interval: EcoString,
    #[serde(deserialize_with = "nullable")]
    values_from: Vec<WireRef>,
    kube_config: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireChart {
    spec: WireChartSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireChartSpec {
    chart: EcoString,
    #[serde(deserialize_with = "nullable")]
    version: EcoString,
    source_ref: WireRef,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireReleaseStatus {
    #[serde(deserialize_with = "lenient")]
    observed_generation: Option<i64>,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
    #[serde(deserialize_with = "nullable")]
    last_attempted_revision: Revision,
    #[serde(deserialize_with = "lenient")]
    failures: i64,
    #[serde(deserialize_with = "lenient")]
    history: Vec<Helm>,
    #[serde(deserialize_with = "nullable")]
    helm_chart: EcoString,
    #[serde(deserialize_with = "nullable")]
    inventory: WireInventory,
    #[serde(deserialize_with = "nullable")]
    last_handled_reconcile_at: EcoString,
}

impl Fact for HelmRelease {
    type Wire = WireRelease;

    fn from_wire(wire: WireRelease, _: &Kind) -> Self {
        let (spec, status) = (wire.spec, wire.status);
        let meta: Meta = wire.metadata.into();
        let own = meta.namespace.clone();
        let chart = spec.chart.unwrap_or_default().spec;
        let named = (!chart.source_ref.name.is_empty()).then(|| chart.source_ref.key(SOURCE, "HelmRepository", &own));
        let helm_chart = status.helm_chart.split_once('/');
        let namespace = if spec.target_namespace.is_empty() { own.clone() } else { spec.target_namespace.clone() };
        Self {
            suspend: spec.suspend == Some(true),
            source: spec.chart_ref.map(|it| it.key(SOURCE, "OCIRepository", &own)).or(named),
            chart: chart.chart,
            chart_version: chart.version,
            release: release_name(&spec.release_name, &spec.target_namespace, &meta.name),
            namespace,
            depends_on: spec.depends_on.iter().map(|it| it.waits(HELM, "HelmRelease", &own)).collect(),
            interval: spec.interval,
            retry_interval: EcoString::new(),
            values_from: required(&spec.values_from, &own),
            remote: spec.kube_config.is_some(),
            observed_generation: status.observed_generation,
            last_attempted: status.last_attempted_revision,
            failures: status.failures,
            newest: status.history.into_iter().next(),
            helm_chart: helm_chart.map(|(namespace, name)| ObjectKey::new(SOURCE, "HelmChart", namespace, name)),
            inventory: status.inventory.keys(),
            handled: status.last_handled_reconcile_at,
            conditions: status.conditions,
            meta,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

/// As helm-controller names a release.
fn release_name(named: &str, target: &str, own: &str) -> EcoString {
    match (named, target) {
        ("", "") => own.into(),
        ("", target) => ecow::eco_format!("{target}-{own}"),
        (named, _) => named.into(),
    }
}

/// A FluxInstance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    pub meta: Meta,
    /// `fluxcd.controlplane.io/reconcile: disabled`.
    pub disabled: bool,
    pub version: EcoString,
    pub components: Vec<EcoString>,
    /// The source and Kustomization that it makes are named after its namespace.
    pub sync_kind: EcoString,
    pub sync_url: EcoString,
    pub sync_path: EcoString,
    pub observed_generation: Option<i64>,
    pub last_applied: Revision,
    pub inventory: Vec<ObjectKey>,
    pub conditions: Vec<Condition>,
}

impl Instance {
    pub fn key(&self) -> ObjectKey {
        self.meta.key(OPERATOR, "FluxInstance")
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireInstance {
    metadata: WireMeta,
    spec: WireInstanceSpec,
    #[serde(deserialize_with = "nullable")]
    status: WireInstanceStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireInstanceSpec {
    #[serde(deserialize_with = "nullable")]
    distribution: WireDistribution,
    #[serde(deserialize_with = "nullable")]
    components: Vec<EcoString>,
    #[serde(deserialize_with = "nullable")]
    sync: WireSync,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireDistribution {
    version: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireSync {
    kind: EcoString,
    url: EcoString,
    path: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireInstanceStatus {
    #[serde(deserialize_with = "lenient")]
    observed_generation: Option<i64>,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
    #[serde(deserialize_with = "nullable")]
    last_applied_revision: Revision,
    #[serde(deserialize_with = "nullable")]
    inventory: WireInventory,
}

const RECONCILE: &str = "fluxcd.controlplane.io/reconcile";

impl Fact for Instance {
    type Wire = WireInstance;

    fn from_wire(wire: WireInstance, _: &Kind) -> Self {
        let meta: Meta = wire.metadata.into();
        Self {
            disabled: meta.annotations.is(RECONCILE, "disabled"),
            version: wire.spec.distribution.version,
            components: wire.spec.components,
            sync_kind: wire.spec.sync.kind,
            sync_url: wire.spec.sync.url,
            sync_path: wire.spec.sync.path,
            observed_generation: wire.status.observed_generation,
            last_applied: wire.status.last_applied_revision,
            inventory: wire.status.inventory.keys(),
            conditions: wire.status.conditions,
            meta,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceSet {
    pub meta: Meta,
    pub disabled: bool,
    pub depends_on: Vec<Waits>,
    pub observed_generation: Option<i64>,
    pub inventory: Vec<ObjectKey>,
    pub conditions: Vec<Condition>,
}

impl ResourceSet {
    pub fn key(&self) -> ObjectKey {
        self.meta.key(OPERATOR, "ResourceSet")
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireResourceSet {
    metadata: WireMeta,
    spec: WireResourceSetSpec,
    #[serde(deserialize_with = "nullable")]
    status: WireInstanceStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireResourceSetSpec {
    #[serde(deserialize_with = "nullable")]
    depends_on: Vec<WireRef>,
}

impl Fact for ResourceSet {
    type Wire = WireResourceSet;

    fn from_wire(wire: WireResourceSet, _: &Kind) -> Self {
        let meta: Meta = wire.metadata.into();
        // A cluster-scoped object has no namespace, and none is given by default.
        let waits = |it: &WireRef| it.waits("", &it.kind, "");
        Self {
            disabled: meta.annotations.is(RECONCILE, "disabled"),
            depends_on: wire.spec.depends_on.iter().map(waits).collect(),
            observed_generation: wire.status.observed_generation,
            inventory: wire.status.inventory.keys(),
            conditions: wire.status.conditions,
            meta,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}
