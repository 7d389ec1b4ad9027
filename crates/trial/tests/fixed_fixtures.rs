//! Every fixture of `check` is fixed as far as that goes, and held against what is promised of it.

#![allow(clippy::expect_used, reason = "a fixture that can not be set up fails")]

use std::collections::BTreeSet;

use coldstart_trial::proof::{checked, repairs, saved};
use diagnostic::{Changed, Finding, Severity};
use fix::Checked;
use fixtures::Shelf;
use repository::Unsaved;

/// What is found, however its line is written.
fn keys(checked: &Checked, least: Severity) -> BTreeSet<(String, String, String, String)> {
    let text = |finding: &Finding| {
        let provider = finding.provider.as_ref().map(ToString::to_string).unwrap_or_default();
        (finding.rule.id.to_owned(), finding.cluster.clone(), finding.component.to_string(), provider)
    };
    checked.findings.iter().filter(|finding| finding.severity >= least).map(text).collect()
}

/// No line goes but those of a field that is edited, and comments never do: at most they move with their file. A kustomization that
/// lists nothing any more goes as a whole.
fn keeps_comments(files: &[&Changed]) -> bool {
    let comments = |text: &str| text.lines().filter(|line| line.trim_start().starts_with('#')).count();
    let is_moved = |gone: &Changed| files.iter().any(|new| new.before.is_none() && new.after == gone.before);
    files.iter().all(|changed| match (&changed.before, &changed.after) {
        (Some(before), Some(after)) => comments(before) <= comments(after),
        (Some(before), None) => is_moved(changed) || comments(before) == 0,
        (None, _) => true,
    })
}

#[test]
fn every_fixture_is_fixed_without_a_new_finding_and_a_second_time_there_is_nothing_to_do() {
    let (mut closed, mut left) = (0, 0);
    for fixture in Shelf::ALL.iter().flat_map(|shelf| fixtures::all(*shelf).expect("fixtures")) {
        let root = fixture.repository().expect("a repository");
        let Some(before) = checked(root.path(), &Unsaved::default()) else { continue };
        let made = repairs(root.path(), &Unsaved::default(), &before).expect("what is checked again can be read");
        left += made.left.len();
        if made.made.is_empty() {
            continue;
        }
        closed += made.made.iter().map(|repair| repair.closes.len()).sum::<usize>();
        let files: Vec<&Changed> = made.made.iter().flat_map(|repair| &repair.files).collect();
        assert!(keeps_comments(&files), "{}: {:#?}", fixture.name, made.made);
        let unsaved = saved(&made);
        let after = checked(root.path(), &unsaved).expect("a repository after edits");
        let least = made.made.iter().flat_map(|repair| &repair.closes).map(|told| told.severity).min();
        let least = least.expect("a repair closes something").max(Severity::Warning);
        let (old, new) = (keys(&before, Severity::Pedantic), keys(&after, least));
        let unknown: Vec<_> = new.difference(&old).collect();
        assert!(unknown.is_empty(), "{}: {unknown:#?}\n{:#?}", fixture.name, made.made);
        let second = repairs(root.path(), &unsaved, &after).expect("what is checked again can be read");
        assert!(second.made.is_empty(), "{}: {:#?}", fixture.name, second.made);
    }
    // How many of the fixtures' findings an edit closes; fewer would be a loss.
    assert!(closed >= 100, "{closed} closed, {left} left");
}
