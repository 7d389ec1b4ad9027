//! Findings as workflow commands, which GitHub Actions shows beside the lines of a change.

use std::fmt::Write as _;

use diagnostic::{Report, Severity};
use source::Sources;

use crate::clean::clean;
use crate::left_out;
use crate::merge::{Merged, merge};
use crate::paint::Paint;
use crate::place::Place;
use crate::say::Said;
use crate::text;

/// A command for each finding, then a line with the counts. `prefix` stands before every path.
pub fn report(report: &Report, sources: &impl Sources, min_severity: Severity, prefix: &str) -> String {
    let merged = merge(&report.findings, sources);
    let mut out = String::new();
    for one in merged.iter().filter(|one| one.finding.severity >= min_severity) {
        let _ = writeln!(out, "{}", command(one, sources, prefix));
    }
    let mut said = vec![text::counts(&merged, min_severity, Paint { color: false })];
    said.extend(left_out::counts(&report.left_out));
    let _ = writeln!(out, "coldstart: {}", said.join(" · "));
    if let Some(stale) = left_out::stale(&report.left_out) {
        let _ = writeln!(out, "::warning title=coldstart baseline::{}", data(&stale));
    }
    out
}

fn command(one: &Merged<'_>, sources: &impl Sources, prefix: &str) -> String {
    let finding = one.finding;
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Pedantic => "notice",
    };
    let mut place = String::new();
    if let Some(at) = Place::first(finding, sources, prefix) {
        let _ = write!(place, "file={},line={},col={}", property(&clean(&at.path)), at.line, at.column);
        // A range of columns is understood within one line only.
        if at.end_line == at.line && at.end_column > at.column {
            let _ = write!(place, ",endLine={},endColumn={}", at.end_line, at.end_column);
        }
        place.push(',');
    }
    format!("::{level} {place}title={}::{}", property(finding.rule.id), data(&body(&one.said)))
}

/// What to say: the message, the cost, the fix and the notes, a line each.
fn body(said: &Said) -> String {
    let mut lines = vec![clean(&said.message).into_owned()];
    if !said.cost.is_empty() {
        lines.push(format!("cost: {}", clean(&said.cost)));
    }
    lines.extend(said.fix.as_ref().map(|fix| format!("fix: {}", clean(fix))));
    lines.extend(said.notes.iter().map(|note| format!("note: {}", clean(note))));
    lines.join("\n")
}

/// What the runner would take for the end of the command, spelt so that it does not.
fn data(text: &str) -> String {
    source::without_marks(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn nothing_in_a_name_ends_a_command() {
        assert_eq!(data("100% of\r\n::error::x"), "100%25 of%0D%0A::error::x");
        assert_eq!(property("a,line=1:%2C\n"), "a%2Cline=1%3A%252C%0A");
    }
}
