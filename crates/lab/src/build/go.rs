//! The `go` command: found on PATH, or named by whoever builds.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use serde::Deserialize;

use super::Tool;
use super::recipe::Recipe;

/// Why the `go` command could not be used.
#[derive(Debug, thiserror::Error)]
pub enum GoError {
    #[error(
        "`go` is not on PATH, and the lab is built from Go modules: install Go 1.21 or newer (https://go.dev/doc/install); it fetches the version each module asks for by itself"
    )]
    NotFound,
    #[error("cannot start {}: {source}", program.display())]
    Start { program: PathBuf, source: io::Error },
    #[error("cannot write the module of {tool} to {}: {source}", path.display())]
    Module { tool: Tool, path: PathBuf, source: io::Error },
    #[error("`go mod download {}` failed: {reason}", tool.module())]
    Download { tool: Tool, reason: String },
}

/// A Go toolchain.
#[derive(Debug, Clone)]
pub struct Go {
    program: PathBuf,
}

/// What `go mod download -json` prints, as far as it matters here.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Download {
    #[serde(default)]
    dir: PathBuf,
    #[serde(default)]
    error: String,
}

impl Go {
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    /// The first `go` in `path`, a list of directories as in PATH.
    pub fn find(path: Option<&OsStr>) -> Result<Self, GoError> {
        let directories = path.map(std::env::split_paths).into_iter().flatten();
        directories.map(|directory| directory.join("go")).find(|go| go.is_file()).map(Self::at).ok_or(GoError::NotFound)
    }

    /// The directory with all files of the tool's module, fetched if need be.
    pub fn module_directory(&self, tool: Tool) -> Result<PathBuf, GoError> {
        let failed = |source| GoError::Module { tool, path: std::env::temp_dir(), source };
        let scratch = tempfile::tempdir().map_err(failed)?;
        let recipe = Recipe::of(tool);
        write_module(&recipe, scratch.path())?;
        self.download(&recipe, scratch.path())
    }

    /// Builds the recipe's package into `output`, in a directory that holds its module. All that `go` says goes to `log`.
    pub(super) fn compile(
        &self,
        recipe: &Recipe,
        module: &Path,
        output: &Path,
        log: File,
    ) -> Result<ExitStatus, GoError> {
        let errors = log.try_clone().map_err(|source| self.start_error(source))?;
        let mut command = self.command(recipe, module);
        command.args(recipe.arguments(output)).stdout(log).stderr(errors);
        command.status().map_err(|source| self.start_error(source))
    }

    /// The directory with all files of the tool's module, fetched if need be and held against go.sum.
    pub(super) fn download(&self, recipe: &Recipe, module: &Path) -> Result<PathBuf, GoError> {
        let tool = recipe.tool;
        let mut command = self.command(recipe, module);
        command.args(["mod", "download", "-json", tool.module()]);
        let output = command.output().map_err(|source| self.start_error(source))?;
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        match serde_json::from_slice::<Download>(&output.stdout) {
            Ok(Download { dir, error }) if error.is_empty() && dir.is_dir() => Ok(dir),
            Ok(Download { error, .. }) if !error.is_empty() => Err(GoError::Download { tool, reason: error }),
            _ => Err(GoError::Download { tool, reason: if said.is_empty() { "no directory".into() } else { said } }),
        }
    }

    /// A person's own settings of the target would build a program that this machine cannot run.
    fn command(&self, recipe: &Recipe, directory: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(directory).stdin(Stdio::null()).envs(recipe.environment.iter().copied());
        for foreign in ["GOOS", "GOARCH", "GOEXPERIMENT"] {
            command.env_remove(foreign);
        }
        command
    }

    fn start_error(&self, source: io::Error) -> GoError {
        GoError::Start { program: self.program.clone(), source }
    }
}

/// Writes the recipe's lock files to `directory`: `go` may touch these, never the committed ones.
pub(super) fn write_module(recipe: &Recipe, directory: &Path) -> Result<(), GoError> {
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        fs::write(&path, text).map_err(|source| GoError::Module { tool: recipe.tool, path, source })
    };
    write("go.mod", recipe.go_mod)?;
    write("go.sum", recipe.go_sum)
}

#[cfg(test)]
mod tests {
    use super::{Go, GoError};

    #[test]
    fn without_go_the_message_says_what_to_install() {
        let empty = tempfile::tempdir().unwrap();
        let error = Go::find(Some(empty.path().as_os_str())).unwrap_err();
        assert!(matches!(error, GoError::NotFound));
        assert!(error.to_string().contains("install Go 1.21 or newer"), "{error}");
        assert!(Go::find(None).is_err());
    }

    #[test]
    fn the_first_go_of_the_path_is_taken() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(second.path().join("go"), "").unwrap();
        let path = std::env::join_paths([first.path(), second.path()]).unwrap();
        assert_eq!(Go::find(Some(&path)).unwrap().program, second.path().join("go"));
    }
}
