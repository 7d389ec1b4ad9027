//! What every object has.

use std::collections::BTreeMap;

use ecow::EcoString;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::wire::{lenient, nullable};
use super::{ObjectKey, Time};

/// Labels and annotations that are kept, beside those whose name ends as in [`KEPT_ENDS`]: what software is known by, what
/// Flux and Helm mark their objects with, and what health is read from.
const KEPT: [&str; 21] = [
    "app",
    "app.kubernetes.io/component",
    "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by",
    "app.kubernetes.io/name",
    "app.kubernetes.io/part-of",
    "component",
    "endpointslice.kubernetes.io/managed-by",
    "helm.sh/chart",
    "io.cilium/app",
    "k8s-app",
    "kubernetes.io/metadata.name",
    "kubernetes.io/service-name",
    "meta.helm.sh/release-name",
    "meta.helm.sh/release-namespace",
    "name",
    "owner",
    "sealedsecrets.bitnami.com/sealed-secrets-key",
    "status",
    "vault-sealed",
    "version",
];
const KEPT_ENDS: [&str; 9] = [
    ".toolkit.fluxcd.io/name",
    ".toolkit.fluxcd.io/namespace",
    "fluxcd.controlplane.io/name",
    "fluxcd.controlplane.io/namespace",
    "fluxcd.controlplane.io/reconcile",
    "reconcile.fluxcd.io/requestedAt",
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
    "cert-manager.io/inject-ca-from",
];

/// A few labels or annotations, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Vec<(EcoString, EcoString)>);

impl Labels {
    pub fn get(&self, key: &str) -> Option<&str> {
        let at = self.0.binary_search_by(|(name, _)| name.as_str().cmp(key)).ok()?;
        Some(self.0[at].1.as_str())
    }

    pub fn is(&self, key: &str, value: &str) -> bool {
        self.get(key) == Some(value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether these labels carry all those that a selector asks for. An empty selector selects nothing.
    pub fn match_all(&self, selector: &Self) -> bool {
        !selector.is_empty() && selector.iter().all(|(key, value)| self.is(key, value))
    }

    #[must_use]
    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.0.retain(|(name, _)| name != key);
        self.0.push((key.into(), value.into()));
        self.0.sort();
        self
    }
}

impl FromIterator<(EcoString, EcoString)> for Labels {
    fn from_iter<I: IntoIterator<Item = (EcoString, EcoString)>>(pairs: I) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort();
        pairs.dedup_by(|a, b| a.0 == b.0);
        pairs.shrink_to_fit();
        Self(pairs)
    }
}

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map: Option<BTreeMap<EcoString, Option<EcoString>>> = Option::deserialize(deserializer)?;
        Ok(map.unwrap_or_default().into_iter().map(|(key, value)| (key, value.unwrap_or_default())).collect())
    }
}

/// Who made an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub group: EcoString,
    pub kind: EcoString,
    pub name: EcoString,
}

/// Name, age and ties of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    pub name: EcoString,
    #[serde(default, skip_serializing_if = "EcoString::is_empty")]
    pub namespace: EcoString,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<Time>,
    /// When its deletion was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<Time>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<EcoString>,
    /// Those that matter to health, not all.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Those that matter to health, not all.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub annotations: Labels,
    /// The owner that is its controller, else the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Where a watch goes on. Not recorded: it says nothing of health.
    #[serde(skip)]
    pub resource_version: EcoString,
}

impl Meta {
    pub fn key(&self, group: &str, kind: &str) -> ObjectKey {
        ObjectKey { group: group.into(), kind: kind.into(), namespace: self.namespace.clone(), name: self.name.clone() }
    }

    /// `namespace/name`, or the bare name.
    pub fn path(&self) -> String {
        if self.namespace.is_empty() { self.name.to_string() } else { format!("{}/{}", self.namespace, self.name) }
    }

    pub fn is_at(&self, namespace: &str, name: &str) -> bool {
        self.namespace == namespace && self.name == name
    }
}

/// `metadata` of an object.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WireMeta {
    #[serde(deserialize_with = "nullable")]
    name: EcoString,
    #[serde(deserialize_with = "nullable")]
    namespace: EcoString,
    #[serde(deserialize_with = "lenient")]
    generation: Option<i64>,
    #[serde(deserialize_with = "lenient")]
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<EcoString>,
    #[serde(deserialize_with = "nullable")]
    finalizers: Vec<EcoString>,
    pub(crate) labels: Labels,
    annotations: Labels,
    #[serde(deserialize_with = "nullable")]
    owner_references: Vec<WireOwner>,
    #[serde(deserialize_with = "nullable")]
    resource_version: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireOwner {
    api_version: EcoString,
    kind: EcoString,
    name: EcoString,
    controller: Option<bool>,
}

fn kept(labels: Labels) -> Labels {
    let is_kept = |key: &str| KEPT.binary_search(&key).is_ok() || KEPT_ENDS.iter().any(|end| key.ends_with(end));
    labels.0.into_iter().filter(|(key, _)| is_kept(key)).collect()
}

impl WireMeta {
    /// An annotation of the object itself, kept or not.
    pub(crate) fn annotation(&self, key: &str) -> EcoString {
        self.annotations.get(key).unwrap_or_default().into()
    }

    /// With all labels: what selectors ask for may be any of them.
    pub(crate) fn with_all_labels(mut self) -> Meta {
        let labels = std::mem::take(&mut self.labels);
        Meta { labels, ..self.into() }
    }
}

impl From<WireMeta> for Meta {
    fn from(mut wire: WireMeta) -> Self {
        let at = wire.owner_references.iter().position(|owner| owner.controller == Some(true)).unwrap_or(0);
        let owner = (at < wire.owner_references.len()).then(|| wire.owner_references.swap_remove(at));
        let owner = owner.map(|owner| {
            let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
            Owner { group: group.into(), kind: owner.kind, name: owner.name }
        });
        Self {
            name: wire.name,
            namespace: wire.namespace,
            generation: wire.generation,
            created: wire.creation_timestamp,
            // A deletion at a time that can't be read is still a deletion.
            deleted: wire.deletion_timestamp.map(|at| Time::parse(&at).unwrap_or(Time::from_millis(0))),
            finalizers: wire.finalizers,
            labels: kept(wire.labels),
            annotations: kept(wire.annotations),
            owner,
            resource_version: wire.resource_version,
        }
    }
}
