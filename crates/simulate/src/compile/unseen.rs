//! What could not be seen may hold what a boot dies of: then it is taken to be there, and told.
//!
//! A boot is tried; whatever it comes down to that a blind spot may hold is given, and the next boot is tried. Knows blind spots and
//! reasons, and nothing of who needs what.

use std::collections::BTreeSet;

use model::{BlindSpot, WhyUnseen};
use read::rendered::Rendered;

use crate::blueprint::{Blueprint, Id, ThingRole};
use crate::outcome::Cause;
use crate::world::World;

/// Boots that are tried at most. Each gives all that it died of.
const TRIES_MAX: usize = 12;
const SEED: u64 = 0;

/// Things that blind spots may hold and that no boot comes up without. They are given to the blueprint of those boots.
pub(super) fn held(plain: &mut Blueprint, unseen: &Unseen<'_>) -> Vec<Id> {
    let mut held: BTreeSet<Id> = BTreeSet::new();
    for _ in 0..TRIES_MAX {
        let new = unseen.died_of(plain);
        if new.is_empty() {
            break;
        }
        plain.given.extend(&new);
        held.extend(new);
    }
    held.into_iter().collect()
}

/// What blind spots may hold.
pub(super) struct Unseen<'a> {
    /// A bootstrap that was not read may bring anything.
    holds_anything: bool,
    /// A part of the cluster that was not seen may define Kustomizations, releases and what goes with them.
    holds_components: bool,
    /// And definitions of any kind.
    holds_definitions: bool,
    spots: &'a [BlindSpot],
}

impl<'a> Unseen<'a> {
    pub(super) fn of(rendered: &'a Rendered) -> Self {
        let spots = &rendered.blind;
        let is_part = spots.iter().any(|spot| spot.why == WhyUnseen::AboveDirectory);
        Self {
            holds_anything: is_part || rendered.bootstrap.program.is_some(),
            holds_components: spots.iter().any(|spot| spot.why.may_hold_components()),
            holds_definitions: rendered.bootstrap.unclear_crds.is_some(),
            spots,
        }
    }

    pub(super) fn holds_nothing(&self) -> bool {
        let is_elsewhere = |spot: &BlindSpot| matches!(spot.what, model::Unseen::AppliedBy { .. });
        let is_known = !self.holds_anything && !self.holds_components && !self.holds_definitions;
        is_known && !self.spots.iter().any(is_elsewhere)
    }

    /// What a boot died of and may be held.
    fn died_of(&self, blueprint: &Blueprint) -> BTreeSet<Id> {
        let mut world = World::new(blueprint);
        let causes = world.boot(SEED, &[]).causes;
        causes.iter().filter_map(|cause| self.behind(&world, blueprint, cause)).collect()
    }

    /// The last thing on the way from a cause to what it comes down to that is missing and may be held.
    fn behind(&self, world: &World<'_>, blueprint: &Blueprint, cause: &Cause) -> Option<Id> {
        let mut missing = cause.chain.iter().rev().filter_map(|reason| blueprint.missed(*reason));
        missing.find(|id| !world.exists(*id) && self.may_hold(blueprint, *id))
    }

    fn may_hold(&self, blueprint: &Blueprint, id: Id) -> bool {
        match blueprint.role(id) {
            ThingRole::Definition => {
                self.holds_anything || self.holds_definitions || self.is_named_after(blueprint, id)
            }
            ThingRole::Kustomization(_) | ThingRole::Release(_) | ThingRole::Source(_) => {
                self.holds_components && blueprint.made_by[id.index()].is_none()
            }
            _ => self.holds_anything,
        }
    }

    /// Whether a Kustomization of another source is named after the CRDs of this group, or of the release that would bring them.
    fn is_named_after(&self, blueprint: &Blueprint, definition: Id) -> bool {
        let group = blueprint.thing(definition).name.split('/').next().unwrap_or_default();
        let last = group.split('.').next_back();
        let maker = blueprint.made_by[definition.index()].map(|by| blueprint.thing(by));
        let release = maker.filter(|by| by.kind == "HelmRelease").map(|by| by.name.as_str());
        let owners = || group.split('.').filter(|word| Some(*word) != last).chain(release);
        self.spots.iter().any(|spot| spot.is_named_after_crds_of(owners()))
    }
}
