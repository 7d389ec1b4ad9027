//! The proof: with the edits, the same check finds nothing of what was to be closed, and nothing else that is as bad.

use std::collections::BTreeMap;

use diagnostic::{Finding, Fingerprint, Left, Repairs, Severity, WhyLeft};
use read::Reading;
use repository::Unsaved;

use crate::Wish;
use crate::files::unsaved;
use crate::house::House;
use crate::job::Job;
use crate::round::round;

/// How often what failed is dropped and the rest checked again.
const ROUNDS_MAX: usize = 8;

/// A finding, as far as two checks are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub fingerprint: Fingerprint,
    pub severity: Severity,
}

impl Seen {
    /// Of a finding of this reading.
    pub fn of(finding: &Finding, reading: &Reading) -> Self {
        Self { fingerprint: Fingerprint::of(finding, &reading.repository), severity: finding.severity }
    }

    /// Files move, and the fault moves with them.
    fn key(&self) -> Fingerprint {
        Fingerprint { path: String::new(), ..self.fingerprint.clone() }
    }
}

/// Finds the edits that close findings. `again` checks the repository with texts that are not saved.
pub fn repairs<E>(
    reading: &Reading,
    findings: &[Finding],
    wish: &Wish<'_>,
    mut again: impl FnMut(&Unsaved) -> Result<Vec<Seen>, E>,
) -> Result<Repairs, E> {
    let wanted = findings.iter().filter(|finding| (wish.closes)(finding));
    let mut jobs: Vec<Job<'_>> = wanted.filter_map(|finding| Job::new(reading, finding, wish)).collect();
    if !jobs.iter().any(Job::is_alive) {
        return Ok(Repairs { made: Vec::new(), left: left(jobs) });
    }
    let house = House::of(&reading.repository);
    let before: Vec<Seen> = findings.iter().map(|finding| Seen::of(finding, reading)).collect();
    for _ in 0..ROUNDS_MAX {
        let done = round(reading, &house, &mut jobs);
        if done.texts.is_empty() {
            break;
        }
        let after = again(&unsaved(&done.texts))?;
        if !drop_unproved(&mut jobs, &before, &after) {
            return Ok(Repairs { made: done.repairs, left: left(jobs) });
        }
    }
    // What is not proved is not made.
    for job in jobs.iter_mut().filter(|job| job.is_alive()) {
        job.why = Some(WhyLeft::StillFound);
    }
    Ok(Repairs { made: Vec::new(), left: left(jobs) })
}

fn left(jobs: Vec<Job<'_>>) -> Vec<Left> {
    jobs.into_iter().filter_map(|job| Some(Left { finding: job.told, why: job.why? })).collect()
}

/// How often a finding was made, and how bad it is at worst.
type Counts = BTreeMap<Fingerprint, (usize, Severity)>;

fn counts(seen: &[Seen]) -> Counts {
    let mut counts = Counts::new();
    for one in seen {
        let (number, worst) = counts.entry(one.key()).or_insert((0, one.severity));
        *number += 1;
        *worst = (*worst).max(one.severity);
    }
    counts
}

/// Drops what did not do what it was for; says whether there was any.
fn drop_unproved(jobs: &mut [Job<'_>], before: &[Seen], after: &[Seen]) -> bool {
    let (before, after) = (counts(before), counts(after));
    let mut is_any = false;
    let mut wanted: BTreeMap<Fingerprint, usize> = BTreeMap::new();
    let key = |job: &Job<'_>| Fingerprint { path: String::new(), ..job.told.fingerprint.clone() };
    for job in jobs.iter().filter(|job| job.is_alive()) {
        *wanted.entry(key(job)).or_default() += 1;
    }
    let number = |counts: &Counts, key: &Fingerprint| counts.get(key).map_or(0, |(number, _)| *number);
    for job in jobs.iter_mut().filter(|job| job.is_alive()) {
        let key = key(job);
        let is_closed = number(&after, &key) + wanted[&key] <= number(&before, &key);
        if !is_closed {
            job.why = Some(WhyLeft::StillFound);
            is_any = true;
        }
    }
    let is_new = |key: &Fingerprint, (number, severity): &(usize, Severity)| {
        before.get(key).is_none_or(|(known, worst)| number > known || severity > worst)
    };
    for (key, (_, severity)) in after.iter().filter(|(key, seen)| is_new(key, seen)) {
        is_any |= drop_blamed(jobs, key, *severity);
    }
    is_any
}

/// Drops the jobs that most likely brought a new finding: those about the same objects.
fn drop_blamed(jobs: &mut [Job<'_>], new: &Fingerprint, severity: Severity) -> bool {
    let objects: Vec<&String> = std::iter::once(&new.component).chain(&new.provider).collect();
    let blame = |job: &Job<'_>| {
        let own = job.objects();
        objects.iter().filter(|object| own.contains(**object)).count()
    };
    let may = |job: &Job<'_>| job.is_alive() && job.told.severity <= severity;
    let most = jobs.iter().filter(|job| may(job)).map(blame).max().unwrap_or_default();
    let mut is_any = false;
    for job in jobs.iter_mut().filter(|job| may(job) && blame(job) == most) {
        // Nothing in common: all of the cluster are to blame, and those elsewhere are not.
        if most > 0 || job.told.cluster == new.cluster {
            job.why = Some(WhyLeft::FindsOther { rule: new.rule.clone(), component: new.component.clone() });
            is_any = true;
        }
    }
    is_any
}
