//! Names of objects, and what their status says.

use std::fmt;

use serde_json::Value;

pub(crate) const KUSTOMIZE: &str = "kustomize.toolkit.fluxcd.io/v1";
pub(crate) const HELM: &str = "helm.toolkit.fluxcd.io/v2";
pub(crate) const SOURCE: &str = "source.toolkit.fluxcd.io/v1";

/// Which object: enough to ask the API server for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object {
    pub api_version: String,
    pub kind: String,
    pub namespace: Option<String>,
    pub name: String,
}

impl Object {
    pub fn new(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self { namespace: Some(namespace.to_owned()), ..Self::cluster_wide(api_version, kind, name) }
    }

    pub fn cluster_wide(api_version: &str, kind: &str, name: &str) -> Self {
        Self { api_version: api_version.to_owned(), kind: kind.to_owned(), namespace: None, name: name.to_owned() }
    }

    pub fn kustomization(namespace: &str, name: &str) -> Self {
        Self::new(KUSTOMIZE, "Kustomization", namespace, name)
    }

    pub fn helm_release(namespace: &str, name: &str) -> Self {
        Self::new(HELM, "HelmRelease", namespace, name)
    }

    pub fn git_repository(namespace: &str, name: &str) -> Self {
        Self::new(SOURCE, "GitRepository", namespace, name)
    }

    pub fn deployment(namespace: &str, name: &str) -> Self {
        Self::new("apps/v1", "Deployment", namespace, name)
    }

    pub fn daemon_set(namespace: &str, name: &str) -> Self {
        Self::new("apps/v1", "DaemonSet", namespace, name)
    }

    pub fn stateful_set(namespace: &str, name: &str) -> Self {
        Self::new("apps/v1", "StatefulSet", namespace, name)
    }

    pub fn job(namespace: &str, name: &str) -> Self {
        Self::new("batch/v1", "Job", namespace, name)
    }

    pub fn pod(namespace: &str, name: &str) -> Self {
        Self::new("v1", "Pod", namespace, name)
    }

    pub fn secret(namespace: &str, name: &str) -> Self {
        Self::new("v1", "Secret", namespace, name)
    }

    pub fn config_map(namespace: &str, name: &str) -> Self {
        Self::new("v1", "ConfigMap", namespace, name)
    }

    pub fn namespace(name: &str) -> Self {
        Self::cluster_wide("v1", "Namespace", name)
    }

    pub fn node(name: &str) -> Self {
        Self::cluster_wide("v1", "Node", name)
    }

    pub fn crd(name: &str) -> Self {
        Self::cluster_wide("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)
    }

    /// The name that an object carries itself.
    pub fn of(value: &Value) -> Option<Self> {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
        Some(Self {
            api_version: text("/apiVersion")?.to_owned(),
            kind: text("/kind")?.to_owned(),
            namespace: text("/metadata/namespace").map(str::to_owned),
            name: text("/metadata/name")?.to_owned(),
        })
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind, self.name),
            None => write!(f, "{} {}", self.kind, self.name),
        }
    }
}

/// One entry of `.status.conditions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub kind: String,
    pub status: String,
    pub reason: String,
    pub message: String,
    pub observed_generation: Option<i64>,
    pub last_transition: String,
}

/// All conditions of an object, in its order.
pub fn conditions(object: &Value) -> Vec<Condition> {
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let entries = object.pointer("/status/conditions").and_then(Value::as_array);
    let read = |entry: &Value| Condition {
        kind: text(entry, "type"),
        status: text(entry, "status"),
        reason: text(entry, "reason"),
        message: text(entry, "message"),
        observed_generation: entry["observedGeneration"].as_i64(),
        last_transition: text(entry, "lastTransitionTime"),
    };
    entries.into_iter().flatten().map(read).collect()
}

/// The condition of one type.
pub fn condition(object: &Value, kind: &str) -> Option<Condition> {
    conditions(object).into_iter().find(|condition| condition.kind == kind)
}
