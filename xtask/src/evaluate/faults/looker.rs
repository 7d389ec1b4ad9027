//! Asking `status` about a lab, with exactly the rights that ship.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use lab::Lab;
use lab::faults::{Named, Told};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::product;

const WHO: &str = "system:serviceaccount:default:looker";

pub(super) struct Looker<'a> {
    binary: &'a Path,
    home: TempDir,
}

/// What was told.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    pub(super) outcome: String,
    pub(super) roots: Vec<Told>,
}

impl<'a> Looker<'a> {
    pub(super) fn new(binary: &'a Path, lab: &Lab) -> Result<Self> {
        let role = product::workspace().join("packaging/status-clusterrole.yaml");
        lab.apply(&std::fs::read_to_string(role)?)?;
        lab.apply_value(&json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "looker"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "coldstart-status"},
            "subjects": [{"kind": "ServiceAccount", "name": "looker", "namespace": "default"}]}))?;
        let mut config: Value = serde_json::from_slice(&std::fs::read(lab.kubeconfig())?)?;
        config["users"][0]["user"]["as"] = WHO.into();
        let looker = Self { binary, home: tempfile::tempdir()? };
        std::fs::write(looker.home.path().join("config"), config.to_string())?;
        Ok(looker)
    }

    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.binary);
        command.args(["status", "--format", "json"]).args(words).stdin(Stdio::null()).stderr(Stdio::null());
        command.env("KUBECONFIG", self.home.path().join("config")).env("HOME", self.home.path());
        command
    }

    pub(super) fn look(&self) -> Result<Report> {
        ask(&mut self.command(&[]))
    }

    /// Looks, and judges what was recorded of it once more.
    pub(super) fn look_twice(&self) -> Result<(Report, Report)> {
        let file: PathBuf = self.home.path().join("recording.json");
        let path = file.to_string_lossy();
        let live = ask(&mut self.command(&["--record", &path]))?;
        Ok((live, ask(&mut self.command(&["--from", &path]))?))
    }
}

fn ask(command: &mut Command) -> Result<Report> {
    let output = command.output()?;
    let value = serde_json::from_slice(&output.stdout).with_context(|| format!("{} told no JSON", output.status))?;
    Ok(read(&value))
}

/// The part of a report that cases are about.
pub(super) fn read(value: &Value) -> Report {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let named = |value: &Value| Named { kind: text(&value["kind"]), name: text(&value["name"]) };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let root = |root: &Value| Told {
        object: named(&root["object"]),
        id: root["id"].as_str().map(str::to_owned),
        blocks: list(&root["blocks"]).iter().map(|blocked| named(&blocked["object"])).collect(),
    };
    Report { outcome: text(&value["outcome"]), roots: list(&value["roots"]).iter().map(root).collect() }
}
