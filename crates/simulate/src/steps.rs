//! The boot before GitOps in the form that boots run over: the steps of Terraform, scripts and helmfiles as they were read, with their
//! order and what each of them waits for.
//!
//! Knows no time and no state, and draws no conclusion from what a step waits for: the world shows what comes of it.

use ecow::EcoString;
use model::{Extent, Fact, ObjectRef};

/// All steps of one boot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    pub(crate) all: Vec<Step>,
    /// What runs them: a directory of Terraform, a script, a helmfile.
    pub(crate) runs: Vec<Run>,
    /// Talos brings no pod network.
    pub(crate) lacks_network: bool,
    /// Control planes first.
    pub(crate) machines: Vec<EcoString>,
}

/// What runs steps: its kind, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) kind: EcoString,
    pub(crate) place: EcoString,
}

/// Something that is done once.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) object: ObjectRef,
    pub(crate) run: u32,
    pub(crate) does: Deed,
    /// Places of those that it comes after.
    pub(crate) after: Vec<usize>,
    /// What it waits for, and of how many; those that stop nothing are [`Extent::Unchecked`].
    pub(crate) waits: Vec<(Fact, Extent)>,
    /// It speaks to the address that is there only once etcd runs.
    pub(crate) reaches_shared_address: bool,
    /// It comes after what starts Flux.
    pub(crate) is_late: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    PowersOn,
    Configures,
    BootstrapsEtcd,
    /// With how many nodes may lack its agent, where it waits at all.
    InstallsNetwork {
        release: Option<u32>,
        unavailable_max: Option<u32>,
    },
    /// By its number, where its chart is known.
    Installs {
        release: Option<u32>,
    },
    StoresKey,
    StartsFlux,
    /// It only waits, or does something that this world has no part of.
    Other,
}

impl Deed {
    /// It asks the API server for something.
    pub(crate) fn needs_api(self) -> bool {
        matches!(self, Self::InstallsNetwork { .. } | Self::Installs { .. } | Self::StoresKey | Self::StartsFlux)
    }

    /// It is there to make the cluster.
    pub(crate) fn is_of_machines(self) -> bool {
        matches!(self, Self::PowersOn | Self::Configures | Self::BootstrapsEtcd)
    }

    pub(crate) fn is_network(self) -> bool {
        matches!(self, Self::InstallsNetwork { .. })
    }
}

impl Steps {
    /// Whether a step that comes before Flux does this.
    pub(crate) fn any(&self, is_it: impl Fn(Deed) -> bool) -> bool {
        self.all.iter().any(|step| !step.is_late && is_it(step.does))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.iter().all(|step| step.is_late)
    }
}
