//! Clusters that share a base share its faults: one finding each time would say the same thing over and over.

use std::collections::BTreeMap;

use check::{Also, Finding, LocationRole, Severity};
use model::ObjectRef;
use yaml::Span;

/// A finding and the clusters it was made in.
#[derive(Debug)]
pub(crate) struct Merged<'a> {
    pub finding: &'a Finding,
    pub clusters: Vec<&'a str>,
}

pub(crate) type Place<'a> = (Span, LocationRole, &'a str);
pub(crate) type Key<'a> =
    (&'a str, &'a str, Severity, &'a ObjectRef, Option<&'a ObjectRef>, Vec<Place<'a>>, &'a [Also]);

/// Findings of one rule about one place, each told once, in the order of their first.
pub(crate) fn merge<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<Merged<'a>> {
    let mut merged: Vec<Merged<'a>> = Vec::new();
    let mut known: BTreeMap<Key<'a>, usize> = BTreeMap::new();
    for finding in findings {
        let index = *known.entry(key(finding)).or_insert(merged.len());
        match merged.get_mut(index) {
            Some(first) if first.clusters.contains(&finding.cluster.as_str()) => {
                // Twice in one cluster: two findings, not one of several clusters.
                merged.push(Merged { finding, clusters: vec![&finding.cluster] });
            }
            Some(first) => first.clusters.push(&finding.cluster),
            None => merged.push(Merged { finding, clusters: vec![&finding.cluster] }),
        }
    }
    merged
}

/// What makes two findings of two clusters one.
pub(crate) fn key(finding: &Finding) -> Key<'_> {
    let places = finding.locations.iter().map(|place| (place.span, place.role, place.label.as_str())).collect();
    (
        finding.rule,
        &finding.message,
        finding.severity,
        &finding.component,
        finding.provider.as_ref(),
        places,
        &finding.also,
    )
}
