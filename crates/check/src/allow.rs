//! `# coldstart: allow <rule>[, <rule>] -- why`: findings that somebody accepted where they are.
//!
//! Knows comments and lines. Does not know what any rule is about.

mod comment;

use std::collections::{BTreeMap, BTreeSet};

use diagnostic::{Finding, Report, Site};
use read::{Reading, Repository};
use source::FileId;

use crate::rules::{self, unused_suppression};
use comment::Comment;

/// A comment and which of its rules silenced something.
pub(crate) struct Allowance {
    pub(crate) comment: Comment,
    pub(crate) used: Vec<bool>,
}

/// Takes out of the report what comments allow, and puts in what is wrong with those comments.
pub(crate) fn apply(report: &mut Report, reading: &Reading) {
    let mut by_file = allowances(reading, &report.findings);
    if by_file.is_empty() {
        return;
    }
    let before = report.findings.len();
    report.findings.retain(|finding| !is_allowed(finding, &mut by_file));
    report.left_out.allowed += before - report.findings.len();
    let wrong = by_file.values().flatten().flat_map(|allowance| {
        // Of clusters that nobody looked at no finding was made that a comment could silence.
        unused_suppression::judge(allowance, reading, !report.is_partial)
    });
    let wrong: Vec<Finding> = wrong.collect();
    report.findings.extend(wrong);
    report.sort();
}

type ByFile = BTreeMap<FileId, Vec<Allowance>>;

fn is_allowed(finding: &Finding, by_file: &mut ByFile) -> bool {
    let Site::File(primary) = finding.primary.at else { return false };
    let mut allowed = false;
    for allowance in by_file.get_mut(&primary.file).into_iter().flatten() {
        if !allowance.comment.has_reason || !allowance.comment.scope.contains(&primary.start) {
            continue;
        }
        for ((rule, _), used) in allowance.comment.rules.iter().zip(&mut allowance.used) {
            if rule == finding.rule.id {
                *used = true;
                allowed = true;
            }
        }
    }
    allowed
}

/// All comments of the kind: in the manifests, and in whatever else has a finding.
fn allowances(reading: &Reading, findings: &[Finding]) -> ByFile {
    let repository: &Repository = &reading.repository;
    let mut files: BTreeSet<FileId> = repository.yaml_files().map(|(file, _, _)| file).collect();
    files.extend(findings.iter().filter_map(|finding| finding.primary.at.file()));
    let search = memchr::memmem::Finder::new(comment::NEEDLE);
    let files: Vec<FileId> = files.into_iter().collect();
    let found = repository::parallel::map(&files, |file| {
        let text = repository.source(*file)?.text();
        search.find(text.as_bytes())?;
        Some(comment::all(repository, *file, text)).filter(|found| !found.is_empty())
    });
    let allowance = |comment: Comment| Allowance { used: vec![false; comment.rules.len()], comment };
    let found = files.into_iter().zip(found).filter_map(|(file, found)| Some((file, found?)));
    found.map(|(file, found)| (file, found.into_iter().map(allowance).collect())).collect()
}

/// Whether a rule of this name exists.
pub(crate) fn is_rule(name: &str) -> bool {
    rules::find(name).is_some()
}
