//! How a boot ended.

use crate::blueprint::{Blueprint, Id, Millis, Role};
use crate::event::Reason;
use crate::world::World;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All that is expected to be ready is.
    Converged,
    /// Nothing will change any more, and something is not ready.
    Stuck,
}

/// One boot.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    /// When it ended.
    pub at: Millis,
    pub events: u64,
    /// Of every Kustomization, ResourceSet and HelmRelease.
    pub flux: Vec<FluxOutcome>,
    /// What charts were rendered without.
    pub left_out: Vec<Id>,
    /// Kustomizations that were built without variables that are there by now.
    pub stale: Vec<Id>,
    /// What is not ready and not Flux's; only where nothing changes any more.
    pub waiting: Vec<Id>,
    /// The release of the bootstrap that failed.
    pub bootstrap_failed: Option<String>,
}

/// What became of an object that Flux looks after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FluxOutcome {
    pub id: Id,
    pub first_ready: Option<Millis>,
    pub is_ready: bool,
    pub is_suspended: bool,
    pub has_stalled: bool,
    /// Attempts that failed.
    pub failures: u32,
    /// Why it is not ready, or nothing.
    pub reason: Reason,
}

impl Outcome {
    pub(crate) fn of(world: &World<'_>) -> Self {
        let blueprint = world.blueprint();
        let verdict = world.is_over().unwrap_or(Verdict::Stuck);
        let flux = blueprint.flux_objects().map(|id| world.flux_outcome(id)).collect();
        Self {
            verdict,
            at: world.now(),
            events: world.count(),
            flux,
            left_out: world.left_out().to_vec(),
            stale: world.stale(),
            waiting: if verdict == Verdict::Stuck { waiting(world, blueprint) } else { Vec::new() },
            bootstrap_failed: world.bootstrap_failed().map(str::to_owned),
        }
    }

    pub fn converged(&self) -> bool {
        self.verdict == Verdict::Converged
    }

    /// Those that are not ready for a reason of their own, not because another one is not: where a person would look first.
    /// Where all only wait for each other, all of them.
    pub fn roots(&self) -> Vec<&FluxOutcome> {
        let stuck = || self.flux.iter().filter(|it| !it.is_ready && !it.is_suspended && it.reason != Reason::None);
        let own: Vec<&FluxOutcome> = stuck().filter(|it| !it.reason.is_wait()).collect();
        if own.is_empty() { stuck().collect() } else { own }
    }
}

fn waiting(world: &World<'_>, blueprint: &Blueprint) -> Vec<Id> {
    let all = (0..blueprint.things.len()).filter_map(|index| u32::try_from(index).ok()).map(Id);
    all.filter(|id| {
        let thing = blueprint.thing(*id);
        let is_flux = matches!(thing.role, Role::Kustomization(_) | Role::Release(_));
        thing.is_expected && !is_flux && world.exists(*id) && !world.is_ready(*id)
    })
    .collect()
}
