//! Where the programs of the lab are.

use std::path::PathBuf;

use crate::{LabError, Process};

/// The program of a process.
pub(crate) fn binary(process: Process) -> Result<PathBuf, LabError> {
    named(process.name())
}

pub(crate) fn named(name: &str) -> Result<PathBuf, LabError> {
    let missing = || LabError::Missing { tool: name.to_owned() };
    let directory = std::env::var_os("COLDSTART_LAB_BIN").map(PathBuf::from).ok_or_else(missing)?;
    let path = directory.join(name);
    if path.is_file() { Ok(path) } else { Err(missing()) }
}

/// The CRD files that come with a process.
pub(crate) fn crds(process: Process) -> Result<Vec<PathBuf>, LabError> {
    let directory = binary(process)?.with_file_name("files").join(process.name());
    let Ok(entries) = std::fs::read_dir(&directory) else { return Ok(Vec::new()) };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    files.sort();
    Ok(files)
}
