//! Clusters that share a base share its faults: one finding each time would say the same thing over and over.

use std::collections::BTreeMap;

use diagnostic::{Cause, Finding, Severity, Site};
use model::ObjectRef;
use source::Sources;

use crate::say::{self, Said};

/// A finding in words, and the clusters it was made in.
#[derive(Debug)]
pub(crate) struct Merged<'a> {
    pub finding: &'a Finding,
    pub said: Said,
    pub clusters: Vec<&'a str>,
    /// Where else the same is to be edited, in other clusters.
    pub elsewhere: Vec<&'a Site>,
}

/// Causes in words, in their order.
pub(crate) fn said<'a>(causes: &[Cause<'a>], sources: &dyn Sources) -> Vec<Merged<'a>> {
    let one = |cause: &Cause<'a>| Merged {
        finding: cause.finding,
        said: say::finding(cause.finding, sources),
        clusters: cause.clusters.clone(),
        elsewhere: cause.elsewhere.clone(),
    };
    causes.iter().map(one).collect()
}

pub(crate) type Key<'a> = (
    (&'static str, String, Severity),
    (&'a ObjectRef, Option<&'a ObjectRef>),
    Vec<(&'a Site, &'static str)>,
    Vec<String>,
    Vec<(&'a ObjectRef, Option<&'a ObjectRef>, &'a Site)>,
);

/// Findings of one rule about one place, each told once, in the order of their first: for what stands beside lines, where another
/// place is another finding.
pub(crate) fn merge<'a>(findings: &'a [Finding], sources: &dyn Sources) -> Vec<Merged<'a>> {
    let mut merged: Vec<Merged<'a>> = Vec::new();
    let mut known: BTreeMap<Key<'a>, usize> = BTreeMap::new();
    for finding in findings {
        let said = say::finding(finding, sources);
        let index = *known.entry(key(finding, &said)).or_insert(merged.len());
        match merged.get_mut(index) {
            // Twice in one cluster: two findings, not one of several clusters.
            Some(first) if !first.clusters.contains(&finding.cluster.as_str()) => {
                first.clusters.push(&finding.cluster);
            }
            _ => merged.push(Merged { finding, said, clusters: vec![&finding.cluster], elsewhere: Vec::new() }),
        }
    }
    merged
}

/// What makes two findings of two clusters one.
pub(crate) fn key<'a>(finding: &'a Finding, said: &Said) -> Key<'a> {
    (
        (finding.rule.id, said.message.clone(), finding.severity),
        (&finding.component, finding.provider.as_ref()),
        finding.places().map(|(role, at)| (at, role)).collect(),
        said.labels.clone(),
        finding.also.iter().map(|also| (&also.component, also.provider.as_ref(), &also.at)).collect(),
    )
}
