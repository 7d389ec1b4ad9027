//! Findings that were accepted: a file of fingerprints, and what is left of a report without them.
//!
//! Knows the text of such a file. Does not know where it is kept.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use source::Sources;

use crate::fingerprint::{Fingerprint, Known};
use crate::{BaselineUse, Report, Severity, SinceUse};

/// Raised when an entry changes its meaning.
const VERSION: u32 = 1;

/// Why a baseline can't be used.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    #[error("is not a baseline: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error("is a baseline of version {0}, but this coldstart knows only version {VERSION}")]
    Version(u32),
}

/// What a baseline file holds, sorted.
#[derive(Clone, Debug)]
pub struct Baseline {
    entries: BTreeMap<Fingerprint, usize>,
}

#[derive(Deserialize, Serialize)]
struct File {
    version: u32,
    findings: Vec<Entry>,
}

#[derive(Deserialize, Serialize)]
struct Entry {
    #[serde(flatten)]
    fingerprint: Fingerprint,
    /// How many findings share the fingerprint.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    count: usize,
}

fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_one(count: &usize) -> bool {
    *count == 1
}

impl Baseline {
    /// All findings that matter this much or more.
    pub fn of(report: &Report, sources: &impl Sources, min_severity: Severity) -> Self {
        let mut entries = BTreeMap::new();
        for finding in report.findings.iter().filter(|finding| finding.severity >= min_severity) {
            *entries.entry(Fingerprint::of(finding, sources)).or_default() += 1;
        }
        Self { entries }
    }

    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        /// What every version has, and hardly anything else that has a version.
        #[derive(Deserialize)]
        struct Head {
            version: u32,
            #[serde(rename = "findings")]
            _findings: Vec<IgnoredAny>,
        }
        let head: Head = serde_json::from_str(text)?;
        if head.version != VERSION {
            return Err(BaselineError::Version(head.version));
        }
        let file: File = serde_json::from_str(text)?;
        let mut entries = BTreeMap::new();
        for entry in file.findings.into_iter().filter(|entry| entry.count > 0) {
            *entries.entry(entry.fingerprint).or_default() += entry.count;
        }
        Ok(Self { entries })
    }

    /// The text of the file: sorted, a field a line, so that a change of it can be reviewed.
    pub fn to_text(&self) -> Result<String, BaselineError> {
        let entries = self.entries.iter().map(|(fingerprint, count)| (fingerprint.clone(), *count));
        let findings = entries.map(|(fingerprint, count)| Entry { fingerprint, count }).collect();
        Ok(serde_json::to_string_pretty(&File { version: VERSION, findings })? + "\n")
    }

    /// How many findings it stands for.
    pub fn len(&self) -> usize {
        self.entries.values().sum()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes out of the report what the baseline holds, and counts what would have been shown. Only clusters of the report
    /// can have stale entries.
    pub fn apply(&self, report: &mut Report, sources: &impl Sources, min_severity: Severity) {
        let mut known = Known::default();
        for (fingerprint, count) in &self.entries {
            known.add(fingerprint.clone(), *count);
        }
        let left_out = leave_out(report, sources, &mut known, min_severity);
        let rest = known.rest().map(|(entry, _)| entry);
        let stale = rest.filter(|entry| was_looked_at(report, entry)).collect();
        report.left_out.baseline = Some(BaselineUse { known: left_out, stale });
    }
}

/// Takes out of the report what another one, of the same repository at an earlier time, has as well.
pub fn only_new(
    report: &mut Report,
    sources: &impl Sources,
    before: (&Report, &impl Sources),
    revision: &str,
    min_severity: Severity,
) {
    let (before, then) = before;
    let mut known = Known::default();
    for finding in &before.findings {
        known.add(Fingerprint::of(finding, then), 1);
    }
    let left_out = leave_out(report, sources, &mut known, min_severity);
    let shown: BTreeSet<Fingerprint> = before
        .findings
        .iter()
        .filter(|finding| finding.severity >= min_severity)
        .map(|finding| Fingerprint::of(finding, then))
        .collect();
    let is_gone = |entry: &Fingerprint| shown.contains(entry) && was_looked_at(report, entry);
    let gone = known.rest().filter(|(entry, _)| is_gone(entry)).map(|(_, count)| count).sum();
    report.left_out.since = Some(SinceUse { revision: revision.to_owned(), known: left_out, gone });
}

/// Whether the report is about the cluster that a finding is of. A cluster that went with its files was looked at, too.
fn was_looked_at(report: &Report, entry: &Fingerprint) -> bool {
    !report.is_partial || report.clusters.iter().any(|cluster| cluster.name == entry.cluster)
}

/// How many of those that are left out would have been shown.
fn leave_out(report: &mut Report, sources: &impl Sources, known: &mut Known, min_severity: Severity) -> usize {
    let fingerprints: Vec<Fingerprint> =
        report.findings.iter().map(|finding| Fingerprint::of(finding, sources)).collect();
    let mut is_known = known.take(&fingerprints).into_iter();
    let mut left_out = 0;
    report.findings.retain(|finding| {
        let is_known = is_known.next().unwrap_or(false);
        left_out += usize::from(is_known && finding.severity >= min_severity);
        !is_known
    });
    left_out
}
