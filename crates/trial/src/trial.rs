//! Many seeds over many clusters, counted.
//!
//! The cluster of a seed is the rest of its division by the number of clusters, so a seed and that number repeat a run.

use std::collections::BTreeMap;

use run::Outcome;
use simulate::Fault;

use crate::boot::{Prepared, TrialError, boot, prepare};
use crate::cluster::{Defect, cluster};
use crate::dice::Dice;
use crate::judge::Case;

/// Of a hundred seeds, so many have no fault, and so many two.
const WITHOUT: u64 = 25;
const WITH_TWO: u64 = 15;

/// Which seeds over how many clusters.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    pub first: u64,
    pub seeds: u64,
    pub clusters: u64,
}

/// Runs of one kind, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub runs: u64,
    pub healthy: u64,
    pub failed: u64,
}

/// What many runs came to.
#[derive(Debug, Default)]
pub struct Summary {
    /// By fault and defect.
    pub counts: BTreeMap<String, Count>,
    /// Steps that failed, by the kind of what for.
    pub causes: BTreeMap<&'static str, u64>,
    /// Seeds for which there is no plan: dependencies go round in a circle.
    pub refused: u64,
    /// How often anything was brought up, second runs and runs without the fault included.
    pub boots: u64,
    /// Of each cluster.
    pub components: Vec<usize>,
    /// The longest that a makespan was beyond its critical path, in thousandths of that.
    pub beyond: u64,
    /// What does not hold, each with the seed and the cluster.
    pub wrong: Vec<String>,
}

/// The faults of a seed.
pub fn faults(seed: u64) -> Vec<Fault> {
    let mut dice = Dice::new(seed, "faults");
    let share = dice.below(100);
    let count = if share < WITHOUT { 0 } else { 1 + usize::from(share >= 100 - WITH_TWO) };
    // Those of machines are for boots by steps that files tell, which these clusters have none of.
    let anywhere: Vec<Fault> = Fault::ALL.into_iter().filter(|fault| !fault.is_of_machines()).collect();
    let mut all: Vec<Fault> = (0..count).map(|_| *dice.one_of(&anywhere)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Runs all seeds, on every core; `done` hears of every one. The same for the same seeds.
pub fn trial(of: Trial, done: impl Fn() + Sync + Send) -> Result<Summary, TrialError> {
    let firsts: Vec<u64> = (of.first..of.first + of.clusters.min(of.seeds)).collect();
    let parts = repository::parallel::map(&firsts, |first| -> Result<Summary, TrialError> {
        let prepared = prepare(cluster(first % of.clusters), false)?;
        let mut summary = Summary::default();
        summary.components.push(prepared.blueprint.components());
        let mut seed = *first;
        while seed < of.first + of.seeds {
            summary.add(&prepared, seed)?;
            done();
            seed += of.clusters;
        }
        Ok(summary)
    });
    let mut whole = Summary::default();
    for part in parts {
        whole.merge(part?);
    }
    Ok(whole)
}

impl Summary {
    fn add(&mut self, prepared: &Prepared, seed: u64) -> Result<(), TrialError> {
        let (number, defect) = (prepared.cluster.number, prepared.cluster.defect);
        let plan = match &prepared.plan {
            Ok(plan) => plan,
            Err(error) => {
                self.refused += 1;
                if defect != Some(Defect::Circle) {
                    self.wrong.push(format!("seed {seed}, cluster {number}: {error}"));
                }
                return Ok(());
            }
        };
        let faults = faults(seed);
        let once = |faults: &[Fault]| boot(plan, &prepared.blueprint, &prepared.settings, seed, faults);
        let ran = once(&faults)?;
        let again = once(&faults)?;
        let comes_up_without = || once(&[]).is_ok_and(|ran| ran.outcome == Outcome::Healthy);
        let case = Case { prepared, plan, ran: &ran, faults: &faults, comes_up_without: &comes_up_without };
        let mut judgement = case.judge();
        if ran.bytes != again.bytes || ran.lines != again.lines {
            judgement.wrong.push("a second run tells something else".to_owned());
        }
        self.boots += 2 + u64::from(!judgement.causes.is_empty() && !faults.is_empty());
        self.beyond = self.beyond.max(judgement.beyond);
        self.count(&label(&faults, defect), ran.outcome);
        for cause in judgement.causes {
            *self.causes.entry(cause).or_default() += 1;
        }
        let names: Vec<&str> = faults.iter().map(|fault| fault.name()).collect();
        let names = if names.is_empty() { "no fault".to_owned() } else { names.join(" and ") };
        let planted = defect.map(|defect| format!(", {}", defect.name())).unwrap_or_default();
        for wrong in judgement.wrong {
            self.wrong.push(format!("seed {seed}, cluster {number}{planted}, {names}: {wrong}"));
        }
        Ok(())
    }

    fn count(&mut self, label: &str, outcome: Outcome) {
        let count = self.counts.entry(label.to_owned()).or_default();
        count.runs += 1;
        count.healthy += u64::from(outcome == Outcome::Healthy);
        count.failed += u64::from(outcome != Outcome::Healthy);
    }

    fn merge(&mut self, other: Self) {
        for (label, count) in other.counts {
            let known = self.counts.entry(label).or_default();
            known.runs += count.runs;
            known.healthy += count.healthy;
            known.failed += count.failed;
        }
        for (cause, count) in other.causes {
            *self.causes.entry(cause).or_default() += count;
        }
        self.refused += other.refused;
        self.boots += other.boots;
        self.beyond = self.beyond.max(other.beyond);
        self.components.extend(other.components);
        self.wrong.extend(other.wrong);
    }

    /// All runs together.
    pub fn total(&self) -> Count {
        self.counts.values().fold(Count::default(), |sum, count| Count {
            runs: sum.runs + count.runs,
            healthy: sum.healthy + count.healthy,
            failed: sum.failed + count.failed,
        })
    }
}

fn label(faults: &[Fault], defect: Option<Defect>) -> String {
    match (faults, defect) {
        ([], None) => "no fault".to_owned(),
        ([], Some(defect)) => format!("no fault, defect: {}", defect.name()),
        ([one], None) => one.name().to_owned(),
        (_, None) => "two faults".to_owned(),
        (_, Some(_)) => "faults and a defect".to_owned(),
    }
}
