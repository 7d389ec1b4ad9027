//! Clusters that share a base share its faults: one finding each time would say the same thing over and over.

use std::collections::BTreeMap;

use check::{Finding, LocationRole, Severity};
use model::ObjectRef;
use yaml::Span;

/// A finding and the clusters it was made in.
#[derive(Debug)]
pub(crate) struct Merged<'a> {
    pub finding: &'a Finding,
    pub clusters: Vec<&'a str>,
    /// Others that want the same of the same provider.
    pub also: Vec<&'a Finding>,
}

type Key<'a> = (&'a str, &'a str, Severity, &'a ObjectRef, Option<&'a ObjectRef>, Vec<(Span, LocationRole, &'a str)>);

/// Findings of one rule about one place, each told once, in the order of their first.
pub(crate) fn merge<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<Merged<'a>> {
    let mut merged: Vec<Merged<'a>> = Vec::new();
    let mut known: BTreeMap<Key<'a>, usize> = BTreeMap::new();
    for finding in findings {
        let index = *known.entry(key(finding)).or_insert(merged.len());
        match merged.get_mut(index) {
            Some(first) if first.clusters.contains(&finding.cluster.as_str()) => {
                // Twice in one cluster: two findings, not one of several clusters.
                merged.push(Merged { finding, clusters: vec![&finding.cluster], also: Vec::new() });
            }
            Some(first) => first.clusters.push(&finding.cluster),
            None => merged.push(Merged { finding, clusters: vec![&finding.cluster], also: Vec::new() }),
        }
    }
    merged
}

fn key(finding: &Finding) -> Key<'_> {
    let places = finding.locations.iter().map(|place| (place.span, place.role, place.label.as_str())).collect();
    (finding.rule, &finding.message, finding.severity, &finding.component, finding.provider.as_ref(), places)
}

/// Rules that speak of two components, where many of the one kind usually lack the same.
const PAIR_RULES: [&str; 3] = ["missing-dependency", "terminal-install", "bootstrap-only"];
/// Fewer than this are told one by one.
const FOLDED_MIN: usize = 3;

/// Forty applications that miss the same provider are one thing to understand: the first is told, and it names the others.
pub(crate) fn fold<'a, 'b>(merged: &'b [Merged<'a>]) -> Vec<Merged<'a>> {
    let mut groups: BTreeMap<(&str, Severity, &ObjectRef), Vec<&'b Merged<'a>>> = BTreeMap::new();
    for one in merged {
        if let Some(key) = group(one.finding) {
            groups.entry(key).or_default().push(one);
        }
    }
    let mut folded = Vec::new();
    for one in merged {
        let peers = group(one.finding).and_then(|key| groups.get(&key)).filter(|peers| peers.len() >= FOLDED_MIN);
        let is_first = peers.is_none_or(|peers| std::ptr::eq(peers[0], one));
        if is_first {
            let also = peers.map(|peers| peers[1..].iter().map(|peer| peer.finding).collect()).unwrap_or_default();
            folded.push(Merged { finding: one.finding, clusters: one.clusters.clone(), also });
        }
    }
    folded
}

fn group(finding: &Finding) -> Option<(&str, Severity, &ObjectRef)> {
    let provider = finding.provider.as_ref().filter(|_| PAIR_RULES.contains(&finding.rule))?;
    Some((finding.rule, finding.severity, provider))
}
