//! What is kept of a lab when its test fails.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::object::{HELM, KUSTOMIZE, SOURCE};
use crate::{Lab, LabError};

/// What a person wants to see first.
pub(crate) const FLUX_KINDS: &[(&str, &str)] = &[
    (KUSTOMIZE, "Kustomization"),
    (HELM, "HelmRelease"),
    (SOURCE, "GitRepository"),
    (SOURCE, "HelmRepository"),
    (SOURCE, "HelmChart"),
    (SOURCE, "OCIRepository"),
    (SOURCE, "Bucket"),
];
const WORKLOADS: &[(&str, &str)] = &[
    ("v1", "Node"),
    ("v1", "Namespace"),
    ("v1", "Pod"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
];

impl Lab {
    /// Copies all logs, and writes all events, Flux objects and workloads beside them. The API server may be away: then
    /// there are the logs.
    pub fn collect_logs(&self, into: &Path) -> Result<(), LabError> {
        let step = || format!("collect logs into {}", into.display());
        fs::create_dir_all(into).map_err(LabError::io(step()))?;
        for entry in fs::read_dir(self.place.path("logs")).map_err(LabError::io(step()))? {
            let entry = entry.map_err(LabError::io(step()))?;
            fs::copy(entry.path(), into.join(entry.file_name())).map_err(LabError::io(step()))?;
        }
        let mut events = String::new();
        for event in self.events().unwrap_or_default() {
            let _never_fails = writeln!(events, "{event}");
        }
        fs::write(into.join("events.txt"), events).map_err(LabError::io(step()))?;
        for (api_version, kind) in FLUX_KINDS.iter().chain(WORKLOADS) {
            let mut found = self.list(api_version, kind, None).unwrap_or_default();
            for object in &mut found {
                if let Some(metadata) = object["metadata"].as_object_mut() {
                    metadata.remove("managedFields");
                }
            }
            if !found.is_empty() {
                let text = format!("{:#}\n", Value::from(found));
                fs::write(into.join(format!("{kind}.json")), text).map_err(LabError::io(step()))?;
            }
        }
        Ok(())
    }
}

/// Called while a panic unwinds: must not panic itself.
pub(crate) fn keep(lab: &Lab) {
    let into = directory_of(lab);
    let _old = fs::remove_dir_all(&into);
    match lab.collect_logs(&into) {
        Ok(()) => say(&format!("lab {}: logs, events and objects are in {}", lab.name(), into.display())),
        Err(error) => say(&format!("lab {}: {error}", lab.name())),
    }
}

/// Where what is kept of a lab goes.
pub(crate) fn directory_of(lab: &Lab) -> PathBuf {
    target_directory().join("lab-failures").join(lab.name())
}

/// Past the capture of the test harness, which takes `eprintln!` but not this.
pub(crate) fn say(line: &str) {
    // Nobody to tell that there is nobody to tell.
    let _written = writeln!(std::io::stderr(), "{line}");
}

/// The `target` directory that this test was built into.
fn target_directory() -> PathBuf {
    let profile = |path: &&Path| path.file_name().is_some_and(|name| name == "debug" || name == "release");
    let program = std::env::current_exe().unwrap_or_default();
    let found = program.ancestors().find(profile).and_then(Path::parent);
    let workspace = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target"));
    found.map_or_else(workspace, Path::to_owned)
}
