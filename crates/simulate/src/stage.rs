//! What somebody outside can do to a world, and what they can see of it. A driver works with these and nothing else; it can die
//! and be started again, and the world goes on without it.
//!
//! Knows no order: what is done too early is refused, or fails as it would in life.

use crate::blueprint::{Blueprint, Id, Millis};
use crate::event::Reason;
use crate::steps::Deed;

/// Something that somebody does. What nobody does does not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Action {
    /// Makes the secrets that machine configurations are made from. To be done once: machines that have the old ones trust nobody
    /// who has the new.
    MakeSecrets,
    PowerOn(u32),
    /// Gives a machine its Talos configuration, made from the newest secrets.
    Configure(u32),
    /// To be done once, on one control plane. On a second one it makes a second cluster.
    BootstrapEtcd(u32),
    /// Applies one object, as `kubectl apply` does.
    Apply(Id),
    /// Gives back the sealing key that was kept. A controller that runs already does not look for it again.
    RestoreKey,
    /// Installs a release of the bootstrap, as `helm install` does; see [`Blueprint::early`].
    Install(u32),
    /// Runs the steps before Flux of one directory of Terraform, one script or one helmfile; see [`Blueprint::run_of`].
    Run(u32),
    /// Gives Flux what it begins with.
    StartFlux,
}

impl Action {
    /// It does harm when it is done again.
    pub const fn is_once(self) -> bool {
        matches!(self, Self::MakeSecrets | Self::BootstrapEtcd(_))
    }
}

/// What an action came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// It has begun, or is done already where it takes no time.
    Begun,
    /// It had been done before.
    Again,
}

/// An action that somebody took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Act {
    pub at: Millis,
    pub action: Action,
    /// Refused: nothing has changed, but that a release may have failed.
    pub result: Result<Done, Reason>,
}

/// A question to a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Probe {
    /// Secrets for machine configurations were made.
    Secrets,
    /// A machine's operating system answers.
    Machine(u32),
    /// It has a configuration of the newest secrets.
    Configured(u32),
    /// etcd was bootstrapped.
    Bootstrapped,
    /// etcd has a quorum.
    Etcd,
    /// The API server answers.
    Api,
    /// A machine has joined as a node.
    Node(u32),
    SealingKey,
    Exists(Id),
    /// Ready, available, bound, established.
    Ready(Id),
    /// Helm says that a release of the bootstrap is deployed.
    Installed(u32),
    /// Everything that runs of a release of the bootstrap is ready, whether Helm waited for it or not.
    Healthy(u32),
    /// All steps of a run are done.
    Run(u32),
    Flux,
    /// Everything is ready.
    Converged,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    pub met: bool,
    /// Why not, as far as one can see from outside.
    pub reason: Reason,
}

/// A release that a bootstrap installs before Flux starts.
#[derive(Clone, Copy, Debug)]
pub struct BootstrapRelease<'b> {
    /// What [`Action::Install`] calls it.
    pub release: u32,
    /// `namespace/name`.
    pub name: &'b str,
    /// Those that it comes after.
    pub needs: &'b [usize],
    /// Helm waits for it.
    pub waits: bool,
    pub timeout: Millis,
}

/// What can be acted on.
impl Blueprint {
    pub fn early(&self) -> impl Iterator<Item = BootstrapRelease<'_>> {
        self.early.iter().zip(0..).map(|(it, release)| BootstrapRelease {
            release,
            name: self.text(it.name),
            needs: &it.needs,
            waits: it.waits,
            timeout: it.timeout,
        })
    }

    /// A release of the bootstrap by its `namespace/name`.
    pub fn early_named(&self, name: &str) -> Option<u32> {
        self.early().find(|early| early.name == name).map(|early| early.release)
    }

    /// What runs of a release of the bootstrap.
    pub fn early_parts(&self, release: u32) -> &[Id] {
        self.early.get(release as usize).map_or(&[], |it| &it.chart.waits_for)
    }

    /// What a bootstrap applies as it is, after a release or before any: Namespaces first, then Secrets, definitions and the rest.
    pub fn seeded(&self, after: Option<u32>) -> impl Iterator<Item = Id> {
        self.seeded.iter().copied().filter(move |id| self.seeded_after.get(id).copied() == after)
    }

    /// A run of steps before Flux, by its kind and place.
    pub fn run_of(&self, kind: &str, place: &str) -> Option<u32> {
        let at = self.steps.runs.iter().position(|run| run.kind == kind && run.place == place)?;
        u32::try_from(at).ok()
    }

    /// Steps before Flux are known that make the cluster: what it lacks when Flux starts is theirs.
    pub fn has_steps(&self) -> bool {
        self.steps.any(Deed::is_of_machines)
    }

    /// A sealing key was kept, and can be restored.
    pub fn has_sealing_key(&self) -> bool {
        self.has_sealing_key
    }

    /// How many machines there are: control planes first, then workers. Nothing where the API server is there from the start.
    pub fn machines(&self) -> Option<crate::compile::Machines> {
        self.machines.map(|(machines, _)| machines)
    }
}
