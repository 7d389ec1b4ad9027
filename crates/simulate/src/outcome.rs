//! How a boot ended.

use crate::blame;
use crate::blueprint::{Blueprint, Id, Millis, ThingRole};
use crate::event::Reason;
use crate::world::World;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All that is expected to be ready is.
    Converged,
    /// Nothing will change any more, and something is not ready.
    Stuck,
    /// It was not followed any further.
    Unfinished(Limit),
}

/// How far a boot is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many events.
    Events,
    /// Until this moment of the virtual clock.
    Time,
}

/// One boot.
#[derive(Clone, Debug)]
pub struct BootOutcome {
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
    /// Why Flux was never started.
    pub bootstrap_failed: Option<Reason>,
    /// What the cluster lacked when Flux was started, where steps before Flux are known.
    pub started_without: Option<Reason>,
    /// What all that is not ready comes down to.
    pub causes: Vec<Cause>,
}

/// Why something is not ready that waits for nobody else, or a circle of those that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    pub id: Id,
    pub reason: Reason,
    /// The reason and those behind it; the last is what it comes down to.
    pub chain: Vec<Reason>,
    /// The last of them waits for one before it.
    pub turns: bool,
    /// Those that wait for each other; empty where nobody does.
    pub circle: Vec<Id>,
    /// How many Kustomizations and HelmReleases are not ready for it, itself included.
    pub blocks: u32,
}

/// What became of an object that Flux looks after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FluxOutcome {
    pub id: Id,
    pub first_ready: Option<Millis>,
    /// When it failed first, and why.
    pub first_failure: Option<(Millis, Reason)>,
    /// When the attempt began that made it ready first.
    pub ready_attempt: Millis,
    pub is_ready: bool,
    pub is_suspended: bool,
    pub has_stalled: bool,
    /// Attempts that failed.
    pub failures: u32,
    /// Why it is not ready, or nothing.
    pub reason: Reason,
}

impl BootOutcome {
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
            bootstrap_failed: world.bootstrap_failed(),
            started_without: world.started_without(),
            causes: if verdict == Verdict::Stuck { blame::causes(world) } else { Vec::new() },
        }
    }

    pub fn converged(&self) -> bool {
        self.verdict == Verdict::Converged
    }
}

fn waiting(world: &World<'_>, blueprint: &Blueprint) -> Vec<Id> {
    let all = (0..blueprint.things.len()).filter_map(|index| u32::try_from(index).ok()).map(Id);
    all.filter(|id| {
        let thing = blueprint.thing(*id);
        let is_flux = matches!(thing.role, ThingRole::Kustomization(_) | ThingRole::Release(_));
        thing.is_expected && !is_flux && world.exists(*id) && !world.is_ready(*id)
    })
    .collect()
}
