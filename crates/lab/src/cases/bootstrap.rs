//! What a bootstrap does before Flux starts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::CaseError;
use super::copy::{Fill, documents, yaml_files};
use super::record::Record;
use super::told::{Helmfile, Told};
use crate::Lab;
use crate::build::{self, Tool};

/// Whether it got to its end: only then does Flux start.
pub(super) fn run(
    lab: &Lab,
    record: &Record,
    told: &Told,
    tree: &Path,
    charts: &BTreeMap<String, PathBuf>,
    fill: &Fill,
) -> Result<bool, CaseError> {
    for directory in &told.bootstrap.apply {
        for file in yaml_files(&tree.join(directory))? {
            let text = fs::read_to_string(&file).map_err(CaseError::io("read", &file))?;
            let objects = documents(&file, &text)?;
            for object in objects.iter().filter(|object| !is_kustomization(object)) {
                let applied = lab.apply_value(object)?;
                record.note(&applied.to_string(), "is seeded by the bootstrap");
            }
        }
    }
    for chart in &told.bootstrap.crds {
        let path = charts.get(chart).ok_or_else(|| CaseError::step("bootstrap", format!("no chart {chart}")))?;
        let rendered = program(Tool::Helm, |helm| helm.args(["template", chart, "--include-crds"]).arg(path))?;
        for object in documents(path, &rendered)?.iter().filter(|one| one["kind"] == "CustomResourceDefinition") {
            let applied = lab.apply_value(object)?;
            record.note(&applied.to_string(), "is applied by the bootstrap's CRD pass");
        }
    }
    let Some(helmfile) = &told.bootstrap.helmfile else { return Ok(true) };
    point_at_the_lab(helmfile, tree, charts, fill)?;
    let outcome = sync(lab, record, helmfile, tree);
    match (outcome, &helmfile.fails) {
        (Ok(()), None) => Ok(true),
        (Err(CaseError::Step { message, .. }), Some(says)) if message.contains(says) => {
            record.note("helmfile", format!("sync failed: {message}"));
            Ok(false)
        }
        (Ok(()), Some(says)) => Err(CaseError::step("helmfile", format!("did not fail with {says:?}"))),
        (Err(error), _) => Err(error),
    }
}

fn is_kustomization(object: &Value) -> bool {
    object["apiVersion"].as_str().is_some_and(|version| version.starts_with("kustomize.config.k8s.io"))
}

/// Our charts instead of those on the network, and time at the lab's pace.
fn point_at_the_lab(
    helmfile: &Helmfile,
    tree: &Path,
    charts: &BTreeMap<String, PathBuf>,
    fill: &Fill,
) -> Result<(), CaseError> {
    let path = tree.join(&helmfile.file);
    let text = fs::read_to_string(&path).map_err(CaseError::io("read", &path))?;
    let mut all = documents(&path, &text)?;
    for document in &mut all {
        for release in document["releases"].as_array_mut().into_iter().flatten() {
            let text = |key: &str| release[key].as_str().unwrap_or_default().to_owned();
            let (name, namespace, chart) = (text("name"), text("namespace"), text("chart"));
            let chart = chart.rsplit('/').next().unwrap_or_default();
            let staged = charts.get(chart).ok_or_else(|| CaseError::step("helmfile", format!("no chart {chart}")))?;
            let lab = json!({"lab": fill.values(chart, &namespace, &name)});
            if !release["values"].is_array() {
                release["values"] = json!([]);
            }
            if let Some(values) = release["values"].as_array_mut() {
                values.push(lab);
            }
            release["chart"] = staged.to_string_lossy().into_owned().into();
            release["timeout"] = helmfile.timeout.into();
            if let Some(release) = release.as_object_mut() {
                release.remove("version");
            }
        }
    }
    // helmfile looks for its keys at the beginning of lines before it parses.
    let lines = |document: &Value| {
        let entries = document.as_object().into_iter().flatten();
        entries.map(|(key, value)| format!("{key}: {value}")).collect::<Vec<String>>().join("\n")
    };
    let texts: Vec<String> = all.iter().map(lines).collect();
    fs::write(&path, texts.join("\n---\n")).map_err(CaseError::io("write", &path))
}

/// `helmfile sync` with the real helmfile and helm.
pub(super) fn sync(lab: &Lab, record: &Record, helmfile: &Helmfile, tree: &Path) -> Result<(), CaseError> {
    let helm = build::binary(Tool::Helm).map_err(|error| CaseError::step("find helm", error))?;
    record.note("helmfile", "sync");
    program(Tool::Helmfile, |command| {
        command.arg("--helm-binary").arg(helm).arg("--file").arg(tree.join(&helmfile.file)).arg("sync");
        command.env("KUBECONFIG", lab.kubeconfig()).env("HOME", tree)
    })?;
    record.note("helmfile", "sync succeeded");
    Ok(())
}

fn program(tool: Tool, arguments: impl FnOnce(&mut Command) -> &mut Command) -> Result<String, CaseError> {
    let path = build::binary(tool).map_err(|error| CaseError::step(format!("find {}", tool.name()), error))?;
    let mut command = Command::new(path);
    let output = arguments(&mut command).output().map_err(|error| CaseError::step(tool.name(), error))?;
    let say = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(say(&output.stdout));
    }
    Err(CaseError::step(tool.name(), say(&output.stderr)))
}
