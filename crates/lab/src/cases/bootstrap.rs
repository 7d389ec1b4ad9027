//! What a bootstrap does before Flux starts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::CaseError;
use super::copy::{documents, yaml_files};
use super::record::Record;
use super::told::{Helmfile, Told};
use crate::Lab;
use crate::build::{self, Tool};

pub(super) fn run(
    lab: &Lab,
    record: &Record,
    told: &Told,
    tree: &Path,
    charts: &BTreeMap<String, PathBuf>,
) -> Result<(), CaseError> {
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
    if let Some(helmfile) = &told.bootstrap.helmfile {
        sync(lab, record, helmfile, tree, charts)?;
    }
    Ok(())
}

fn is_kustomization(object: &Value) -> bool {
    object["apiVersion"].as_str().is_some_and(|version| version.starts_with("kustomize.config.k8s.io"))
}

/// `helmfile sync` with the real helmfile and helm, and our charts instead of those on the network.
fn sync(
    lab: &Lab,
    record: &Record,
    helmfile: &Helmfile,
    tree: &Path,
    charts: &BTreeMap<String, PathBuf>,
) -> Result<(), CaseError> {
    let path = tree.join(&helmfile.file);
    let text = fs::read_to_string(&path).map_err(CaseError::io("read", &path))?;
    let mut all = documents(&path, &text)?;
    for document in &mut all {
        for release in document["releases"].as_array_mut().into_iter().flatten() {
            let chart = release["chart"].as_str().and_then(|chart| chart.rsplit('/').next()).unwrap_or_default();
            let chart = charts.get(chart).ok_or_else(|| CaseError::step("helmfile", format!("no chart {chart}")))?;
            release["chart"] = chart.to_string_lossy().into_owned().into();
            release["timeout"] = helmfile.timeout.into();
            if let Some(release) = release.as_object_mut() {
                release.remove("version");
            }
        }
    }
    let texts: Vec<String> = all.iter().map(Value::to_string).collect();
    fs::write(&path, texts.join("\n---\n")).map_err(CaseError::io("write", &path))?;
    let helm = build::binary(Tool::Helm).map_err(|error| CaseError::step("find helm", error))?;
    let outcome = program(Tool::Helmfile, |command| {
        command.arg("--helm-binary").arg(helm).arg("--file").arg(&path).arg("sync").env("KUBECONFIG", lab.kubeconfig())
    });
    match (outcome, &helmfile.fails) {
        (Ok(_), None) => record.note("helmfile", "sync succeeded"),
        (Err(CaseError::Step { message, .. }), Some(says)) if message.contains(says) => {
            record.note("helmfile", format!("sync failed: {message}"));
        }
        (Ok(_), Some(says)) => return Err(CaseError::step("helmfile", format!("did not fail with {says:?}"))),
        (Err(error), _) => return Err(error),
    }
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
