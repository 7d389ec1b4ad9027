//! A hindsight case: one commit in which a person added a missing order or gate, and what was visible before it.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

/// A Kubernetes object, as cases and findings name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, serde::Serialize)]
pub(crate) struct Reference {
    #[serde(default)]
    pub kind: Option<String>,
    #[serde(default)]
    pub namespace: Option<String>,
    #[serde(default)]
    pub name: Option<String>,
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let part = |part: &Option<String>| part.clone().unwrap_or_else(|| "?".to_owned());
        write!(f, "{} {}/{}", part(&self.kind), part(&self.namespace), part(&self.name))
    }
}

/// One line of the case file. Pairs that order already implied have the first half of the fields only.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Case {
    pub id: String,
    pub repo: String,
    pub parent: String,
    pub object: Reference,
    #[serde(default)]
    pub path: String,
    #[serde(default)]
    pub added: Vec<Reference>,
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub tool: String,
    #[serde(default)]
    pub gate: Value,
    #[serde(default)]
    pub object_kustomization: Option<Reference>,
    #[serde(default)]
    pub added_kustomization: Option<Reference>,
    #[serde(default)]
    pub evidence_class: String,
    #[serde(default)]
    pub evidence_detail: String,
    #[serde(default)]
    pub weight: f64,
    #[serde(default)]
    pub tier: u32,
}

impl Case {
    /// Whether the person added a gate to `object`, rather than an order.
    pub(crate) fn is_gate(&self) -> bool {
        self.kind.starts_with("gate-")
    }
}

/// Reads a file of one case per line.
pub(crate) fn load(path: &Path) -> Result<Vec<Case>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| serde_json::from_str(line).with_context(|| format!("{}:{}", path.display(), at + 1)))
        .collect()
}
