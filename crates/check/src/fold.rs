//! Findings that say the same of many: forty applications that miss one store are one thing to understand and one thing to
//! decide, so one finding speaks for all and names the others.
//!
//! What is at warning or above stays by itself: each of those is worth its own line in a review. Unless it *is* one line (what
//! a parent's patch gives to ninety children is edited once), or there are so many that the one provider is what to look at.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use model::ObjectRef;

use crate::Report;
use crate::finding::{Also, Finding, Severity};
use crate::words::listed;

/// Rules whose findings speak of two components, where many of the one kind usually lack the same of the other.
const PAIR_RULES: [&str; 4] = ["missing-dependency", "bootstrap-only", "parent-wait-deadlock", "terminal-install"];
/// Rules whose findings speak of something that is not there, or not in time.
const ABSENCE_RULES: [&str; 4] = ["missing-substitution", "missing-source", "missing-secret", "undefined-variable"];
/// Fewer at warning or above that share a provider are told one by one.
const LOUD_MIN: usize = 3;
/// Others that are named in the note.
const NAMED_MAX: usize = 10;

/// What findings have in common that one may speak for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    /// The same provider.
    Provider(ObjectRef),
    /// The same component, with a provider each: a dashboard that asks everybody.
    Component(ObjectRef),
    /// The same thing that is not there.
    Capability(String),
    /// The same thing that is not there, written in the same place.
    Place(String, yaml::Span),
    /// All of one rule in one cluster that cost the same.
    Cluster(&'static str),
    /// Nothing: the finding with this index stays by itself.
    Alone(usize),
}

type Key = (String, &'static str, Severity, Group);

impl Report {
    /// The same report, with one finding for all that have the same to say.
    #[must_use]
    pub fn folded(mut self) -> Self {
        let groups = groups(&self.findings);
        let mut kept: Vec<(Finding, Vec<Finding>)> = Vec::new();
        let mut first: BTreeMap<Key, usize> = BTreeMap::new();
        for (finding, group) in self.findings.into_iter().zip(groups) {
            let key = (finding.cluster.clone(), finding.rule, finding.severity, group);
            if let Some(index) = first.get(&key) {
                let (speaker, others) = &mut kept[*index];
                // The one that loses most speaks.
                if seconds(&finding) > seconds(speaker) {
                    others.insert(0, std::mem::replace(speaker, finding));
                } else {
                    others.push(finding);
                }
            } else {
                first.insert(key, kept.len());
                kept.push((finding, Vec::new()));
            }
        }
        self.findings = kept.into_iter().map(|(finding, others)| speak_for(finding, others)).collect();
        self
    }
}

impl Report {
    /// The same report, with a finding of its own for everybody who has a line to edit. Where the line is that of the
    /// provider, as with a gate, one finding stays one.
    #[must_use]
    pub fn each(mut self) -> Self {
        self.findings = self.findings.into_iter().flat_map(split).collect();
        self
    }
}

/// What settings and comments made of the one finding holds for each.
fn split(mut finding: Finding) -> Vec<Finding> {
    let mut each = std::mem::take(&mut finding.each);
    if each.is_empty() {
        return vec![finding];
    }
    for one in &mut each {
        one.severity = finding.severity;
        one.notes.extend(finding.notes.iter().cloned());
    }
    each
}

/// The group of every finding. What would be the only one of its provider goes with others of its component, or, where it
/// costs nothing in practice, with all such of the cluster.
fn groups(findings: &[Finding]) -> Vec<Group> {
    let mut sizes: BTreeMap<(&str, &str, Severity, Group), usize> = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::with_capacity(findings.len());
    for (index, finding) in findings.iter().enumerate() {
        let group = group(finding, index);
        *sizes.entry((&finding.cluster, finding.rule, finding.severity, group.clone())).or_default() += 1;
        groups.push(group);
    }
    for (index, (finding, group)) in findings.iter().zip(&mut groups).enumerate() {
        if !matches!(group, Group::Provider(_)) {
            continue;
        }
        let is_loud = finding.severity > Severity::Info;
        let size = sizes[&(finding.cluster.as_str(), finding.rule, finding.severity, group.clone())];
        *group = match cost(finding) {
            _ if is_loud && size < LOUD_MIN => Group::Alone(index),
            _ if size > 1 => continue,
            free @ ("safe" | "noise") => Group::Cluster(free),
            _ => Group::Component(finding.component.clone()),
        };
    }
    groups
}

fn seconds(finding: &Finding) -> u64 {
    match finding.consequence {
        Some(graph::Consequence::Slow { seconds }) => seconds,
        _ => 0,
    }
}

fn cost(finding: &Finding) -> &'static str {
    finding.consequence.map_or("", graph::Consequence::word)
}

fn group(finding: &Finding, index: usize) -> Group {
    let cost = cost(finding);
    let place = finding.locations.first().map(|location| location.span).filter(|place| !place.is_generated());
    match (finding.rule, &finding.provider, &finding.capability) {
        (rule, _, Some(what)) if ABSENCE_RULES.contains(&rule) => match place {
            Some(place) if finding.severity > Severity::Info => Group::Place(what.clone(), place),
            _ if finding.severity > Severity::Info => Group::Alone(index),
            _ => Group::Capability(what.clone()),
        },
        (rule, Some(provider), _) if PAIR_RULES.contains(&rule) => Group::Provider(provider.clone()),
        _ if finding.severity > Severity::Info => Group::Alone(index),
        // Where nobody knows what a declared order is for, or it costs nothing, all such orders are one question.
        ("unreachable-object" | "redundant-dependency" | "undefined-variable", ..)
        | ("ungated-dependency" | "falsely-ready-gate", _, None) => Group::Cluster(cost),
        ("ungated-dependency", ..) if matches!(cost, "safe" | "noise") => Group::Cluster(cost),
        _ => Group::Alone(index),
    }
}

/// The finding, with the names of whoever the others were about.
fn speak_for(mut finding: Finding, others: Vec<Finding>) -> Finding {
    if others.is_empty() {
        return finding;
    }
    let all = others.len();
    let names = names(&finding, &others);
    let _ = write!(finding.message, " ({all} more like it)");
    finding.notes.push(format!("so it is with {all} more: {} (--each shows every one)", listed(&names, NAMED_MAX)));
    finding.also.extend(others.into_iter().flat_map(also));
    finding
}

/// Each name once, with whatever tells it from the finding that speaks for it.
fn names(finding: &Finding, others: &[Finding]) -> Vec<String> {
    let same_provider = others.iter().all(|other| other.provider == finding.provider);
    let same_component = others.iter().all(|other| other.component == finding.component);
    let mut told = BTreeSet::new();
    let name = |other: &Finding| match &other.provider {
        Some(provider) if same_component => provider.path(),
        Some(provider) if !same_provider => format!("{} on {}", other.component.path(), provider.path()),
        _ => other.component.path(),
    };
    others.iter().map(name).filter(|name| told.insert(name.clone())).collect()
}

fn also(finding: Finding) -> Vec<Also> {
    let at = finding.locations.first().map_or(yaml::Span::GENERATED, |location| location.span);
    let mut also = vec![Also { component: finding.component, provider: finding.provider, at }];
    also.extend(finding.also);
    also
}
