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

mod cache;
mod go_mod;
mod missing;
mod recipe;
mod tool;

use std::path::PathBuf;

pub use cache::{Binaries, Cache};
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
