//! `coldstart seal backup` and `coldstart seal restore`: both copy, neither takes anything away, and both prove it.

use ::seal::Ring;
use ::seal::store::{Kept, Store, keep};
use diagnostic::seal::{KeysFault, SealFault};
use diagnostic::{Next, next};
use draw::words::{agree, all};

use super::arguments::Copy;
use super::failure::{KeysFailure, SealFailure};
use super::recipients::Change;
use super::report::{Report, Spot};
use super::{Home, say, store, tracked};
use crate::confirm::confirm;
use crate::exit::{self, Code};
use crate::failure::Failure;

pub(crate) fn backup(options: &Copy) -> Result<Code, Failure> {
    let home = Home::open(&options.place)?;
    let (from, kept) = home.keys()?;
    let to = other(&home, options)?;
    run(&kept.ring, from.as_ref(), to.as_ref(), options)
}

pub(crate) fn restore(options: &Copy) -> Result<Code, Failure> {
    let home = Home::open(&options.place)?;
    let from = other(&home, options)?;
    let kept = from.read().map_err(SealFailure::from)?;
    if kept.ring.is_empty() {
        return Err(SealFailure::from(KeysFailure::NothingToRestore { store: from.describe() }).into());
    }
    run(&kept.ring, from.as_ref(), home.store()?.as_ref(), options)
}

fn other(home: &Home<'_>, options: &Copy) -> Result<Box<dyn Store>, SealFailure> {
    let found = store::second(home, options.other.as_deref(), options.backup_identity.as_deref())?;
    found.ok_or_else(|| KeysFailure::NoSecondStore.into())
}

fn run(ring: &Ring, from: &dyn Store, to: &dyn Store, options: &Copy) -> Result<Code, Failure> {
    two_stores(from, to)?;
    let before = to.read().map_err(SealFailure::from)?;
    let there = &before.ring;
    let missing = missing(ring, there);
    let keys = ring.keys().len();
    let opens = agree(keys, "it opens", "each opens");
    if missing.is_empty() {
        prove(ring, there, to)?;
        say(&format!("{} already has {}, and {opens} what it seals", to.describe(), all(keys, "key")))?;
        return Ok(exit::CLEAN);
    }
    tracked::warn(to);
    let recipients = Change::of(&[(to, there)], (&options.recipients.accepted, options.yes), &[])?;
    let plan = format!("copy key {}\nfrom {}\nto {}\n", missing.join(", "), from.describe(), to.describe());
    confirm(&format!("{plan}{}", recipients.describe()), options.yes)?;
    add(ring, to, &before, &recipients)?;
    say(&format!("verified: {} gives back {}, and {opens} what it seals", to.describe(), all(keys, "key")))?;
    Ok(exit::CLEAN)
}

/// A copy beside itself is none.
pub(crate) fn two_stores(one: &dyn Store, other: &dyn Store) -> Result<(), SealFailure> {
    if one.identity() == other.identity() {
        return Err(KeysFailure::SameStore { store: one.describe() }.into());
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
    let fault = if there.ring.is_empty() { KeysFault::BackupEmpty } else { KeysFault::BackupLacks { keys: missing } };
    report.note(Spot::Store(second.describe()), SealFault::Keys(fault), Some(Next::Seal(next::Seal::Backup)));
}

/// The keys of a ring that another one does not have.
fn missing(ring: &Ring, there: &Ring) -> Vec<String> {
    ring.keys().iter().filter(|held| !there.contains(held.pair.fingerprint())).map(|held| held.pair.id()).collect()
}

/// Adds what is missing there, and reads it back.
pub(crate) fn copy(ring: &Ring, to: &dyn Store, recipients: &Change) -> Result<(), SealFailure> {
    add(ring, to, &to.read()?, recipients)
}

fn add(ring: &Ring, to: &dyn Store, before: &Kept, recipients: &Change) -> Result<(), SealFailure> {
    let mut all = before.ring.duplicate()?;
    recipients.apply(&mut all);
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
        let lost = || KeysFailure::NotGivenBack { store: there.describe(), key: held.pair.id() };
        opens(&held.pair).ok_or_else(lost)?;
    }
    Ok(())
}
