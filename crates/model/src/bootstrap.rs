//! The stage before GitOps: what a component of it is, how it is shown, and the files it is made of.

use std::collections::BTreeMap;

use ecow::{EcoString, eco_format};

use crate::cluster::ComponentId;
use crate::object::ObjectRef;

/// What a component of the bootstrap is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BootstrapStep {
    /// A release that a helmfile installs, or a script with helm.
    Release,
    /// A release that Terraform installs.
    TerraformRelease,
    /// A pass that applies only the CRDs of a chart.
    Crds,
    /// Objects, Secrets and CRDs that are applied as they are, before anything is installed.
    Resources,
    /// Objects that are applied after this release: its hook does so, or it brings their kind.
    ResourcesAfter(ComponentId),
    /// A sealing key that a script or Terraform restores.
    SealingKey,
    /// What Flux cannot start without, where the repository does not show who installs it.
    Foundation,
}

impl BootstrapStep {
    /// The object that stands for it, as people and JSON see it. Name and namespace are those of the release, or of the
    /// component that Flux cannot start without; what belongs to no release has a name of its own.
    pub fn object(self, namespace: impl Into<EcoString>, name: impl Into<EcoString>) -> ObjectRef {
        match self {
            Self::Release => ObjectRef::new("HelmfileRelease", namespace, name),
            Self::TerraformRelease => ObjectRef::new("TerraformRelease", namespace, name),
            Self::Crds => ObjectRef::new("HelmfileCRDs", namespace, name),
            Self::Resources => ObjectRef::new("Bootstrap", "", "bootstrap resources"),
            Self::ResourcesAfter(_) => ObjectRef::new("Bootstrap", namespace, eco_format!("{} resources", name.into())),
            Self::SealingKey => ObjectRef::new("Bootstrap", "", "sealing key"),
            Self::Foundation => ObjectRef::new("Bootstrap", namespace, name),
        }
    }

    /// What it is called among the steps of a bootstrap, given the object that stands for it.
    pub fn step_name(self, object: &ObjectRef) -> String {
        match self {
            Self::Crds => format!("{}/{} CRDs", object.namespace, object.name),
            _ => object.path(),
        }
    }

    /// Whether it is applied as it is, and there when it is; nothing of it is installed.
    pub fn is_applied_as_it_is(self) -> bool {
        !self.is_release()
    }

    /// Whether it is a release, whatever installs it.
    pub fn is_release(self) -> bool {
        matches!(self, Self::Release | Self::TerraformRelease)
    }
}

/// The files of the repository that the bootstrap of a cluster is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BootstrapFiles {
    /// Applied as they are, sorted.
    pub files: Vec<String>,
    /// Built with kustomize and applied, sorted.
    pub directories: Vec<String>,
    /// The values of its releases.
    pub values: BTreeMap<ComponentId, Vec<String>>,
}
