//! The edits that close findings, as lines of the files as they are now: repairs are made one after the other, and programs want each
//! by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use diagnostic::{Changed, Finding, Fingerprint, Repair, Repairs};
use serde::Serialize;
use source::Sources;

use crate::diff;

/// Lines of a file as it is now, and what stands in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineEdit {
    /// From 0; empty where something is put in before that line.
    pub(crate) old: Range<usize>,
    pub(crate) replacement: String,
    /// The repairs that it is for.
    pub(crate) by: BTreeSet<usize>,
}

/// The edits of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileEdits<'r> {
    pub(crate) path: &'r str,
    /// Nothing where it is a new file.
    pub(crate) before: Option<&'r str>,
    /// It goes; all its lines do.
    pub(crate) is_removed: bool,
    /// In the order of the lines.
    pub(crate) edits: Vec<LineEdit>,
}

/// All edits of a report, by the finding that they close.
#[derive(Debug, Default)]
pub struct Edits<'r> {
    repairs: &'r [Repair],
    files: Vec<FileEdits<'r>>,
    /// For each repair those whose lines are beside its own, and the repair itself: they are made together.
    together: Vec<BTreeSet<usize>>,
    closed: BTreeMap<Fingerprint, BTreeSet<usize>>,
}

impl<'r> Edits<'r> {
    /// The edits of all repairs.
    pub fn new(repairs: &'r Repairs) -> Self {
        let mut paths: BTreeMap<&str, Vec<(usize, &Changed)>> = BTreeMap::new();
        let mut closed: BTreeMap<Fingerprint, BTreeSet<usize>> = BTreeMap::new();
        for (at, repair) in repairs.made.iter().enumerate() {
            for changed in &repair.files {
                paths.entry(&changed.path).or_default().push((at, changed));
            }
            for told in &repair.closes {
                closed.entry(told.fingerprint.clone()).or_default().insert(at);
                closed.entry(anywhere(&told.fingerprint)).or_default().insert(at);
            }
        }
        let files: Vec<FileEdits<'r>> = paths.into_iter().map(|(path, all)| of_file(path, &all)).collect();
        let together = together(repairs.made.len(), &files);
        Self { repairs: &repairs.made, files, together, closed }
    }

    /// The repairs that close a finding, or one that it speaks for, and those that they can't be told apart from.
    pub(crate) fn of(&self, finding: &Finding, clusters: &[&str], sources: &impl Sources) -> BTreeSet<usize> {
        let own = Fingerprint::of(finding, sources);
        let spoken_for = finding.also.iter().map(|also| Fingerprint {
            component: also.component.to_string(),
            provider: also.provider.as_ref().map(ToString::to_string),
            ..anywhere(&own)
        });
        let all = std::iter::once(own.clone()).chain(spoken_for);
        let mut found = BTreeSet::new();
        for one in all {
            for cluster in clusters {
                let key = Fingerprint { cluster: (*cluster).to_owned(), ..one.clone() };
                found.extend(self.closed.get(&key).into_iter().flatten().flat_map(|at| &self.together[*at]).copied());
            }
        }
        found
    }

    pub(crate) fn repair(&self, at: usize) -> Option<&'r Repair> {
        self.repairs.get(at)
    }

    /// Every file with its edits.
    pub(crate) fn files(&self) -> &[FileEdits<'r>] {
        &self.files
    }

    /// What these repairs change, sorted by path.
    pub(crate) fn changed_by(&self, repairs: &BTreeSet<usize>) -> Vec<FileEdits<'r>> {
        let is_meant = |edit: &&LineEdit| !edit.by.is_disjoint(repairs);
        let files = self.files.iter().map(|file| FileEdits {
            edits: file.edits.iter().filter(is_meant).cloned().collect(),
            path: file.path,
            before: file.before,
            is_removed: file.is_removed,
        });
        files.filter(|file| !file.edits.is_empty()).collect()
    }
}

fn anywhere(fingerprint: &Fingerprint) -> Fingerprint {
    Fingerprint { path: String::new(), ..fingerprint.clone() }
}

/// Repairs that share an edit, each with all of them.
fn together(repairs: usize, files: &[FileEdits<'_>]) -> Vec<BTreeSet<usize>> {
    let mut group: Vec<usize> = (0..repairs).collect();
    for edit in files.iter().flat_map(|file| &file.edits) {
        let Some(first) = edit.by.first().map(|at| group[*at]) else { continue };
        for at in &edit.by {
            let other = group[*at];
            group.iter_mut().filter(|one| **one == other).for_each(|one| *one = first);
        }
    }
    group.iter().map(|own| (0..repairs).filter(|at| group[*at] == *own).collect()).collect()
}

/// A line of a file while repairs are made.
enum Line<'r> {
    /// This line of the file as it is.
    Old(usize),
    /// A new one, before this line of the file as it is.
    New(usize, &'r str),
}

impl Line<'_> {
    /// The line of the old file that a line put in behind this one stands before.
    fn next(&self) -> usize {
        match self {
            Self::Old(at) => at + 1,
            Self::New(before, _) => *before,
        }
    }
}

/// What all repairs together make of one file.
fn of_file<'r>(path: &'r str, all: &[(usize, &'r Changed)]) -> FileEdits<'r> {
    let before = all.first().and_then(|(_, changed)| changed.before.as_deref());
    let old = diff::lines(before.unwrap_or_default());
    let mut now: Vec<Line<'r>> = (0..old.len()).map(Line::Old).collect();
    // Which repairs took a line out, and which changed what stands before a line.
    let mut out: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); old.len()];
    let mut gaps: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); old.len() + 1];
    for (repair, changed) in all {
        let (from, to) = diff::sides(changed);
        for one in diff::differences(&from, &to).into_iter().rev() {
            let gap = now[..one.old.start].last().map_or(0, Line::next);
            let new = to[one.new.clone()].iter().map(|text| Line::New(gap, text));
            if !one.new.is_empty() {
                gaps[gap].insert(*repair);
            }
            for gone in now.splice(one.old, new) {
                match gone {
                    Line::Old(at) => out[at].insert(*repair),
                    Line::New(at, _) => gaps[at].insert(*repair),
                };
            }
        }
    }
    let mut put_in: Vec<String> = vec![String::new(); old.len() + 1];
    for line in now {
        if let Line::New(at, text) = line {
            put_in[at].push_str(text);
        }
    }
    let is_removed = all.last().is_some_and(|(_, changed)| changed.after.is_none());
    FileEdits { path, before, is_removed, edits: runs(&old, &out, &gaps, &put_in) }
}

/// Lines that are taken out one after the other, and what is put in around them, are one edit.
fn runs(old: &[&str], out: &[BTreeSet<usize>], gaps: &[BTreeSet<usize>], put_in: &[String]) -> Vec<LineEdit> {
    let mut edits = Vec::new();
    let mut at = 0;
    while at < gaps.len() {
        let start = at;
        let (mut by, mut replacement) = (gaps[at].clone(), put_in[at].clone());
        while at < old.len() && !out[at].is_empty() {
            by.extend(&out[at]);
            at += 1;
            by.extend(&gaps[at]);
            replacement.push_str(&put_in[at]);
        }
        if !by.is_empty() && old[start..at].concat() != replacement {
            edits.push(LineEdit { old: start..at, replacement, by });
        }
        at += 1;
    }
    edits
}

/// A file, for programs.
#[derive(Serialize)]
pub(crate) struct FileTwin {
    path: String,
    is_new: bool,
    is_removed: bool,
    edits: Vec<EditTwin>,
}

/// Lines to replace: `lines` of them, from `line` on (from 1); none where something is put in before that line.
#[derive(Serialize)]
struct EditTwin {
    line: usize,
    lines: usize,
    replacement: String,
}

impl FileTwin {
    pub(crate) fn new(file: &FileEdits<'_>) -> Self {
        let edit = |one: &LineEdit| EditTwin {
            line: one.old.start + 1,
            lines: one.old.len(),
            replacement: one.replacement.clone(),
        };
        Self {
            path: file.path.to_owned(),
            is_new: file.before.is_none(),
            is_removed: file.is_removed,
            edits: file.edits.iter().map(edit).collect(),
        }
    }

    /// What one repair changes, beginning with what those before it left.
    pub(crate) fn step(changed: &Changed) -> Self {
        Self::new(&of_file(&changed.path, &[(0, changed)]))
    }
}

#[cfg(test)]
mod tests {
    use diagnostic::{Changed, Repair, Repairs};

    use super::Edits;

    fn repairs(texts: &[&str]) -> Repairs {
        let pairs = texts.windows(2).map(|pair| Repair {
            actions: Vec::new(),
            closes: Vec::new(),
            files: vec![Changed {
                path: "a.yaml".to_owned(),
                before: Some(pair[0].to_owned()),
                after: Some(pair[1].to_owned()),
                from: None,
            }],
        });
        Repairs { made: pairs.collect(), left: Vec::new() }
    }

    /// Every edit as its first line, how many it takes out, what it puts in, and for how many repairs.
    fn shown(repairs: &Repairs) -> Vec<(usize, usize, String, usize)> {
        let edits = Edits::new(repairs);
        let all = edits.files().iter().flat_map(|file| &file.edits);
        all.map(|edit| (edit.old.start, edit.old.len(), edit.replacement.clone(), edit.by.len())).collect()
    }

    #[test]
    fn edits_of_later_repairs_are_in_lines_of_the_file_as_it_is() {
        let made = repairs(&["1\n2\n3\n4\n", "1\nx\n2\n3\n4\n", "1\nx\n2\n3\ny\n"]);
        assert_eq!(shown(&made), [(1, 0, "x\n".to_owned(), 1), (3, 1, "y\n".to_owned(), 1)]);
        assert_eq!(Edits::new(&made).together, [[0].into(), [1].into()]);
    }

    #[test]
    fn what_stands_beside_the_lines_of_another_repair_goes_with_it() {
        let made = repairs(&["1\n2\n", "1\nlist:\n- a\n2\n", "1\nlist:\n- a\n- b\n2\n"]);
        assert_eq!(shown(&made), [(1, 0, "list:\n- a\n- b\n".to_owned(), 2)]);
        assert_eq!(Edits::new(&made).together, [[0, 1].into(), [0, 1].into()]);
    }

    #[test]
    fn all_edits_together_are_the_file_after_all_repairs() {
        let texts = ["a\nb\nc\nd\n", "a\nB\nc\nd\n", "new\na\nc\nd\n", "new\na\nc\nmore\nd", "a\nb\nc\nmore\nd"];
        for count in 2..=texts.len() {
            let made = repairs(&texts[..count]);
            let edits = Edits::new(&made);
            let old: Vec<&str> = texts[0].split_inclusive('\n').collect();
            let mut text = String::new();
            let mut at = 0;
            for edit in edits.files().iter().flat_map(|file| &file.edits) {
                text.push_str(&old[at..edit.old.start].concat());
                text.push_str(&edit.replacement);
                at = edit.old.end;
            }
            text.push_str(&old[at..].concat());
            assert_eq!(text, texts[count - 1]);
        }
    }
}
