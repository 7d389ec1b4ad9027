//! Findings that say the same of many: forty applications that miss one store are one thing to understand and one thing to
//! decide, so one finding speaks for all and names the others.
//!
//! What is at warning or above stays by itself: each of those is worth its own line in a review. Unless it *is* one line (what
//! a parent's patch gives to ninety children is edited once), or there are so many that the one provider is what to look at.

use std::collections::BTreeMap;

use model::ObjectRef;

use crate::rule::{Quiet, Together};
use crate::{Alike, Also, Finding, Report, Severity, Site, Subject, Who};

/// Fewer at warning or above that share a provider are told one by one.
const LOUD_MIN: usize = 3;

/// Fewer that share a provider, and that cost nothing in practice, go with all others of the cluster that do not.
const MANY_MIN: usize = 6;

/// What findings have in common that one may speak for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    /// The same provider.
    Provider(ObjectRef),
    /// The same component, with a provider each: a dashboard that asks everybody.
    Component(ObjectRef),
    /// The same thing that is not there.
    Subject(Subject),
    /// The same thing that is not there, written in the same place.
    Place(Subject, Site),
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
            let key = (finding.cluster.clone(), finding.rule.id, finding.severity, group);
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

/// The group of every finding. What would be the only one of its provider goes with others of its component; where it costs
/// nothing in practice, what is one of a few goes with all such of the cluster.
fn groups(findings: &[Finding]) -> Vec<Group> {
    let mut sizes: BTreeMap<(&str, &str, Severity, Group), usize> = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::with_capacity(findings.len());
    for (index, finding) in findings.iter().enumerate() {
        let group = group(finding, index);
        *sizes.entry((&finding.cluster, finding.rule.id, finding.severity, group.clone())).or_default() += 1;
        groups.push(group);
    }
    for (index, (finding, group)) in findings.iter().zip(&mut groups).enumerate() {
        if !matches!(group, Group::Provider(_)) {
            continue;
        }
        let is_loud = finding.severity > Severity::Info;
        let size = sizes[&(finding.cluster.as_str(), finding.rule.id, finding.severity, group.clone())];
        *group = match finding.consequence {
            _ if is_loud && size < LOUD_MIN => Group::Alone(index),
            Some(free) if free.is_free() && size < MANY_MIN => Group::Cluster(cost(finding)),
            _ if size > 1 => continue,
            _ => Group::Component(finding.component.clone()),
        };
    }
    groups
}

fn seconds(finding: &Finding) -> u64 {
    match finding.consequence {
        Some(model::Consequence::Slow { seconds }) => seconds,
        _ => 0,
    }
}

/// What tells costs apart that are not to be told as one.
fn cost(finding: &Finding) -> &'static str {
    finding.consequence.map_or("", model::Consequence::word)
}

fn group(finding: &Finding, index: usize) -> Group {
    let is_loud = finding.severity > Severity::Info;
    let folding = finding.rule.folding;
    match (folding.together, &finding.provider, &finding.subject) {
        (Together::Subject, _, Some(subject)) if !is_loud => Group::Subject(subject.clone()),
        (Together::Subject, _, Some(subject)) => match &finding.primary.at {
            Site::Nowhere => Group::Alone(index),
            site => Group::Place(subject.clone(), site.clone()),
        },
        (Together::Provider, Some(provider), _) => Group::Provider(provider.clone()),
        _ if is_loud => Group::Alone(index),
        _ if is_question_of_all(finding, folding.quiet) => Group::Cluster(cost(finding)),
        _ => Group::Alone(index),
    }
}

/// Where nothing shows what a declared order is for, or it costs nothing, all such orders are one question.
fn is_question_of_all(finding: &Finding, quiet: Quiet) -> bool {
    let is_free = finding.consequence.is_some_and(model::Consequence::is_free);
    match quiet {
        Quiet::Alone => false,
        Quiet::Cluster => true,
        Quiet::ClusterUnlessExplained => finding.subject.is_none(),
        Quiet::ClusterUnlessCostly => finding.subject.is_none() || is_free,
    }
}

/// The finding, with what it speaks for.
fn speak_for(mut finding: Finding, others: Vec<Finding>) -> Finding {
    finding.alike.extend(alike(&finding, &others));
    finding.also.extend(others.into_iter().flat_map(also));
    finding
}

/// Of each whatever tells it from the finding that speaks for it.
fn alike(finding: &Finding, others: &[Finding]) -> Vec<Alike> {
    let same_provider = others.iter().all(|other| other.provider == finding.provider);
    let same_component = others.iter().all(|other| other.component == finding.component);
    let who = |other: &Finding| match &other.provider {
        Some(provider) if same_component => Who::Provider(provider.clone()),
        Some(provider) if !same_provider => {
            Who::Both { component: other.component.clone(), provider: provider.clone() }
        }
        _ => Who::Component(other.component.clone()),
    };
    let lost = |finding: &Finding| finding.consequence.and_then(model::Consequence::cost_seconds);
    let own = |other: &Finding| lost(other).filter(|_| lost(other) != lost(finding));
    others.iter().map(|other| Alike { who: who(other), seconds: own(other) }).collect()
}

fn also(finding: Finding) -> Vec<Also> {
    let Finding { component, provider, severity, cost, consequence, .. } = finding;
    let mut also = vec![Also { component, provider, at: finding.primary.at, severity, cost, consequence }];
    also.extend(finding.also);
    also
}
