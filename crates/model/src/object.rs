use std::fmt;

use ecow::EcoString;
use serde::{Deserialize, Serialize};

/// The name of an object in a cluster. An empty namespace means cluster-scoped, or not known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectRef {
    pub kind: EcoString,
    pub namespace: EcoString,
    pub name: EcoString,
}

impl ObjectRef {
    pub fn new(kind: impl Into<EcoString>, namespace: impl Into<EcoString>, name: impl Into<EcoString>) -> Self {
        Self { kind: kind.into(), namespace: namespace.into(), name: name.into() }
    }

    /// `namespace/name`, or the bare name of a cluster-scoped object.
    pub fn path(&self) -> String {
        if self.namespace.is_empty() { self.name.to_string() } else { format!("{}/{}", self.namespace, self.name) }
    }

    /// Whether a gate sees it as unfinished from the moment it is made. An object of any other kind has no status yet when
    /// it is first looked at, milliseconds later, and counts as healthy: the gate has opened before its controller says
    /// anything.
    pub fn is_seen_from_the_start(&self) -> bool {
        matches!(
            self.kind.as_str(),
            "Deployment"
                | "StatefulSet"
                | "DaemonSet"
                | "ReplicaSet"
                | "Job"
                | "Pod"
                | "PersistentVolumeClaim"
                | "HelmRelease"
                | "Kustomization"
        )
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.path())
    }
}
