//! `# coldstart: allow <rule>[, <rule>] -- why`: findings that somebody accepted where they are.
//!
//! Knows comments and lines. Does not know what any rule is about.

mod comment;

use std::collections::{BTreeMap, BTreeSet};

use diagnostic::{Finding, Report, Site};
use model::{BlindSpot, Unseen, WhyUnseen};
use read::{Reading, Repository};
use source::FileId;

use crate::rules::{self, unused_suppression};
use comment::Comment;

/// Comments of one repository that are heeded.
const COMMENTS_MAX: usize = 5_000;

/// A comment and which of its rules silenced something.
pub(crate) struct Allowance {
    pub(crate) comment: Comment,
    pub(crate) used: Vec<bool>,
}

/// Takes out of the report what comments allow, and puts in what is wrong with those comments.
pub(crate) fn apply(report: &mut Report, reading: &Reading) {
    let (mut by_file, unread) = allowances(reading, &report.findings);
    report.blind_spots.extend(unread);
    if by_file.is_empty() {
        return;
    }
    let before = report.findings.len();
    report.findings.retain(|finding| !is_allowed(finding, &mut by_file));
    report.left_out.allowed += before - report.findings.len();
    let wrong = by_file.values().flat_map(|file| &file.all).flat_map(|allowance| {
        // Of clusters that nobody looked at no finding was made that a comment could silence.
        unused_suppression::judge(allowance, reading, !report.is_partial)
    });
    let wrong: Vec<Finding> = wrong.collect();
    report.findings.extend(wrong);
    report.sort();
}

type ByFile = BTreeMap<FileId, OfFile>;

/// The comments of a file, in their order.
struct OfFile {
    all: Vec<Allowance>,
    /// What comments that say why cover: lines, and whole documents. Neither overlap among themselves.
    covered: [BTreeMap<u32, Covered>; 2],
}

/// Bytes of a file that comments cover.
struct Covered {
    end: u32,
    /// By the name of a rule: the comment, and the place of the name in it.
    rules: BTreeMap<String, Vec<(usize, usize)>>,
}

impl OfFile {
    fn new(comments: Vec<Comment>) -> Self {
        let mut covered = [BTreeMap::new(), BTreeMap::new()];
        for (at, comment) in comments.iter().enumerate().filter(|(_, comment)| comment.has_reason) {
            let fresh = || Covered { end: comment.scope.end, rules: BTreeMap::new() };
            let layer: &mut BTreeMap<u32, Covered> = &mut covered[usize::from(comment.is_of_document)];
            let here = layer.entry(comment.scope.start).or_insert_with(fresh);
            for (place, (rule, _)) in comment.rules.iter().enumerate() {
                here.rules.entry(rule.clone()).or_default().push((at, place));
            }
        }
        let allowance = |comment: Comment| Allowance { used: vec![false; comment.rules.len()], comment };
        Self { all: comments.into_iter().map(allowance).collect(), covered }
    }

    /// Whether a comment covers a place for a rule; all that do are used then.
    fn allows(&mut self, rule: &str, at: u32) -> bool {
        let mut allowed = false;
        for layer in &mut self.covered {
            let Some((_, here)) = layer.range_mut(..=at).next_back() else { continue };
            let Some(names) = here.rules.get_mut(rule).filter(|_| at < here.end) else { continue };
            allowed = true;
            for (comment, place) in std::mem::take(names) {
                self.all[comment].used[place] = true;
            }
        }
        allowed
    }
}

fn is_allowed(finding: &Finding, by_file: &mut ByFile) -> bool {
    let Site::File(primary) = finding.primary.at else { return false };
    by_file.get_mut(&primary.file).is_some_and(|file| file.allows(finding.rule.id, primary.start))
}

/// All comments of the kind: in the manifests, and in whatever else has a finding.
fn allowances(reading: &Reading, findings: &[Finding]) -> (ByFile, Option<BlindSpot>) {
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
    let found = files.into_iter().zip(found).filter_map(|(file, found)| Some((file, found?)));
    let mut unread = None;
    let mut left = COMMENTS_MAX;
    let mut by_file = ByFile::new();
    for (file, mut found) in found {
        if let (Some(first), None) = (found.get(left), &unread) {
            let what = Unseen::File(repository.path(file).unwrap_or_default().to_owned());
            let why = WhyUnseen::TooManyComments { max: COMMENTS_MAX };
            unread = Some(BlindSpot { what, why, at: first.span, component: None });
        }
        found.truncate(left);
        left -= found.len();
        by_file.insert(file, OfFile::new(found));
    }
    (by_file, unread)
}

/// Whether a rule of this name exists.
pub(crate) fn is_rule(name: &str) -> bool {
    rules::find(name).is_some()
}
