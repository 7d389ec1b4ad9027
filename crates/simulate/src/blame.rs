//! From whatever is not ready to what it comes down to: each is followed to the one it waits for, until one has a reason of its
//! own, or the way leads back to where it was.

use std::collections::BTreeMap;

use crate::blueprint::{Blueprint, Id, ThingRole};
use crate::event::Reason;
use crate::outcome::Cause;
use crate::world::World;

pub(crate) fn causes(world: &World<'_>) -> Vec<Cause> {
    let blueprint = world.blueprint();
    if world.bootstrap_failed().is_some() {
        return Vec::new();
    }
    let mut ways = Ways { world, blueprint, ends: BTreeMap::new(), found: BTreeMap::new() };
    for id in blueprint.flux_objects() {
        let outcome = world.flux_outcome(id);
        if outcome.is_ready || outcome.is_suspended || !blueprint.thing(id).is_expected {
            continue;
        }
        if let Some(cause) = ways.end(id).and_then(|end| ways.found.get_mut(&end)) {
            cause.blocks += 1;
        }
    }
    let mut found = ways.found;
    // What Flux does not look at: a SealedSecret without a key, a claim that nobody serves.
    if found.is_empty() {
        for at in 0..blueprint.customs.len() {
            let custom = &blueprint.customs[at];
            if custom.is_sealed && world.exists(custom.id) && !world.is_ready(custom.id) {
                found.insert(custom.id, told(world, custom.id, Reason::NoSealingKey, Vec::new()));
            }
        }
    }
    found.into_values().collect()
}

/// Every way is gone once: whoever comes to a place that is known has the end of that place.
struct Ways<'w, 'b> {
    world: &'w World<'b>,
    blueprint: &'w Blueprint,
    /// The cause that a thing comes down to; nothing where a circle has none.
    ends: BTreeMap<Id, Option<Id>>,
    found: BTreeMap<Id, Cause>,
}

impl Ways<'_, '_> {
    fn end(&mut self, start: Id) -> Option<Id> {
        let mut path: Vec<Id> = Vec::new();
        let mut places: BTreeMap<Id, usize> = BTreeMap::new();
        let mut at = start;
        let end = loop {
            if let Some(known) = self.ends.get(&at) {
                break *known;
            }
            if let Some(first) = places.get(&at) {
                break self.circle(&path[*first..]);
            }
            places.insert(at, path.len());
            path.push(at);
            let Some(further) = next(self.world, self.blueprint, at) else {
                // Behind the last one that Flux looks after, others may come from elsewhere.
                let last = path.iter().rposition(|id| is_flux(self.blueprint, *id))?;
                path.truncate(last + 1);
                let id = path[last];
                break Some(self.tell(id, self.world.reason(id), Vec::new()));
            };
            at = further;
        };
        self.ends.extend(path.into_iter().map(|id| (id, end)));
        end
    }

    /// A circle is told by its first member that has a reason of its own, else by its first that waits.
    fn circle(&mut self, members: &[Id]) -> Option<Id> {
        let (world, blueprint) = (self.world, self.blueprint);
        let flux = || members.iter().copied().filter(|id| is_flux(blueprint, *id) && world.exists(*id));
        let own = flux().filter(|id| !world.reason(*id).is_wait()).min();
        if let Some(id) = own {
            return Some(self.tell(id, world.reason(id), Vec::new()));
        }
        let id = flux().min()?;
        Some(self.tell(id, world.reason(id), flux().collect()))
    }

    fn tell(&mut self, id: Id, reason: Reason, circle: Vec<Id>) -> Id {
        self.found.entry(id).or_insert_with(|| told(self.world, id, reason, circle));
        id
    }
}

fn told(world: &World<'_>, id: Id, reason: Reason, circle: Vec<Id>) -> Cause {
    let (chain, turns) = match (world.follow(reason), world.gave_up_for(id)) {
        // What was in its way has come since.
        ((now, _), Some(then)) if now.len() == 1 && then.first() == now.first() => (then.to_vec(), false),
        (now, _) => now,
    };
    Cause { id, reason, chain, turns, circle, blocks: 0 }
}

fn is_flux(blueprint: &Blueprint, id: Id) -> bool {
    matches!(blueprint.role(id), ThingRole::Kustomization(_) | ThingRole::Release(_))
}

/// Whom a thing that is not ready waits for; nobody if the reason is its own.
fn next(world: &World<'_>, blueprint: &Blueprint, id: Id) -> Option<Id> {
    if !world.exists(id) {
        return unready(world, blueprint.made_by[id.index()]);
    }
    if !is_flux(blueprint, id) {
        return None;
    }
    match world.reason(id) {
        Reason::DependencyNotReady(on)
        | Reason::HealthTimeout(on)
        | Reason::HealthChecks(on, _)
        | Reason::HealthStalled(on)
        | Reason::SourceNotReady(on) => {
            // What no file defines has no reason of its own.
            let is_defined = world.exists(on) || blueprint.made_by[on.index()].is_some();
            let is_further = is_flux(blueprint, on) || !world.exists(on);
            unready(world, Some(on).filter(|_| is_further && is_defined))
        }
        Reason::SourceNotFound(on) | Reason::ValuesNotFound(on) | Reason::VariablesNotFound(on) => {
            maker(world, blueprint, on)
        }
        Reason::NoMatch(object) => maker(world, blueprint, blueprint.thing(object).definition?),
        Reason::NamespaceNotFound(object) => maker(world, blueprint, blueprint.thing(object).home?),
        _ => None,
    }
}

/// Whoever should have made something, if it is not ready itself.
fn maker(world: &World<'_>, blueprint: &Blueprint, of: Id) -> Option<Id> {
    let by = blueprint.made_by[of.index()]?;
    let by = if is_flux(blueprint, by) { by } else { blueprint.made_by[by.index()]? };
    unready(world, Some(by))
}

fn unready(world: &World<'_>, id: Option<Id>) -> Option<Id> {
    id.filter(|id| !world.is_ready(*id) && world.reason(*id) != Reason::Suspended)
}
