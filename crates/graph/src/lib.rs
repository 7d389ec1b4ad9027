//! Needs linked to offers. One graph of *events* carries everything: `X ⇒ Y` says that when X has happened, Y must have
//! happened before. What a component can rely on is what its start implies; a deadlock is a cycle.
//!
//! This crate knows the model. It knows no file format and no output, and does no IO.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod asking;
mod boot;
mod change;
mod cycles;
mod early;
mod events;
mod gates;
mod impact;
mod judge;
mod linking;
mod loss;
mod reach;
mod schedule;
mod settle;
mod standing;
mod trial;
mod waits;

pub use boot::Before;
pub use change::{Change, LooksAt, NewGate, changed};
pub use cycles::{Deadlock, Step};
pub use early::{EarlyPart, early_key, early_parts, repeated};
pub use events::{Because, Event, Events, Moment};
pub use impact::{Affected, Cause, Critical, Impact, Impacts, Subject};
pub use judge::Judged;
pub use linking::{Links, is_given};
pub use loss::{Loss, Onset, onset};
pub use reach::{Answers, ImpliedByOther, Member, Questions};
pub use schedule::{Schedule, own_seconds};
pub use settle::{in_circles, settled};
pub use standing::{Fate, Lost, Missing, Standing, Taken};
pub use trial::{Attempt, Outcome, Trials};
pub use waits::{Strength, Wait};

use std::collections::BTreeSet;

use asking::Asking;
use model::{CapabilityKind, Cluster, ComponentId, Verdict};

/// Everything there is to say about one cluster's order.
#[derive(Debug)]
pub struct Analysis {
    /// One for every need, in the order of [`Cluster::needs`].
    pub judged: Vec<Judged>,
    /// Every cycle that nothing can leave, each named once.
    pub deadlocks: Vec<Deadlock>,
    /// Cycles through what several bring and none of them can bring first, and through Secrets that pods wait for. Verdicts do not rest
    /// on them.
    pub hopeless: Vec<Deadlock>,
    pub schedule: Schedule,
    pub links: Links,
    pub events: Events,
    /// Needs that fail at first, by their indices: what follows from their being met proves nothing.
    pub failing: BTreeSet<usize>,
}

impl Analysis {
    /// The cycles of both kinds.
    pub fn cycles(&self) -> impl Iterator<Item = &Deadlock> {
        self.deadlocks.iter().chain(&self.hopeless)
    }
}

impl Analysis {
    /// The declared ties, by their places, by which one component comes after another; none where what applies them orders the two.
    pub fn ties_between(&self, of: ComponentId, by: ComponentId) -> Vec<usize> {
        let start = Events::of(of, Moment::Start);
        let mut ends = [Moment::Done, Moment::Applied, Moment::Start].into_iter();
        let way = ends.find_map(|moment| cycles::way(&self.events, start, Events::of(by, moment)));
        let tie = |step: &Step| match step.because {
            Because::Tie(tie) => Some(tie),
            _ => None,
        };
        way.iter().flatten().filter_map(tie).collect()
    }
}

/// Links, orders and judges one cluster.
pub fn analyse(cluster: &Cluster) -> Analysis {
    let links = Links::new(cluster);
    let events = Events::new(cluster, &links);
    let deadlocks = cycles::find(&events);
    let mut hopeless = hopeless(cluster, &links, &events, &deadlocks);
    hopeless.extend(unfilled(cluster, &links, &events, &deadlocks));
    let schedule = Schedule::new(cluster, &links, &events);
    let judged = judge::all(cluster, &links, &events, &schedule, &deadlocks);
    let (judged, failing) = without_failures(cluster, judged, &links, &events, &schedule, &deadlocks);
    Analysis { judged, deadlocks, hopeless, schedule, links, events, failing }
}

/// Cycles through something that several bring, of whom each comes only after it.
fn hopeless(cluster: &Cluster, links: &Links, events: &Events, known: &[Deadlock]) -> Vec<Deadlock> {
    let Some((events, offers)) = events.with_hopeless(cluster, links, known) else { return Vec::new() };
    let mut found = cycles::find(&events);
    found.retain(|deadlock| deadlock.offers().any(|offer| offers.contains(&offer)) && !known.contains(deadlock));
    found
}

/// Cycles through a Secret that something waits for, and that a store fills which comes only after that.
fn unfilled(cluster: &Cluster, links: &Links, events: &Events, known: &[Deadlock]) -> Vec<Deadlock> {
    let found = |needs: &BTreeSet<usize>| -> Vec<Deadlock> {
        let all = cycles::find(&events.with_filled(needs)).into_iter();
        all.filter(|deadlock| deadlock.needs().any(|need| needs.contains(&need)) && !known.contains(deadlock)).collect()
    };
    let all = events.filled();
    let possible = if all.is_empty() { Vec::new() } else { found(&all) };
    if possible.is_empty() {
        return possible;
    }
    let asking = Asking::new(cluster);
    let waits = |need: &usize| {
        let one = &cluster.needs[*need];
        one.capability.kind == CapabilityKind::Secret || asking.waits(cluster, links, events, one)
    };
    let on_them = possible.iter().flat_map(Deadlock::needs).filter(|need| all.contains(need));
    found(&on_them.filter(waits).collect())
}

/// Judges once more without what follows only from applies that fail until then. A component that is tied to one that
/// loses a race comes in time as well, but only as long as the other keeps losing: mended the one, the other is lost.
fn without_failures(
    cluster: &Cluster,
    first: Vec<Judged>,
    links: &Links,
    events: &Events,
    schedule: &Schedule,
    deadlocks: &[Deadlock],
) -> (Vec<Judged>, BTreeSet<usize>) {
    let fails = |judged: &&Judged| matches!(judged.verdict, Verdict::Unordered | Verdict::Deadlocked);
    let failing = |all: &[Judged]| -> BTreeSet<usize> {
        all.iter().filter(fails).map(|judged| judged.need).filter(|need| events.met(*need).is_some()).collect()
    };
    let (mut judged, mut without): (Option<Vec<Judged>>, BTreeSet<usize>) = (None, BTreeSet::new());
    // What held only by a failure fails itself now, and others may have held by that.
    for _ in 0..ROUNDS_MAX {
        let known = without.len();
        without.extend(failing(judged.as_ref().unwrap_or(&first)));
        if without.len() == known {
            break;
        }
        judged = Some(judge::all(cluster, links, &events.without(&without), schedule, deadlocks));
    }
    let Some(mut judged) = judged else { return (first, without) };
    for (now, before) in judged.iter_mut().zip(&first) {
        now.holds_by_failure = now.verdict != before.verdict;
    }
    (judged, without)
}

/// How often judging is repeated at most. Deeper than a few nobody nests such luck.
const ROUNDS_MAX: usize = 6;
