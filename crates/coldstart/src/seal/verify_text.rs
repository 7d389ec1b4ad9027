//! What `coldstart seal verify` prints.

use std::fmt::Write as _;

use serde_json::json;

use super::verify::Report;

/// Items that do not open are named up to here: if a key is lost, it is all of them.
const ITEMS_SHOWN_MAX: usize = 20;

/// For people: what is wrong, then what was looked at.
pub(crate) fn text(report: &Report) -> String {
    let mut out = String::new();
    for changed in &report.changed {
        let _ = writeln!(out, "{}", draw::clean(changed));
    }
    let items = report.problems.iter().filter(|problem| problem.is_item).count();
    let mut shown = 0;
    for problem in &report.problems {
        shown += usize::from(problem.is_item);
        if problem.is_item && shown > ITEMS_SHOWN_MAX {
            if shown == items {
                let more = items - ITEMS_SHOWN_MAX;
                let _ = writeln!(out, "error: and {more} more items that do not open; --format json names them all");
            }
            continue;
        }
        let kind = if problem.is_error { "error" } else { "note" };
        let (place, what) = (draw::clean(&problem.place), &problem.what);
        let mut lines = what.lines();
        let _ = writeln!(out, "{kind}: {place}: {}", draw::clean(lines.next().unwrap_or_default()));
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
    let errors = report.problems.iter().filter(|problem| problem.is_error).count();
    let _ = writeln!(out, "{}, {}", count(errors, "error"), count(report.problems.len() - errors, "note"));
    if report.is_other_store {
        out.push_str("nothing opens with any key of the store: it may be the wrong one; next: the same with --store STORE, or coldstart seal restore\n");
    }
    out
}

/// For programs.
pub(crate) fn json(report: &Report) -> String {
    let problems: Vec<_> = report
        .problems
        .iter()
        .map(|problem| {
            let severity = if problem.is_error { "error" } else { "note" };
            json!({"severity": severity, "place": problem.place, "message": problem.what})
        })
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
    format!("{all:#}\n")
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
