//! Findings that say the same of many: forty applications that miss one store are one thing to understand and one thing to
//! decide, so one finding speaks for all and names the others.
//!
//! What is at warning or above stays by itself: each of those is worth its own line in a review.

use std::collections::BTreeMap;

use model::ObjectRef;

use crate::Report;
use crate::finding::{Also, Finding, Severity};
use crate::words::and_more;

/// Rules whose findings speak of two components, where many of the one kind usually lack the same of the other.
const PAIR_RULES: [&str; 3] = ["missing-dependency", "terminal-install", "bootstrap-only"];
/// Others that are named in the note.
const NAMED_MAX: usize = 10;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    /// All that miss the same provider.
    Provider(ObjectRef),
    /// All of one rule in one cluster.
    Cluster,
}

impl Report {
    /// The same report, with one finding for all that have the same to say.
    #[must_use]
    pub fn folded(mut self) -> Self {
        let mut kept: Vec<Finding> = Vec::new();
        let mut first: BTreeMap<(String, &'static str, Severity, Group), usize> = BTreeMap::new();
        for finding in self.findings {
            let Some(group) = group(&finding) else {
                kept.push(finding);
                continue;
            };
            let key = (finding.cluster.clone(), finding.rule, finding.severity, group);
            match first.get(&key) {
                Some(index) => {
                    let also = also(finding);
                    kept[*index].also.extend(also);
                }
                None => {
                    first.insert(key, kept.len());
                    kept.push(finding);
                }
            }
        }
        for index in first.into_values() {
            note_others(&mut kept[index]);
        }
        self.findings = kept;
        self
    }
}

fn group(finding: &Finding) -> Option<Group> {
    if finding.severity > Severity::Info {
        return None;
    }
    match finding.rule {
        rule if PAIR_RULES.contains(&rule) => finding.provider.clone().map(Group::Provider),
        "unreachable-object" | "redundant-dependency" => Some(Group::Cluster),
        // Where nobody knows what a declared order is for, all such orders are one question.
        "ungated-dependency" if finding.capability.is_none() => Some(Group::Cluster),
        _ => None,
    }
}

fn also(finding: Finding) -> Vec<Also> {
    let at = finding.locations.first().map_or(yaml::Span::GENERATED, |location| location.span);
    let mut also = vec![Also { component: finding.component, provider: finding.provider, at }];
    also.extend(finding.also);
    also
}

fn note_others(finding: &mut Finding) {
    if finding.also.is_empty() {
        return;
    }
    let same_provider = finding.also.iter().all(|also| also.provider == finding.provider);
    let names: Vec<String> = finding
        .also
        .iter()
        .take(NAMED_MAX)
        .map(|also| match &also.provider {
            Some(provider) if !same_provider => format!("{} on {}", also.component.path(), provider.path()),
            _ => also.component.path(),
        })
        .collect();
    let all = finding.also.len();
    finding.notes.push(format!(
        "so it is with {all} more: {}{} (--each shows every one)",
        names.join(", "),
        and_more(NAMED_MAX, all)
    ));
}
