//! The proof: with the edits, the same check finds nothing of what was to be closed, and nothing else that is as bad.

use std::collections::BTreeMap;

use diagnostic::{Finding, Fingerprint, Left, Repair, Repairs, Severity, Unsplit, WhyLeft};
use read::Reading;
use repository::Unsaved;

use crate::Wish;
use crate::along::Appliers;
use crate::files::Texts;
use crate::house::House;
use crate::job::Job;
use crate::round::round;
use crate::split;

/// How often what failed is dropped and the rest checked again.
const ROUNDS_MAX: usize = 8;
/// How often all of it is tried, each time without what turned out to be wrong only at the end.
const ATTEMPTS_MAX: usize = 3;
/// How often what was found only after edits is closed as well.
const PASSES_MAX: usize = 10;

/// A repository, and what was found in it: each finding by itself.
#[derive(Debug)]
pub struct Checked {
    pub reading: Reading,
    pub findings: Vec<Finding>,
}

/// Finds the edits that close findings. `again` checks the repository with texts that are not saved.
pub fn repairs<E>(
    reading: &Reading,
    findings: &[Finding],
    wish: &Wish<'_>,
    mut again: impl FnMut(&Unsaved) -> Result<Checked, E>,
) -> Result<Repairs, E> {
    let house = House::of(&reading.repository);
    let before = counts(findings);
    let wanted = || findings.iter().filter(|finding| (wish.closes)(finding, reading));
    let least = wanted().map(|finding| finding.severity).min();
    let mut dropped: Dropped = BTreeMap::new();
    for attempt in 1.. {
        let patience = if attempt < ATTEMPTS_MAX { Patience::UntilTheEnd } else { Patience::None };
        let all = Passes { reading, findings, wish, house: &house, patience };
        let (repairs, after) = all.run(&mut dropped.clone(), &mut again)?;
        let mut new: Vec<Fingerprint> = Vec::new();
        if let Some(after) = after {
            let closed = repairs.made.iter().flat_map(|repair| &repair.closes).map(|told| told.fingerprint.clone());
            let closed: Vec<Fingerprint> = closed.map(anywhere).filter(|closed| before.contains_key(closed)).collect();
            new = new_keys(&before, &after, closed.iter());
            let is_wanted = |severity: Severity| least.is_some_and(|least| severity >= least);
            new.retain(|key| is_wanted(after[key].1) && !is_better(key, &before, &after));
        }
        if new.is_empty() || attempt >= ATTEMPTS_MAX {
            return Ok(repairs);
        }
        // What was found only after edits, and could not be closed, is the fault of those that brought it to light.
        for finding in wanted() {
            let own = Fingerprint::of(finding, &reading.repository);
            let blamed = new.iter().find(|new| new.component == own.component && new.cluster == own.cluster);
            if let Some(new) = blamed {
                let why = WhyLeft::FindsOther { rule: new.rule.clone(), component: new.component.clone() };
                dropped.insert(own, why);
            }
        }
    }
    Ok(Repairs::default())
}

/// What can't be closed, and why: it is not tried again.
type Dropped = BTreeMap<Fingerprint, WhyLeft>;

/// Whether a new finding is borne with that stands in the place of others of the same component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    /// A later pass may close it; at the end it must be gone.
    UntilTheEnd,
    None,
}

/// Passes until nothing is left that could be closed.
struct Passes<'p> {
    reading: &'p Reading,
    findings: &'p [Finding],
    wish: &'p Wish<'p>,
    house: &'p House,
    patience: Patience,
}

impl Passes<'_> {
    fn run<E>(
        &self,
        dropped: &mut Dropped,
        again: &mut impl FnMut(&Unsaved) -> Result<Checked, E>,
    ) -> Result<(Repairs, Option<Counts>), E> {
        let mut made: Vec<Repair> = Vec::new();
        let mut texts = Texts::new();
        let mut last: Option<Checked> = None;
        let first = dropped.clone();
        let mut is_new = false;
        let mut sooner = Appliers::new();
        for _ in 0..PASSES_MAX {
            let (reading, findings) = self.state(last.as_ref());
            let pass = Pass { reading, findings, texts: &texts, sooner: &sooner, all: self };
            let Passed { repairs, next, why, is_part, hastened } = pass.run(dropped, again)?;
            dropped.extend(why);
            sooner.extend(hastened);
            let Some(next) = next else {
                if is_part {
                    continue;
                }
                // What was dropped for another's fault is tried once more, as the next run would.
                if std::mem::take(&mut is_new) && *dropped != first {
                    dropped.clone_from(&first);
                    continue;
                }
                break;
            };
            is_new = true;
            for changed in repairs.iter().flat_map(|repair| &repair.files) {
                texts.insert(changed.path.clone(), changed.after.clone());
            }
            made.extend(repairs);
            // Giving a large repository back value by value takes longer than to check it.
            std::mem::forget(last.replace(next));
        }
        let (reading, findings) = self.state(last.as_ref());
        let wanted = findings.iter().filter(|finding| (self.wish.closes)(finding, reading));
        let jobs = wanted.filter_map(|finding| Job::new(reading, finding, self.wish));
        let left = jobs.map(|job| left(job, dropped)).collect();
        let after = last.as_ref().map(|last| counts(&last.findings));
        std::mem::forget(last);
        Ok((Repairs { made, left }, after))
    }

    fn state<'s>(&'s self, last: Option<&'s Checked>) -> (&'s Reading, &'s [Finding]) {
        last.map_or((self.reading, self.findings), |last| (&last.reading, last.findings.as_slice()))
    }
}

fn left(job: Job<'_>, dropped: &Dropped) -> Left {
    let why = job.why.clone().or_else(|| dropped.get(&job.told.fingerprint).cloned());
    Left { finding: job.told, why: why.unwrap_or(WhyLeft::StillFound) }
}

/// One pass over everything that is found at the moment.
struct Pass<'p> {
    reading: &'p Reading,
    findings: &'p [Finding],
    all: &'p Passes<'p>,
    /// What earlier passes made of files.
    texts: &'p Texts,
    /// Who applies sooner because of them.
    sooner: &'p Appliers,
}

/// What a pass came to.
struct Passed {
    repairs: Vec<Repair>,
    /// The repository with the edits; nothing where there are none.
    next: Option<Checked>,
    why: Vec<(Fingerprint, WhyLeft)>,
    /// Some of what is wanted waits for the next pass.
    is_part: bool,
    /// Who applies sooner what is installed only once.
    hastened: Appliers,
}

impl Pass<'_> {
    fn run<E>(&self, dropped: &Dropped, again: &mut impl FnMut(&Unsaved) -> Result<Checked, E>) -> Result<Passed, E> {
        let mut jobs = self.jobs(dropped);
        // What moves to another component changes what the others are about: they wait for the next pass.
        let is_part = jobs.iter().any(Job::is_splitting) && !jobs.iter().all(Job::is_splitting);
        if is_part {
            jobs.retain(Job::is_splitting);
        } else {
            self.add_awaited(&mut jobs);
        }
        let before = counts(self.findings);
        for _ in 0..ROUNDS_MAX {
            let done = round(self.reading, self.all.house, &mut jobs, self.sooner);
            if done.texts.is_empty() {
                break;
            }
            let after = again(&self.unsaved(&done.texts))?;
            let is_split_wrong = split::drop_built_otherwise(&mut jobs, self.reading, &after.reading);
            if !is_split_wrong && !drop_unproved(&mut jobs, &before, &counts(&after.findings), self.all.patience) {
                let made = jobs.iter().filter(|job| job.is_alive());
                let hastened = made.flat_map(|job| job.hastens.iter().cloned()).collect();
                let (repairs, why) = (done.repairs, reasons(&jobs));
                return Ok(Passed { repairs, next: Some(after), why, is_part, hastened });
            }
            std::mem::forget(after);
        }
        // What is not proved is not made.
        for job in jobs.iter_mut().filter(|job| job.is_alive()) {
            job.why = Some(WhyLeft::StillFound);
        }
        let all = jobs.into_iter().filter(|job| !job.is_along);
        let why = all.filter_map(|job| Some((job.told.fingerprint, job.why?))).collect();
        Ok(Passed { repairs: Vec::new(), next: None, why, is_part, hastened: Appliers::new() })
    }

    /// What is wanted and may be closed.
    fn jobs(&self, dropped: &Dropped) -> Vec<Job<'_>> {
        let wish = self.all.wish;
        let wanted = self.findings.iter().filter(|finding| (wish.closes)(finding, self.reading));
        let jobs = wanted.filter_map(|finding| Job::new(self.reading, finding, wish));
        jobs.filter(|job| job.is_alive() && !dropped.contains_key(&job.told.fingerprint)).collect()
    }

    /// Adds what the installs wait for that begin sooner with what is wanted: without it they may fail for good.
    fn add_awaited<'j>(&'j self, jobs: &mut Vec<Job<'j>>) {
        let mut sooner = self.sooner.clone();
        sooner.extend(jobs.iter().flat_map(|job| job.hastens.iter().cloned()));
        if sooner.is_empty() {
            return;
        }
        let wish = self.all.wish;
        for finding in self.findings {
            let Some(along) = Job::awaited(self.reading, finding, wish, &sooner) else { continue };
            let is_it = |job: &&mut Job<'_>| job.told.fingerprint == along.told.fingerprint;
            if let Some(job) = jobs.iter_mut().find(is_it) {
                (job.awaits, job.too_soon) = (along.awaits, along.too_soon);
            } else if !(wish.closes)(finding, self.reading) && (wish.may_add)(finding, self.reading) {
                jobs.push(Job { is_along: true, ..along });
            }
        }
    }

    fn unsaved(&self, texts: &Texts) -> Unsaved {
        let mut unsaved = Unsaved::default();
        for (path, text) in self.texts.iter().chain(texts) {
            match text {
                Some(text) => unsaved.set(path.clone(), text.clone()),
                None => unsaved.remove(path.clone()),
            }
        }
        unsaved
    }
}

fn reasons(jobs: &[Job<'_>]) -> Vec<(Fingerprint, WhyLeft)> {
    // What a patch hid before may be closed in the next pass.
    let is_final = |job: &&Job<'_>| match &job.why {
        Some(WhyLeft::StillFound) => !job.is_unlisting(),
        // Two move objects out of the same component: the second one finds another name.
        Some(WhyLeft::Unsplit { how: Unsplit::Taken { .. }, .. }) => !job.is_splitting(),
        _ => true,
    };
    let wanted = jobs.iter().filter(|job| !job.is_along);
    wanted.filter(is_final).filter_map(|job| Some((job.told.fingerprint.clone(), job.why.clone()?))).collect()
}

/// How often a finding was made, and how bad it is at worst.
type Counts = BTreeMap<Fingerprint, (usize, Severity)>;

/// Every finding, and those that it speaks for: when the first of them is closed, another one speaks.
fn counts(findings: &[Finding]) -> Counts {
    let mut counts = Counts::new();
    for finding in findings {
        let own = key(finding);
        let mut all = BTreeMap::from([(own.clone(), finding.severity)]);
        for also in &finding.also {
            let component = also.component.to_string();
            let provider = also.provider.as_ref().map(ToString::to_string);
            let severity = also.severity.min(finding.severity);
            all.entry(Fingerprint { component, provider, ..own.clone() }).or_insert(severity);
        }
        for (one, severity) in all {
            let (number, worst) = counts.entry(one).or_insert((0, severity));
            *number += 1;
            *worst = (*worst).max(severity);
        }
    }
    counts
}

/// Without its file.
fn anywhere(fingerprint: Fingerprint) -> Fingerprint {
    Fingerprint { path: String::new(), ..fingerprint }
}

/// Files move, and the fault moves with them.
fn key(finding: &Finding) -> Fingerprint {
    Fingerprint::at(finding, None)
}

/// Drops what did not do what it was for; says whether there was any.
fn drop_unproved(jobs: &mut [Job<'_>], before: &Counts, after: &Counts, patience: Patience) -> bool {
    let mut is_any = false;
    let mut wanted: BTreeMap<Fingerprint, usize> = BTreeMap::new();
    let key = |job: &Job<'_>| anywhere(job.told.fingerprint.clone());
    for job in jobs.iter().filter(|job| job.is_alive()) {
        *wanted.entry(key(job)).or_default() += 1;
    }
    // What is found again and is less bad than it was is closed as what it was.
    let number = |counts: &Counts, key: &Fingerprint, severity: Severity| {
        counts.get(key).filter(|(_, worst)| *worst >= severity).map_or(0, |(number, _)| *number)
    };
    for job in jobs.iter_mut().filter(|job| job.is_alive()) {
        let (key, severity) = (key(job), job.told.severity);
        let is_closed = number(after, &key, severity) + wanted[&key] <= number(before, &key, severity);
        if !is_closed {
            job.why = Some(WhyLeft::StillFound);
            is_any = true;
        }
    }
    let closed: Vec<Fingerprint> = jobs.iter().filter(|job| job.is_alive()).map(key).collect();
    let mut new = new_keys(before, after, closed.iter());
    new.retain(|new| {
        let severity = after[new].1;
        patience == Patience::None || about(new, after, severity) > about(new, before, severity)
    });
    // What was not applied before may bring anything to light: the others are judged without it.
    if drop_revealing(jobs, &new) {
        return true;
    }
    for new in &new {
        is_any |= drop_blamed(jobs, new, after[new].1);
    }
    is_any
}

/// Drops what has more applied than before, in clusters where something new is found; says whether there was any.
fn drop_revealing(jobs: &mut [Job<'_>], new: &[Fingerprint]) -> bool {
    let mut is_any = false;
    for job in jobs.iter_mut().filter(|job| job.is_alive() && job.is_revealing()) {
        if let Some(new) = new.iter().find(|new| new.cluster == job.told.cluster) {
            job.why = Some(WhyLeft::FindsOther { rule: new.rule.clone(), component: new.component.clone() });
            is_any = true;
        }
    }
    is_any
}

/// How many findings as bad as this there are of the same component.
fn about(new: &Fingerprint, counts: &Counts, severity: Severity) -> usize {
    let is_same = |key: &Fingerprint| key.component == new.component && key.cluster == new.cluster;
    let same = counts.iter().filter(|(key, (_, it))| is_same(key) && *it >= severity);
    same.map(|(_, (number, _))| *number).sum()
}

/// Whether a finding below warning stands in the place of several of the same component: it was hidden by those.
fn is_better(new: &Fingerprint, before: &Counts, after: &Counts) -> bool {
    let severity = after[new].1;
    severity < Severity::Warning && about(new, after, severity) < about(new, before, severity)
}

/// What is found more often or is worse than before, `closed` being what is not found any more because of edits. Some rules tell
/// one finding for many, and which of them speaks may change: where a rule finds no more than what is left, nothing is new.
fn new_keys<'k>(before: &Counts, after: &Counts, closed: impl Iterator<Item = &'k Fingerprint>) -> Vec<Fingerprint> {
    let mut gone: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for key in closed {
        *gone.entry((&key.rule, &key.cluster)).or_default() += 1;
    }
    let of_rule = |counts: &Counts, new: &Fingerprint, severity: Severity| {
        let same = counts
            .iter()
            .filter(|(key, (_, it))| key.rule == new.rule && key.cluster == new.cluster && *it >= severity);
        same.map(|(_, (number, _))| *number).sum::<usize>()
    };
    let is_new = |(key, (number, severity)): &(&Fingerprint, &(usize, Severity))| {
        // Below warning, how bad it is depends on how many others have it: where most are fixed, the rest stands out.
        let is_no_worse = |worst: Severity| *severity <= worst || *severity < Severity::Warning;
        let is_known = before.get(*key).is_some_and(|(known, worst)| number <= known && is_no_worse(*worst));
        if is_known {
            return false;
        }
        let gone = gone.get(&(key.rule.as_str(), key.cluster.as_str())).copied().unwrap_or_default();
        let speaks_for = |old: &Fingerprint| is_about_same(old, key) && !after.contains_key(old);
        let may_speak = *severity < Severity::Warning || before.keys().any(speaks_for);
        !may_speak || of_rule(after, key, *severity) + gone > of_rule(before, key, *severity)
    };
    after.iter().filter(is_new).map(|(key, _)| key.clone()).collect()
}

/// Whether two findings of a rule are of the same component, or of what the same one provides.
fn is_about_same(one: &Fingerprint, other: &Fingerprint) -> bool {
    (&one.rule, &one.cluster) == (&other.rule, &other.cluster)
        && (one.component == other.component || (one.provider.is_some() && one.provider == other.provider))
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
    // Nothing in common: what takes something away or brings it to light, else all of the cluster.
    let is_near = |job: &Job<'_>| may(job) && job.told.cluster == new.cluster;
    let is_bold = jobs.iter().any(|job| is_near(job) && job.is_bold());
    let is_blamed = |job: &Job<'_>| match most {
        0 => is_near(job) && (job.is_bold() || !is_bold),
        _ => may(job) && blame(job) == most,
    };
    let mut is_any = false;
    for job in jobs.iter_mut().filter(|job| is_blamed(job)) {
        job.why = Some(WhyLeft::FindsOther { rule: new.rule.clone(), component: new.component.clone() });
        is_any = true;
    }
    is_any
}

#[cfg(test)]
mod tests {
    use diagnostic::{Fingerprint, Severity};

    use super::{Counts, new_keys};

    fn key((component, provider): (&str, &str)) -> Fingerprint {
        Fingerprint {
            rule: "missing-dependency".to_owned(),
            cluster: "home".to_owned(),
            component: component.to_owned(),
            provider: Some(provider.to_owned()),
            capability: None,
            path: String::new(),
        }
    }

    fn counts(all: &[(&str, &str)]) -> Counts {
        all.iter().map(|one| (key(*one), (1, Severity::Warning))).collect()
    }

    /// The components of what is new where edits close one finding.
    fn new(before: &[(&str, &str)], closed: (&str, &str), after: &[(&str, &str)]) -> Vec<String> {
        let closed = key(closed);
        let new = new_keys(&counts(before), &counts(after), std::iter::once(&closed));
        new.into_iter().map(|key| key.component).collect()
    }

    #[test]
    fn another_one_may_speak_for_those_that_lack_the_same() {
        let before = [("a", "store"), ("b", "disk"), ("c", "disk")];
        assert_eq!(new(&before, ("a", "store"), &[("b", "disk"), ("d", "disk")]), Vec::<String>::new());
        assert_eq!(new(&before, ("a", "store"), &[("b", "disk"), ("c", "disk"), ("d", "disk")]), ["d"]);
    }

    #[test]
    fn what_was_hidden_is_new_though_more_is_closed() {
        let before = [("a", "store"), ("b", "disk"), ("c", "disk")];
        assert_eq!(new(&before, ("a", "store"), &[("b", "disk"), ("issuers", "cert-manager")]), ["issuers"]);
    }
}
