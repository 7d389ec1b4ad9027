//! From whatever is not ready to what it comes down to: each is followed to the one it waits for, until one has a reason of its
//! own, or the way leads back to where it was.

use std::collections::BTreeMap;

use crate::blueprint::{Blueprint, Id, ThingRole};
use crate::event::Reason;
use crate::outcome::Cause;
use crate::world::World;

pub(crate) fn causes(world: &World<'_>) -> Vec<Cause> {
    let blueprint = world.blueprint();
    let mut found: BTreeMap<Id, Cause> = BTreeMap::new();
    if world.bootstrap_failed().is_some() {
        return Vec::new();
    }
    for id in blueprint.flux_objects() {
        let outcome = world.flux_outcome(id);
        if outcome.is_ready || outcome.is_suspended || !blueprint.thing(id).is_expected {
            continue;
        }
        if let Some(cause) = cause(world, blueprint, id) {
            found.entry(cause.id).and_modify(|known| known.blocks += 1).or_insert(cause);
        }
    }
    // What Flux does not look at: a SealedSecret without a key, a claim that nobody serves.
    if found.is_empty() {
        for at in 0..blueprint.customs.len() {
            let custom = &blueprint.customs[at];
            if custom.is_sealed && world.exists(custom.id) && !world.is_ready(custom.id) {
                let cause = told(world, custom.id, Reason::NoSealingKey, Vec::new());
                found.insert(custom.id, Cause { blocks: 0, ..cause });
            }
        }
    }
    found.into_values().collect()
}

fn cause(world: &World<'_>, blueprint: &Blueprint, start: Id) -> Option<Cause> {
    let mut path: Vec<Id> = Vec::new();
    let mut at = start;
    loop {
        if let Some(first) = path.iter().position(|before| *before == at) {
            return circle(world, blueprint, &path[first..]);
        }
        path.push(at);
        let Some(further) = next(world, blueprint, at) else {
            let id = nearest_flux(blueprint, &path)?;
            return Some(told(world, id, world.reason(id), Vec::new()));
        };
        at = further;
    }
}

/// A circle is told by its first member that has a reason of its own, else by its first that waits.
fn circle(world: &World<'_>, blueprint: &Blueprint, members: &[Id]) -> Option<Cause> {
    let flux = || members.iter().copied().filter(|id| is_flux(blueprint, *id) && world.exists(*id));
    let own = flux().filter(|id| !world.reason(*id).is_wait()).min();
    if let Some(id) = own {
        return Some(told(world, id, world.reason(id), Vec::new()));
    }
    let id = flux().min()?;
    Some(told(world, id, world.reason(id), flux().collect()))
}

fn told(world: &World<'_>, id: Id, reason: Reason, circle: Vec<Id>) -> Cause {
    let (chain, turns) = match (world.follow(reason), world.gave_up_for(id)) {
        // What was in its way has come since.
        ((now, _), Some(then)) if now.len() == 1 && then.first() == now.first() => (then.to_vec(), false),
        (now, _) => now,
    };
    Cause { id, reason, chain, turns, circle, blocks: 1 }
}

/// The last one on a way that Flux looks after.
fn nearest_flux(blueprint: &Blueprint, path: &[Id]) -> Option<Id> {
    path.iter().rev().copied().find(|id| is_flux(blueprint, *id))
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
