//! What `coldstart seal verify` prints.

use std::fmt::Write as _;

use diagnostic::seal::{ClusterFault, KeysFault, SealFault};
use diagnostic::{Next, next};
use draw::words::{and_more, count};
use serde_json::json;

use super::report::{Problem, Report};
use crate::failure::next_line;

/// Items that do not open are named up to here: if a key is lost, it is all of them.
const ITEMS_SHOWN_MAX: usize = 20;

/// For people: what is wrong, then what was looked at.
pub(crate) fn text(report: &Report) -> String {
    let mut out = String::new();
    for changed in &report.changed {
        let _ = writeln!(out, "{}", draw::clean(changed));
    }
    let items = report.problems.iter().filter(|problem| problem.is_item()).count();
    let mut shown = 0;
    // One identity opens them all: what is missing is said once.
    let closed = report.problems.iter().filter(|problem| problem.lacks_identity()).count();
    let mut is_said = false;
    for problem in &report.problems {
        if problem.lacks_identity() && std::mem::replace(&mut is_said, true) {
            continue;
        }
        shown += usize::from(problem.is_item());
        if problem.is_item() && shown > ITEMS_SHOWN_MAX {
            if shown == items {
                let more = items - ITEMS_SHOWN_MAX;
                let _ = writeln!(out, "error: and {more} more items that do not open; --format json names them all");
            }
            continue;
        }
        let more = if problem.lacks_identity() { and_more(1, closed) } else { String::new() };
        let (place, what) = (problem.spot.text() + &more, message(problem));
        let mut lines = what.lines();
        let first = draw::clean(lines.next().unwrap_or_default());
        let _ = writeln!(out, "{}: {}: {first}", severity(problem), draw::clean(&place));
        for line in lines {
            let _ = writeln!(out, "  {}", draw::clean(line.trim_start()));
        }
    }
    let opened: usize = report.by_key.values().sum();
    let _ = writeln!(out, "{}, {}: {opened} open", count(report.secrets, "SealedSecret"), count(report.items, "item"));
    for (key, items) in &report.by_key {
        let newest = if Some(*key) == report.newest { ", the newest" } else { "" };
        let _ = writeln!(out, "  {} with key {}{newest}", count(*items, "item"), key.id());
    }
    if report.sops_files > 0 {
        let _ = writeln!(out, "{}", count(report.sops_files, "SOPS file"));
    }
    let errors = report.problems.iter().filter(|problem| problem.is_error()).count();
    let notes = report.problems.len() - errors - closed.saturating_sub(1);
    let _ = writeln!(out, "{}, {}", count(errors, "error"), count(notes, "note"));
    if report.is_other_store {
        let next = draw::say::next(&Next::Seal(next::Seal::OtherStoreOrRestore));
        let _ = writeln!(out, "nothing opens with any key of the store: it may be the wrong one; next: {next}");
    }
    out
}

/// For programs.
pub(crate) fn json(report: &Report) -> String {
    let problems: Vec<_> = report
        .problems
        .iter()
        .map(
            |problem| json!({"severity": severity(problem), "place": problem.spot.text(), "message": message(problem)}),
        )
        .collect();
    let keys: Vec<_> = report
        .by_key
        .iter()
        .map(|(key, items)| {
            let is_newest = Some(*key) == report.newest;
            json!({"id": key.id(), "fingerprint": key.to_string(), "items": items, "newest": is_newest})
        })
        .collect();
    let all = json!({
        "version": 1, "tool": "coldstart", "sealed_secrets": report.secrets, "items": report.items, "keys": keys,
        "sops_files": report.sops_files, "problems": problems, "changed": report.changed,
    });
    draw::clean_json(format!("{all:#}")) + "\n"
}

fn severity(problem: &Problem) -> &'static str {
    if problem.is_error() { "error" } else { "note" }
}

/// What is wrong, and what to type next: on a line of its own, but for what is only worth knowing of keys.
fn message(problem: &Problem) -> String {
    let what = draw::say::seal(&problem.fault);
    let is_short = matches!(
        problem.fault,
        SealFault::Keys(
            KeysFault::NewestUnusable { .. } | KeysFault::ExpiresSoon { .. } | KeysFault::OlderInUse { .. }
        ) | SealFault::Cluster(ClusterFault::KeyNotInCluster { .. })
    );
    match &problem.next {
        None => what,
        Some(next) if is_short => format!("{what}; next: {}", draw::say::next(next)),
        Some(next) => format!("{what}{}", next_line(next)),
    }
}
