//! The lab's own charts: staged with what they share, and which workloads each has.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::CaseError;

const SHARED: &str = "_lab.tpl";

/// Where the charts are in this work tree.
pub(super) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("charts")
}

/// Copies every chart, with the shared template in it, below a directory. By name.
pub(super) fn stage(into: &Path) -> Result<BTreeMap<String, PathBuf>, CaseError> {
    let from = directory();
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(&from).map_err(CaseError::io("read", &from))? {
        let chart = entry.map_err(CaseError::io("read", &from))?.path();
        if !chart.is_dir() {
            continue;
        }
        let name = chart.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let target = into.join(&name);
        copy(&chart, &target)?;
        let shared = target.join("templates").join(SHARED);
        fs::copy(from.join(SHARED), &shared).map_err(CaseError::io("write", &shared))?;
        all.insert(name, target);
    }
    Ok(all)
}

/// The version that a chart gives itself.
pub(super) fn version(chart: &Path) -> Result<String, CaseError> {
    let path = chart.join("Chart.yaml");
    let text = fs::read_to_string(&path).map_err(CaseError::io("read", &path))?;
    let about = super::copy::documents(&path, &text)?;
    let version = about.first().and_then(|about| about["version"].as_str()).unwrap_or_default();
    Ok(version.to_owned())
}

/// The names of a chart's workloads; an empty one stands for the release's own name.
pub(super) fn workloads(chart: &Path) -> Result<Vec<String>, CaseError> {
    const CALL: &str = "include \"lab.deployment\"";
    let mut names = Vec::new();
    for path in super::copy::yaml_files(&chart.join("templates"))? {
        let text = fs::read_to_string(&path).map_err(CaseError::io("read", &path))?;
        for call in text.split(CALL).skip(1) {
            let after = call.split_once("\"name\" ").map_or("", |(_, after)| after);
            let literal = after.strip_prefix('"').and_then(|rest| rest.split('"').next());
            names.push(literal.unwrap_or_default().to_owned());
        }
    }
    Ok(names)
}

fn copy(from: &Path, to: &Path) -> Result<(), CaseError> {
    fs::create_dir_all(to).map_err(CaseError::io("make", to))?;
    for entry in fs::read_dir(from).map_err(CaseError::io("read", from))? {
        let path = entry.map_err(CaseError::io("read", from))?.path();
        let Some(name) = path.file_name() else { continue };
        let target = to.join(name);
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            fs::copy(&path, &target).map_err(CaseError::io("write", &target))?;
        }
    }
    Ok(())
}
