//! What is printed: each difference in its place, then how many there are of each field, and what was passed over.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::differ::Difference;
use super::fields::WORDING;
use crate::table::Table;

/// Longer values are cut: the place says where to look.
const VALUE_CHARS_MAX: usize = 300;

pub(super) struct Report {
    /// Wording counts, too.
    with_wording: bool,
    text: String,
    /// Differences and trees with any, by field.
    fields: BTreeMap<String, (usize, usize)>,
    /// Differences in wording that were passed over, by field.
    passed_over: BTreeMap<String, usize>,
    trees: usize,
    all_trees: usize,
}

impl Report {
    pub(super) fn new(with_wording: bool) -> Self {
        Self {
            with_wording,
            text: String::new(),
            fields: BTreeMap::new(),
            passed_over: BTreeMap::new(),
            trees: 0,
            all_trees: 0,
        }
    }

    pub(super) fn add(&mut self, tree: &str, differences: Vec<Difference>) {
        self.all_trees += 1;
        let (passed_over, told): (Vec<_>, Vec<_>) =
            differences.into_iter().partition(|difference| difference.is_wording && !self.with_wording);
        for Difference { field, .. } in passed_over {
            *self.passed_over.entry(field).or_default() += 1;
        }
        if told.is_empty() {
            return;
        }
        self.trees += 1;
        let _ = writeln!(self.text, "{tree}");
        let mut here: BTreeMap<String, usize> = BTreeMap::new();
        for Difference { field, place, old, new, .. } in told {
            let _ = writeln!(self.text, "  {place}\n    old: {}\n    new: {}", value(old), value(new));
            *here.entry(field).or_default() += 1;
        }
        for (field, count) in here {
            let (differences, trees) = self.fields.entry(field).or_default();
            *differences += count;
            *trees += 1;
        }
    }

    pub(super) fn count(&self) -> usize {
        self.fields.values().map(|(differences, _)| differences).sum()
    }

    pub(super) fn trees(&self) -> usize {
        self.trees
    }

    pub(super) fn is_equal(&self) -> bool {
        self.fields.is_empty()
    }

    pub(super) fn render(&self) -> String {
        let mut text = self.text.clone();
        if !self.is_equal() {
            let mut table = Table::new(["field", "differences", "trees"]);
            for (field, (differences, trees)) in &self.fields {
                table.row([field.clone(), differences.to_string(), trees.to_string()]);
            }
            let _ = write!(text, "\n{}\n", table.render());
        }
        if self.is_equal() {
            let _ = writeln!(text, "equal on all trees: {}", self.all_trees);
        }
        if self.with_wording {
            let _ = writeln!(text, "no field was ignored");
            return text;
        }
        let passed_over = |field: &str| self.passed_over.get(field).copied().unwrap_or(0);
        let ignored: Vec<String> = WORDING.iter().map(|field| format!("{field} ({})", passed_over(field))).collect();
        let _ = writeln!(
            text,
            "ignored, because they are wording (how often they differ; --wording shows them): {}",
            ignored.join(", ")
        );
        text
    }
}

fn value(value: Option<String>) -> String {
    let Some(value) = value else { return "(nothing)".to_owned() };
    let cut: String = value.chars().take(VALUE_CHARS_MAX).collect();
    if cut.len() < value.len() { format!("{cut} …") } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(is_wording: bool) -> Difference {
        let field = if is_wording { "check.findings[].message" } else { "check.findings[].severity" };
        let (old, new) = (Some("a".to_owned()), Some("b".to_owned()));
        Difference { field: field.to_owned(), place: "here".to_owned(), old, new, is_wording }
    }

    #[test]
    fn every_difference_is_told_and_counted_by_field() {
        let mut report = Report::new(false);
        report.add("one", vec![difference(false), difference(true)]);
        report.add("two", vec![difference(false), difference(false)]);
        report.add("three", Vec::new());
        assert_eq!((report.is_equal(), report.count(), report.trees()), (false, 3, 2));
        let text = report.render();
        assert!(text.starts_with("one\n  here\n    old: a\n    new: b\ntwo\n"), "{text}");
        assert!(text.contains("check.findings[].severity            3      2"), "{text}");
        assert!(text.contains("check.findings[].message (1)"), "{text}");
    }

    #[test]
    fn wording_counts_only_where_it_is_asked_for() {
        let mut report = Report::new(false);
        report.add("one", vec![difference(true)]);
        assert!(report.is_equal());
        assert!(report.render().starts_with("equal on all trees: 1\nignored"), "{}", report.render());
        let mut report = Report::new(true);
        report.add("one", vec![difference(true)]);
        assert!(!report.is_equal());
        assert!(report.render().ends_with("no field was ignored\n"));
    }
}
