//! The YAML files of a module that a running lab needs, copied so that running needs no Go.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Tool;
use super::builder::{BuildError, create};

/// Copies the tool's directories from its module's source to `target`, at the same paths. Test data stays behind.
pub(super) fn copy(tool: Tool, module: &Path, target: &Path) -> Result<(), BuildError> {
    for directory in tool.files() {
        let files = list(&module.join(directory)).map_err(|source| BuildError::File {
            what: "list",
            path: module.join(directory),
            source,
        })?;
        if files.is_empty() {
            return Err(BuildError::NoFiles { tool, directory });
        }
        for file in files {
            let below = file.strip_prefix(module).unwrap_or(&file);
            copy_file(&file, &target.join(below))?;
        }
    }
    Ok(())
}

/// Go keeps modules read-only; what is written anew can be cleared away by anybody who may write here.
fn copy_file(from: &Path, to: &Path) -> Result<(), BuildError> {
    let content = fs::read(from).map_err(|source| BuildError::File { what: "read", path: from.into(), source })?;
    to.parent().map_or(Ok(()), create)?;
    fs::write(to, content).map_err(|source| BuildError::File { what: "write", path: to.into(), source })
}

fn list(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "testdata") {
            found.extend(list(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
    Ok(found)
}
