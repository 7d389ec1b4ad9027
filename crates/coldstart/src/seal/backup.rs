//! `coldstart seal backup` and `coldstart seal restore`: both copy, neither takes anything away, and both prove it.

use ::seal::Ring;
use ::seal::store::{Kept, Store, keep};

use super::arguments::Copy;
use super::failure::SealFailure;
use super::verify::Report;
use super::{Home, say, store, tracked};
use crate::confirm::confirm;
use crate::exit::{self, Code};
use crate::failure::Failure;

pub(crate) fn backup(options: &Copy) -> Result<Code, Failure> {
    let home = Home::open(&options.place)?;
    let (from, kept) = home.keys()?;
    let to = other(&home, options)?;
    run(&kept.ring, from.as_ref(), to.as_ref(), options.yes)
}

pub(crate) fn restore(options: &Copy) -> Result<Code, Failure> {
    let home = Home::open(&options.place)?;
    let from = other(&home, options)?;
    let kept = from.read().map_err(SealFailure::from)?;
    if kept.ring.is_empty() {
        let next = "coldstart seal restore STORE with a store that has keys; nothing was done";
        return Err(SealFailure::told(format!(
            "there is nothing to restore: {} holds no key\n  next: {next}",
            from.describe()
        ))
        .into());
    }
    run(&kept.ring, from.as_ref(), home.store()?.as_ref(), options.yes)
}

fn other(home: &Home<'_>, options: &Copy) -> Result<Box<dyn Store>, SealFailure> {
    let found = store::second(home, options.other.as_deref(), options.backup_identity.as_deref())?;
    found.ok_or_else(|| {
        SealFailure::told("there is no other store\n  next: name one, or set `seal.backup` in coldstart.yaml")
    })
}

fn run(ring: &Ring, from: &dyn Store, to: &dyn Store, yes: bool) -> Result<Code, Failure> {
    two_stores(from, to)?;
    let before = to.read().map_err(SealFailure::from)?;
    let there = &before.ring;
    let missing = missing(ring, there);
    if missing.is_empty() {
        prove(ring, there, to)?;
        say(&format!("{} has all {} keys already, and each opens what it seals", to.describe(), ring.keys().len()))?;
        return Ok(exit::CLEAN);
    }
    tracked::warn(to);
    let plan = format!("copy key {}\nfrom {}\nto {}\n", missing.join(", "), from.describe(), to.describe());
    confirm(&plan, yes)?;
    add(ring, to, &before)?;
    say(&format!("proved: {} gives back all {} keys, and each opens what it seals", to.describe(), ring.keys().len()))?;
    Ok(exit::CLEAN)
}

/// A copy beside itself is none.
pub(crate) fn two_stores(one: &dyn Store, other: &dyn Store) -> Result<(), SealFailure> {
    if one.identity() == other.identity() {
        return Err(SealFailure::told(format!(
            "both stores are the same one: {}; nothing was done\n  next: the same with another place, on another disk",
            one.describe()
        )));
    }
    Ok(())
}

/// Notes keys that the second store of the settings lacks, if it can be looked at without asking anybody. It may well be
/// elsewhere on purpose, so this is no error.
pub(crate) fn check(home: &Home<'_>, ring: &Ring, report: &mut Report) {
    let Some(second) = store::second_at_hand(home) else { return };
    let Ok(there) = second.read() else { return };
    let missing: Vec<String> = missing(ring, &there.ring);
    if missing.is_empty() {
        return;
    }
    let what = if there.ring.is_empty() {
        "holds no key, or is not at hand: it is no backup of the store now".to_owned()
    } else {
        format!("lacks key {} of the store", missing.join(", "))
    };
    report.note(second.describe(), format!("{what}\n  next: coldstart seal backup"));
}

/// The keys of a ring that another one does not have.
fn missing(ring: &Ring, there: &Ring) -> Vec<String> {
    ring.keys().iter().filter(|held| !there.contains(held.pair.fingerprint())).map(|held| held.pair.id()).collect()
}

/// Adds what is missing there, and reads it back.
pub(crate) fn copy(ring: &Ring, to: &dyn Store) -> Result<(), SealFailure> {
    add(ring, to, &to.read()?)
}

fn add(ring: &Ring, to: &dyn Store, before: &Kept) -> Result<(), SealFailure> {
    let mut all = before.ring.duplicate()?;
    for held in ring.duplicate()?.into_keys() {
        if !all.contains(held.pair.fingerprint()) {
            all.add(held.pair, held.added)?;
        }
    }
    if before.ring.holds_all_of(&all) {
        return prove(ring, &before.ring, to);
    }
    prove(ring, &keep(to, &all, before)?, to)
}

/// What was sealed with each key here opens with what was read there.
fn prove(ring: &Ring, read: &Ring, there: &dyn Store) -> Result<(), SealFailure> {
    let label = b"coldstart/backup";
    let opens = |pair: &::seal::key::KeyPair| {
        let sealed = pair.certificate().seal(label, b"proof").ok()?;
        read.get(pair.fingerprint())?.open(&sealed, label).filter(|value| value.expose() == b"proof")
    };
    for held in ring.keys() {
        let lost = || {
            SealFailure::told(format!(
                "{} does not give back key {}\n  next: keep the other store, and coldstart seal backup to another place",
                there.describe(),
                held.pair.id()
            ))
        };
        opens(&held.pair).ok_or_else(lost)?;
    }
    Ok(())
}
