//! What an object is called.

use std::fmt;

use ecow::EcoString;
use serde::{Deserialize, Serialize};

/// A group, version and kind. The version may be empty: nothing is told apart by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Kind {
    pub group: EcoString,
    #[serde(default, skip_serializing_if = "EcoString::is_empty")]
    pub version: EcoString,
    pub kind: EcoString,
}

impl Kind {
    pub fn new(group: &str, version: &str, kind: &str) -> Self {
        Self { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// Of `apiVersion` and `kind`.
    pub fn of(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self::new(group, version, kind)
    }

    /// `kind.group`, or the bare kind of the core group.
    pub fn qualified(&self) -> EcoString {
        if self.group.is_empty() { self.kind.clone() } else { ecow::eco_format!("{}.{}", self.kind, self.group) }
    }
}

/// One object of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectKey {
    #[serde(default, skip_serializing_if = "EcoString::is_empty")]
    pub group: EcoString,
    pub kind: EcoString,
    #[serde(default, skip_serializing_if = "EcoString::is_empty")]
    pub namespace: EcoString,
    pub name: EcoString,
}

impl ObjectKey {
    pub fn new(group: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self { group: group.into(), kind: kind.into(), namespace: namespace.into(), name: name.into() }
    }
}

/// `Kind namespace/name`.
impl fmt::Display for ObjectKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            write!(formatter, "{} {}", self.kind, self.name)
        } else {
            write!(formatter, "{} {}/{}", self.kind, self.namespace, self.name)
        }
    }
}
