//! Where built programs are kept: outside any work tree, a directory per recipe.
//!
//! ```text
//! ROOT/etcd-v3.6.5-1a2b3c4d/etcd      the program
//! ROOT/kwok-v0.8.0-5e6f7a8b/files/    YAML files of its module, at the paths they have there
//! ROOT/logs/                          what `go` said, per recipe
//! ROOT/building/                      builds under way and their locks
//! ```

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use super::recipe::Recipe;
use super::{Missing, Tier, Tool};

/// The directory of built programs.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// `COLDSTART_LAB_CACHE`, else `coldstart/lab` below `XDG_CACHE_HOME` or `~/.cache`.
    pub fn from_environment() -> Result<Self, Missing> {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        set("COLDSTART_LAB_CACHE")
            .or_else(|| set("XDG_CACHE_HOME").map(|home| home.join("coldstart/lab")))
            .or_else(|| set("HOME").map(|home| home.join(".cache/coldstart/lab")))
            .map(Self::at)
            .ok_or(Missing::Home)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The program of `tool`, if this version of it was built with these lock files and flags.
    pub fn binary(&self, tool: Tool) -> Result<PathBuf, Missing> {
        let path = self.program(&Recipe::of(tool));
        if path.is_file() { Ok(path) } else { Err(Missing::Tools(vec![tool])) }
    }

    /// The YAML files of the tool's module: its directories in [`Tool::files`], at the paths they have there.
    pub fn files(&self, tool: Tool) -> Result<PathBuf, Missing> {
        self.binary(tool).map(|path| path.with_file_name("files"))
    }

    /// Every program of a tier, or all that are missing.
    pub fn ready(&self, tier: Tier) -> Result<Binaries, Missing> {
        let mut paths = BTreeMap::new();
        let mut missing = Vec::new();
        for tool in tier.tools() {
            match self.binary(tool) {
                Ok(path) => drop(paths.insert(tool, path)),
                Err(_) => missing.push(tool),
            }
        }
        if missing.is_empty() { Ok(Binaries { paths }) } else { Err(Missing::Tools(missing)) }
    }

    pub(super) fn directory(&self, recipe: &Recipe) -> PathBuf {
        self.root.join(recipe.key())
    }

    pub(super) fn program(&self, recipe: &Recipe) -> PathBuf {
        self.directory(recipe).join(recipe.tool.name())
    }

    pub(super) fn scratch(&self, recipe: &Recipe) -> PathBuf {
        self.root.join("building").join(recipe.key())
    }

    pub(super) fn lock(&self, recipe: &Recipe) -> PathBuf {
        self.root.join("building").join(format!("{}.lock", recipe.key()))
    }

    pub(super) fn log(&self, recipe: &Recipe) -> PathBuf {
        self.root.join("logs").join(format!("{}.log", recipe.key()))
    }
}

/// The programs of a tier that is complete.
#[derive(Debug, Clone)]
pub struct Binaries {
    paths: BTreeMap<Tool, PathBuf>,
}

impl Binaries {
    /// The program of `tool`; none if the tool is of a higher tier than was asked for.
    pub fn path(&self, tool: Tool) -> Option<&Path> {
        self.paths.get(&tool).map(PathBuf::as_path)
    }

    /// The YAML files of the tool's module.
    pub fn files(&self, tool: Tool) -> Option<PathBuf> {
        self.path(tool).map(|path| path.with_file_name("files"))
    }

    pub fn iter(&self) -> impl Iterator<Item = (Tool, &Path)> {
        self.paths.iter().map(|(tool, path)| (*tool, path.as_path()))
    }
}
