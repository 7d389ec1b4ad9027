//! Many boots of one blueprint, counted.

use std::collections::BTreeMap;

use crate::blueprint::{Blueprint, Id, Millis};
use crate::event::Reason;
use crate::fault::Fault;
use crate::outcome::{BootOutcome, Limit, Verdict};
use crate::world::World;

/// Boots that one worker does in a row.
const CHUNK: u64 = 64;
/// A retry that costs less is nothing to talk about.
const COST_MIN: Millis = 30_000;

/// Which faults strike.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// All of these, in every boot.
    pub these: Vec<Fault>,
    /// And one in every boot, by its seed.
    pub is_drawn: bool,
}

impl Faults {
    fn of(&self, seed: u64) -> Vec<Fault> {
        self.these.iter().copied().chain(self.is_drawn.then(|| Fault::drawn_beside(seed, &self.these))).collect()
    }
}

/// What many boots came to.
#[derive(Clone, Debug, Default)]
pub struct Study {
    pub boots: u64,
    pub first_seed: u64,
    pub converged: u64,
    /// How many were not followed to their end: nothing is known of how they would have ended.
    pub unfinished: u64,
    /// How many of these reached the limit of time; the others, that of events.
    pub out_of_time: u64,
    /// Of those that converged, shortest first.
    pub times: Vec<Millis>,
    /// What the others died of, the most frequent first.
    pub causes: Vec<Counted>,
    /// What failed and came right by itself, the most frequent first.
    pub retried: Vec<Retried>,
    /// What is missing though everything is ready.
    pub lost: Vec<Lost>,
    /// Why Flux was never started, in how many boots, and the first seed that shows it.
    pub bootstrap_failed: Vec<(Reason, u64, u64)>,
    /// What the cluster lacked when Flux was started, in how many boots, and the first seed that shows it.
    pub started_without: Vec<(Reason, u64, u64)>,
    /// In how many boots each Kustomization and HelmRelease never became ready.
    pub never_ready: BTreeMap<Id, u64>,
    pub events: u64,
}

/// A cause, and in how many boots it was one.
#[derive(Clone, Debug)]
pub struct Counted {
    pub id: Id,
    pub reason: Reason,
    /// The reason and those behind it, in the boot of `seed`.
    pub chain: Vec<Reason>,
    /// The last of them waits for one before it.
    pub turns: bool,
    pub circle: Vec<Id>,
    pub boots: u64,
    /// The most that were not ready for it in one boot.
    pub blocks: u32,
    /// The first seed that shows it.
    pub seed: u64,
}

/// A Kustomization or HelmRelease that failed and became ready later.
#[derive(Clone, Debug)]
pub struct Retried {
    pub id: Id,
    /// Of the first failure.
    pub reason: Reason,
    pub boots: u64,
    /// From the first failure to the attempt that succeeded, the middle one and the worst.
    pub median: Millis,
    pub worst: Millis,
    pub seed: u64,
}

/// Something that is missing and that nobody reports.
#[derive(Clone, Debug)]
pub struct Lost {
    /// What a chart was rendered without, or the Kustomization that was built without its variables.
    pub id: Id,
    /// Who lost it.
    pub of: Id,
    pub boots: u64,
    pub seed: u64,
}

impl Study {
    /// The time within which this share of the converged boots did.
    pub fn percentile(&self, percent: usize) -> Option<Millis> {
        let last = self.times.len().checked_sub(1)?;
        self.times.get((last * percent).div_ceil(100)).copied()
    }
}

/// What one worker has seen.
#[derive(Debug, Default)]
struct Part {
    converged: u64,
    unfinished: u64,
    out_of_time: u64,
    times: Vec<Millis>,
    causes: BTreeMap<(Id, bool, u8), Counted>,
    retried: BTreeMap<Id, (Reason, Vec<Millis>, u64)>,
    lost: BTreeMap<(Id, Id), (u64, u64)>,
    bootstrap_failed: BTreeMap<Reason, (u64, u64)>,
    started_without: BTreeMap<Reason, (u64, u64)>,
    never_ready: BTreeMap<Id, u64>,
    events: u64,
}

/// Boots seeds `first` to `first + boots - 1`, on every core. The same for the same seeds.
pub fn study(blueprint: &Blueprint, first: u64, boots: u64, faults: &Faults) -> Study {
    let starts: Vec<u64> = (0..boots.div_ceil(CHUNK)).map(|at| at * CHUNK).collect();
    let parts = repository::parallel::map(&starts, |start| {
        let mut world = World::new(blueprint);
        let mut part = Part::default();
        for at in *start..(start + CHUNK).min(boots) {
            let seed = first + at;
            let outcome = world.boot(seed, &faults.of(seed));
            part.add(blueprint, &outcome, seed);
        }
        part
    });
    let mut whole = Part::default();
    for part in parts {
        whole.merge(part);
    }
    whole.finish(first, boots)
}

impl Part {
    fn add(&mut self, blueprint: &Blueprint, outcome: &BootOutcome, seed: u64) {
        self.events += outcome.events;
        if outcome.converged() {
            self.converged += 1;
            self.times.push(outcome.at);
        }
        let is_unfinished = matches!(outcome.verdict, Verdict::Unfinished(_));
        self.out_of_time += u64::from(outcome.verdict == Verdict::Unfinished(Limit::Time));
        self.unfinished += u64::from(is_unfinished);
        for cause in &outcome.causes {
            let key = (cause.id, !cause.circle.is_empty(), cause.reason.rank());
            let counted = self.causes.entry(key).or_insert_with(|| Counted {
                id: cause.id,
                reason: cause.reason,
                chain: cause.chain.clone(),
                turns: cause.turns,
                circle: cause.circle.clone(),
                boots: 0,
                blocks: 0,
                seed,
            });
            counted.boots += 1;
            counted.blocks = counted.blocks.max(cause.blocks);
        }
        if let Some(reason) = outcome.bootstrap_failed {
            self.bootstrap_failed.entry(reason).or_insert((0, seed)).0 += 1;
        }
        if let Some(reason) = outcome.started_without {
            self.started_without.entry(reason).or_insert((0, seed)).0 += 1;
        }
        for it in &outcome.flux {
            if !it.is_ready && !it.is_suspended && !is_unfinished {
                *self.never_ready.entry(it.id).or_default() += 1;
            }
            if let Some((failed, reason)) = it.first_failure.filter(|(failed, _)| it.ready_attempt > failed + COST_MIN)
                && it.is_ready
            {
                let cost = it.ready_attempt - failed;
                self.retried.entry(it.id).or_insert_with(|| (reason, Vec::new(), seed)).1.push(cost);
            }
        }
        let left_out = outcome.left_out.iter().map(|id| (*id, blueprint.made_by[id.index()].unwrap_or(*id)));
        for key in left_out.chain(outcome.stale.iter().map(|id| (*id, *id))) {
            self.lost.entry(key).or_insert((0, seed)).0 += 1;
        }
    }

    fn merge(&mut self, other: Self) {
        self.events += other.events;
        self.converged += other.converged;
        self.unfinished += other.unfinished;
        self.out_of_time += other.out_of_time;
        self.times.extend(other.times);
        for (key, counted) in other.causes {
            match self.causes.get_mut(&key) {
                Some(known) => {
                    known.boots += counted.boots;
                    known.blocks = known.blocks.max(counted.blocks);
                }
                None => {
                    self.causes.insert(key, counted);
                }
            }
        }
        for (id, (reason, times, seed)) in other.retried {
            self.retried.entry(id).or_insert_with(|| (reason, Vec::new(), seed)).1.extend(times);
        }
        for (key, (boots, seed)) in other.lost {
            self.lost.entry(key).or_insert((0, seed)).0 += boots;
        }
        for (reason, (boots, seed)) in other.bootstrap_failed {
            self.bootstrap_failed.entry(reason).or_insert((0, seed)).0 += boots;
        }
        for (reason, (boots, seed)) in other.started_without {
            self.started_without.entry(reason).or_insert((0, seed)).0 += boots;
        }
        for (id, boots) in other.never_ready {
            *self.never_ready.entry(id).or_default() += boots;
        }
    }

    fn finish(mut self, first_seed: u64, boots: u64) -> Study {
        self.times.sort_unstable();
        let mut causes: Vec<Counted> = self.causes.into_values().collect();
        causes.sort_by_key(|cause| (std::cmp::Reverse((cause.boots, cause.blocks)), cause.id));
        let mut retried: Vec<Retried> = self
            .retried
            .into_iter()
            .map(|(id, (reason, mut times, seed))| {
                times.sort_unstable();
                let median = times[times.len() / 2];
                let worst = times.last().copied().unwrap_or(median);
                Retried { id, reason, boots: times.len() as u64, median, worst, seed }
            })
            .collect();
        retried.sort_by_key(|it| (std::cmp::Reverse((it.boots, it.median)), it.id));
        let lost = self.lost.into_iter().map(|((id, of), (boots, seed))| Lost { id, of, boots, seed });
        Study {
            boots,
            first_seed,
            converged: self.converged,
            unfinished: self.unfinished,
            out_of_time: self.out_of_time,
            times: self.times,
            causes,
            retried,
            lost: lost.collect(),
            bootstrap_failed: self
                .bootstrap_failed
                .into_iter()
                .map(|(reason, (boots, seed))| (reason, boots, seed))
                .collect(),
            started_without: self
                .started_without
                .into_iter()
                .map(|(reason, (boots, seed))| (reason, boots, seed))
                .collect(),
            never_ready: self.never_ready,
            events: self.events,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, Faults};

    #[test]
    fn a_fault_by_its_name_and_one_by_the_seed_both_strike() {
        let faults = Faults { these: vec![Fault::GitDown], is_drawn: true };
        assert_eq!(faults.of(7), [Fault::GitDown, Fault::drawn_beside(7, &[Fault::GitDown])]);
        assert_eq!(Faults::default().of(7), []);
    }
}
