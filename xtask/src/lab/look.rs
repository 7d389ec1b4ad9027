//! How far Flux is in a lab, asked with its kubectl.

use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use lab::build::Tool;
use serde_json::Value;

/// How many objects of a kind are ready, and what the others say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Readiness {
    pub(crate) total: usize,
    pub(crate) waiting: Vec<String>,
}

impl fmt::Display for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} ready", self.total - self.waiting.len(), self.total)
    }
}

pub(crate) fn kustomizations(kubeconfig: &Path) -> Result<Readiness> {
    readiness(kubeconfig, "kustomizations.kustomize.toolkit.fluxcd.io")
}

pub(crate) fn releases(kubeconfig: &Path) -> Result<Readiness> {
    readiness(kubeconfig, "helmreleases.helm.toolkit.fluxcd.io")
}

fn readiness(kubeconfig: &Path, resource: &str) -> Result<Readiness> {
    let mut command = Command::new(lab::build::binary(Tool::Kubectl)?);
    command.arg("--kubeconfig").arg(kubeconfig).args(["get", resource, "--all-namespaces", "--output", "json"]);
    let output = command.arg("--request-timeout=5s").output().context("run kubectl")?;
    if !output.status.success() {
        bail!("kubectl: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let list: Value = serde_json::from_slice(&output.stdout)?;
    let items = list["items"].as_array().cloned().unwrap_or_default();
    Ok(Readiness { total: items.len(), waiting: items.iter().filter_map(says_no).collect() })
}

fn says_no(object: &Value) -> Option<String> {
    let ready = lab::condition(object, "Ready");
    if ready.as_ref().is_some_and(|ready| ready.status == "True") {
        return None;
    }
    let name = lab::Object::of(object).map(|object| object.to_string()).unwrap_or_default();
    let why =
        ready.map_or_else(|| "not looked at yet".to_owned(), |ready| format!("{}: {}", ready.reason, ready.message));
    Some(format!("{name}: {}", why.lines().next().unwrap_or_default()))
}
