//! Builds that fail, and why.

use source::Span;
use thiserror::Error;

use crate::cause::Cause;
use crate::cluster::ComponentId;

/// A build that fails: nothing of the component is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenBuild {
    pub component: ComponentId,
    pub fault: BuildFault,
    pub at: Span,
}

/// Why a build fails.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
pub enum BuildFault {
    /// The path that it builds is not there.
    #[error("path `{path}` does not exist")]
    NoPath { path: String },
    /// kustomize does not build it.
    #[error("{0}")]
    Kustomize(Cause),
    /// It is built, and then Flux can't put the variables into this text.
    #[error("{0}")]
    Text(Cause),
    /// It is built, and then Flux refuses the name of a variable.
    #[error("{0}")]
    VariableName(Cause),
    /// It is built, and then Flux refuses a Secret that SOPS encrypted.
    #[error("Secret `{secret}` is encrypted with SOPS, and `spec.decryption` is not set")]
    Encrypted { secret: String },
    /// The bootstrap uses a file or a directory that is not there.
    #[error("`{path}` does not exist")]
    NoFile {
        path: String,
        used_as: FileUse,
        /// A file that may have been meant.
        meant: Option<String>,
    },
}

/// What a bootstrap does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileUse {
    Applied,
    /// Values of a release.
    Values,
    /// Run by a hook.
    Command,
}

impl BuildFault {
    /// Whether it stops the bootstrap, and not a build of Flux.
    pub fn is_of_bootstrap(&self) -> bool {
        matches!(self, Self::NoFile { .. })
    }
}
