//! One cause, however many clusters have it: clusters that share a base, or are copies of each other, share its faults.
//!
//! Sorted as a person wants to read them: what stops most comes first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::{Consequence, ObjectRef};

use crate::{Finding, Severity, Site};

/// A finding, and the clusters it was made in.
#[derive(Clone, Debug)]
pub struct Cause<'a> {
    /// That of the first cluster.
    pub finding: &'a Finding,
    pub clusters: Vec<&'a str>,
    /// Where the finding of other clusters points first, if not to the same place.
    pub elsewhere: Vec<&'a Site>,
    /// Components that never become ready because of it, in all clusters.
    pub blocks: usize,
}

/// What findings of one cause have in common beside what they state.
type Key<'a> = (&'static str, Severity, &'a ObjectRef, Option<&'a ObjectRef>);

/// Findings with the clusters they were made in, what matters most first.
pub fn causes(findings: &[Finding]) -> Vec<Cause<'_>> {
    let mut causes: Vec<Cause<'_>> = Vec::new();
    let mut known: BTreeMap<Key<'_>, Vec<usize>> = BTreeMap::new();
    for finding in findings {
        let key = (finding.rule.id, finding.severity, &finding.component, finding.provider.as_ref());
        let alike = known.entry(key).or_default();
        if let Some(index) = of_other_cluster(&causes, alike, finding) {
            causes[index].add(finding);
        } else {
            alike.push(causes.len());
            causes.push(Cause::new(finding));
        }
    }
    causes.sort_by_key(|cause| Reverse(cause.weight()));
    causes
}

/// The same finding of another cluster. Twice in one cluster it is two findings; then the one of the same place is meant.
fn of_other_cluster(causes: &[Cause<'_>], alike: &[usize], finding: &Finding) -> Option<usize> {
    let is_same = |index: &&usize| {
        let cause = &causes[**index];
        cause.finding.statement == finding.statement && cause.clusters.last() != Some(&finding.cluster.as_str())
    };
    let is_there = |index: &&usize| causes[**index].finding.primary.at == finding.primary.at;
    let same = || alike.iter().filter(is_same);
    same().find(is_there).or_else(|| same().next()).copied()
}

impl<'a> Cause<'a> {
    fn new(finding: &'a Finding) -> Self {
        Self { finding, clusters: vec![&finding.cluster], elsewhere: Vec::new(), blocks: finding.blocks }
    }

    fn add(&mut self, finding: &'a Finding) {
        self.clusters.push(&finding.cluster);
        self.blocks += finding.blocks;
        let at = &finding.primary.at;
        if *at != self.finding.primary.at && !self.elsewhere.contains(&at) {
            self.elsewhere.push(at);
        }
    }

    /// What comes before what: the worst of each number first.
    fn weight(&self) -> (Severity, usize, u8, u64, usize) {
        let (sort, seconds) = match self.finding.consequence {
            Some(Consequence::Deadlock) => (5, 0),
            Some(Consequence::Terminal { .. }) => (4, 0),
            Some(Consequence::Silent) => (3, 0),
            Some(Consequence::Slow { seconds }) => (2, seconds),
            None => (1, 0),
            Some(Consequence::Safe { .. } | Consequence::Noise | Consequence::Nothing) => (0, 0),
        };
        // What nothing is known of may be as bad as anything.
        let sort = if self.finding.severity == Severity::Error { 5 } else { sort };
        (self.finding.severity, self.blocks, sort, seconds, self.finding.also.len())
    }
}
