//! The programs of the lab: which, how they are built from Go modules, and where the results are kept.
//!
//! Running a lab needs only [`binary`], [`files`] and [`ready`], and no Go. Files kept beside the programs, at the paths
//! they have in their modules:
//!
//! | tool | files |
//! |---|---|
//! | source-, kustomize-, helm-controller | `config/crd/bases/*.yaml`: their CRDs |
//! | kwok | `kustomize/stage/{node,pod}/*/*.yaml`: its stages; `kustomize/crd/bases/*.yaml`: its CRDs |
//! | sealed-secrets-controller | `helm/sealed-secrets/crds/*.yaml`: its CRD |

mod builder;
mod cache;
mod go;
mod go_mod;
mod missing;
mod recipe;
mod tool;
mod yaml_files;

use std::env;
use std::path::PathBuf;

pub use builder::{BuildError, BuildEvent, BuildOutcome, Builder, Built};
pub use cache::{Binaries, Cache};
pub use go::{Go, GoError};
pub use missing::Missing;
pub use tool::{Tier, Tool};

/// The program of `tool` in the cache of this machine.
pub fn binary(tool: Tool) -> Result<PathBuf, Missing> {
    Cache::from_environment()?.binary(tool)
}

/// The YAML files of the tool's module in the cache of this machine.
pub fn files(tool: Tool) -> Result<PathBuf, Missing> {
    Cache::from_environment()?.files(tool)
}

/// Every program of a tier in the cache of this machine, or all that are missing.
pub fn ready(tier: Tier) -> Result<Binaries, Missing> {
    Cache::from_environment()?.ready(tier)
}

/// The directory with all files of the tool's module, its charts and manifests among them. This one does need Go.
pub fn module_directory(tool: Tool) -> Result<PathBuf, GoError> {
    Go::find(env::var_os("PATH").as_deref())?.module_directory(tool)
}
