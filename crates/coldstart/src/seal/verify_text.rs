//! What `coldstart seal verify` prints.

use std::fmt::Write as _;

use serde_json::json;

use super::verify::Report;

/// For people: what is wrong, then what was looked at.
pub(crate) fn text(report: &Report) -> String {
    let mut out = String::new();
    for changed in &report.changed {
        let _ = writeln!(out, "{}", draw::clean(changed));
    }
    for problem in &report.problems {
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
