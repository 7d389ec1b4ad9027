//! Every fixture of `check` is fixed as far as that goes, and held against what is promised of it.

#![allow(clippy::expect_used, reason = "a fixture that can not be set up fails")]

use std::collections::BTreeSet;
use std::path::Path;

use check::{Policy, Wanted};
use coldstart_fix::{self as fix, Checked, Wish};
use diagnostic::{Changed, Finding, Repairs, Severity};
use fixtures::Shelf;
use repository::Unsaved;

/// Reads and checks, with texts that are not saved.
fn checked(root: &Path, unsaved: &Unsaved) -> Option<Checked> {
    let (reading, analyses) = read::read_unsaved(root, unsaved.clone(), None, None, graph::analyse).ok()?;
    let policy = Policy::of(&reading.settings).ok()?;
    let mut report = check::run_analysed(&reading, &analyses, Wanted { cluster: None, each: true });
    check::settle(&mut report, &reading, &policy);
    let findings = report.each().findings;
    Some(Checked { reading, findings })
}

fn repairs(root: &Path, unsaved: &Unsaved, before: &Checked) -> Repairs {
    let closes = |finding: &Finding, _: &read::Reading| finding.severity >= Severity::Info;
    let wish = Wish { closes: &closes, with_unsafe: true };
    let again = |more: &Unsaved| {
        let mut all = unsaved.clone();
        more.paths().for_each(|path| all.set(path, more.get(path).unwrap_or_default()));
        more.removed().for_each(|path| all.remove(path));
        checked(root, &all).ok_or(())
    };
    fix::repairs(&before.reading, &before.findings, &wish, again).expect("what is checked again can be read")
}

fn keys(checked: &Checked, least: Severity) -> BTreeSet<(String, String, String, String)> {
    let text = |finding: &Finding| {
        let provider = finding.provider.as_ref().map(ToString::to_string).unwrap_or_default();
        (finding.rule.id.to_owned(), finding.cluster.clone(), finding.component.to_string(), provider)
    };
    checked.findings.iter().filter(|finding| finding.severity >= least).map(text).collect()
}

fn saved(repairs: &Repairs) -> Unsaved {
    let mut unsaved = Unsaved::default();
    for Changed { path, after, .. } in repairs.made.iter().flat_map(|repair| &repair.files) {
        match after {
            Some(after) => unsaved.set(path.clone(), after.clone()),
            None => unsaved.remove(path.clone()),
        }
    }
    unsaved
}

/// No line goes but those of a field that is edited, and comments never do: at most they move with their file.
fn keeps_comments(files: &[&Changed]) -> bool {
    let comments = |text: &str| text.lines().filter(|line| line.trim_start().starts_with('#')).count();
    let is_moved = |gone: &Changed| files.iter().any(|new| new.before.is_none() && new.after == gone.before);
    files.iter().all(|changed| match (&changed.before, &changed.after) {
        (Some(before), Some(after)) => comments(before) <= comments(after),
        (Some(_), None) => is_moved(changed),
        (None, _) => true,
    })
}

#[test]
fn every_fixture_is_fixed_without_a_new_finding_and_a_second_time_there_is_nothing_to_do() {
    let (mut closed, mut left) = (0, 0);
    for fixture in Shelf::ALL.iter().flat_map(|shelf| fixtures::all(*shelf).expect("fixtures")) {
        let root = fixture.repository().expect("a repository");
        let Some(before) = checked(root.path(), &Unsaved::default()) else { continue };
        let made = repairs(root.path(), &Unsaved::default(), &before);
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
        let second = repairs(root.path(), &unsaved, &after);
        assert!(second.made.is_empty(), "{}: {:#?}", fixture.name, second.made);
    }
    // How many of the fixtures' findings an edit closes; fewer would be a loss.
    assert!(closed >= 100, "{closed} closed, {left} left");
}
