//! The report as a comment on a pull request: a table of what was found, and each finding folded below it.

use std::fmt::Write as _;

use diagnostic::{Report, Severity};
use source::Sources;

use crate::clean::clean;
use crate::left_out;
use crate::merge::{Merged, said};
use crate::paint::Paint;
use crate::place::Place;
use crate::say;
use crate::text;
use crate::words::first_few;

/// GitHub takes no longer comment.
pub const COMMENT_CHARS_MAX: usize = 65_536;
/// Kept free for the sentence that says what was cut.
const CUT_CHARS: usize = 256;
/// Rows of the table: more than this are in the details only.
const ROWS_MAX: usize = 50;
/// Clusters and components that are named in one line.
const NAMED_MAX: usize = 10;

/// The whole comment. `prefix` stands before every path.
pub fn report(report: &Report, sources: &impl Sources, min_severity: Severity, prefix: &str) -> String {
    let merged = said(&diagnostic::causes(&report.findings), sources);
    let wanted: Vec<&Merged<'_>> = merged.iter().filter(|one| one.finding.severity >= min_severity).collect();
    let mut out = head(report, &merged, min_severity);
    if wanted.is_empty() {
        return out;
    }
    let mut budget = Budget { chars: COMMENT_CHARS_MAX - CUT_CHARS - out.chars().count() };
    out.push_str(&budget.table(&wanted, sources, prefix));
    let mut shown = 0;
    for one in &wanted {
        let details = details(one, report.clusters.len(), sources, prefix);
        if !budget.take(&details) {
            break;
        }
        out.push_str(&details);
        shown += 1;
    }
    if shown < wanted.len() {
        let rest = left_out::findings(wanted.len() - shown);
        let _ = writeln!(
            out,
            "\n**{rest} more: a comment takes no more than {COMMENT_CHARS_MAX} characters.** `coldstart check` shows all."
        );
    }
    out
}

struct Budget {
    chars: usize,
}

impl Budget {
    fn take(&mut self, text: &str) -> bool {
        let wanted = text.chars().count();
        let fits = wanted <= self.chars;
        if fits {
            self.chars -= wanted;
        }
        fits
    }

    fn table(&mut self, wanted: &[&Merged<'_>], sources: &impl Sources, prefix: &str) -> String {
        let mut table = "\n| | rule | what | where |\n|---|---|---|---|\n".to_owned();
        self.take(&table);
        let mut rows = 0;
        for one in wanted.iter().take(ROWS_MAX) {
            let row = row(one, sources, prefix);
            if !self.take(&row) {
                break;
            }
            table.push_str(&row);
            rows += 1;
        }
        if rows < wanted.len() {
            let more = format!("| | | … and {} more | |\n", wanted.len() - rows);
            self.take(&more);
            table.push_str(&more);
        }
        table
    }
}

fn head(report: &Report, merged: &[Merged<'_>], min_severity: Severity) -> String {
    let counts = text::counts(merged, min_severity, Paint { color: false });
    let mut out = format!("### coldstart: {counts}\n");
    let left_out = left_out::counts(&report.left_out);
    if !left_out.is_empty() {
        let _ = writeln!(out, "\n{}", inline(&left_out.join(" · ")));
    }
    if let Some(stale) = left_out::stale(&report.left_out) {
        let _ = writeln!(out, "\n{}", inline(&stale));
    }
    out
}

fn row(one: &Merged<'_>, sources: &impl Sources, prefix: &str) -> String {
    let finding = one.finding;
    let place = Place::first(finding, sources, prefix).map(|at| code(&format!("{}:{}", at.path, at.line)));
    let (severity, rule) = (finding.severity, finding.rule.id);
    let message = inline(&one.said.message);
    format!("| {severity} | {} | {message} | {} |\n", code(rule), place.unwrap_or_default())
}

/// A finding, folded: places with their lines of source, cost, fix, notes.
fn details(one: &Merged<'_>, clusters: usize, sources: &impl Sources, prefix: &str) -> String {
    let finding = one.finding;
    let (severity, rule) = (finding.severity, code(finding.rule.id));
    let mut out = format!("\n<details><summary>{severity} {rule}: {}</summary>\n<ul>\n", inline(&one.said.message));
    for place in places(one, sources, prefix) {
        item(&mut out, &place);
    }
    if !one.said.cost.is_empty() {
        item(&mut out, &format!("<b>cost</b>: {}", inline(&one.said.cost)));
    }
    if let Some(fix) = &one.said.fix {
        item(&mut out, &format!("<b>fix</b>: {}", inline(fix)));
    }
    for note in &one.said.notes {
        item(&mut out, &inline(note));
    }
    let elsewhere = one.elsewhere.iter().filter_map(|site| sources.locate(site.span()));
    let elsewhere: Vec<String> = elsewhere.map(|(path, at)| format!("`{prefix}{path}:{}`", at.line)).collect();
    if let Some(note) = say::elsewhere(&elsewhere) {
        item(&mut out, &inline(&note));
    }
    if clusters > 1 {
        let names: Vec<String> = one.clusters.iter().map(|name| code(name)).collect();
        item(&mut out, &format!("in {}", first_few(&names, NAMED_MAX)));
    }
    out.push_str("</ul>\n</details>\n");
    out
}

fn item(out: &mut String, text: &str) {
    let _ = writeln!(out, "<li>{text}</li>");
}

fn places(one: &Merged<'_>, sources: &impl Sources, prefix: &str) -> Vec<String> {
    let found = Place::all(one.finding, sources, prefix).into_iter().map(|(index, place)| {
        let at = code(&format!("{}:{}:{}", place.path, place.line, place.column));
        let label = &one.said.labels[index];
        let label = if label.is_empty() { String::new() } else { format!(": {}", inline(label)) };
        format!("{at}{label}")
    });
    found.collect()
}

/// Words that may hold `code`, as HTML in which nothing means anything: no mark-up, no mention of anybody, no link.
pub(crate) fn inline(text: &str) -> String {
    let text = clean(text);
    // An odd tick quotes nothing.
    if !text.matches('`').count().is_multiple_of(2) {
        return harmless(&text);
    }
    let parts = text.split('`').enumerate();
    parts.map(|(index, part)| if index % 2 == 1 { code(part) } else { harmless(part) }).collect()
}

pub(crate) fn code(text: &str) -> String {
    format!("<code>{}</code>", harmless(&clean(text)))
}

fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Everything that Markdown, HTML or GitHub would read something into.
        if matches!(c, '&' | '<' | '>' | '@' | '#' | '|' | '*' | '_' | '~' | '[' | ']' | '`' | '\\' | '!' | '"' | '\'')
        {
            let _ = write!(out, "&#{};", u32::from(c));
        } else {
            out.push(c);
        }
    }
    // An address becomes a link by itself.
    out.replace("://", "&#58;//")
}

#[cfg(test)]
mod tests {
    use super::inline;

    #[test]
    fn names_are_text_whatever_they_say() {
        assert_eq!(inline("`a|b` needs @octocat"), "<code>a&#124;b</code> needs &#64;octocat");
        assert_eq!(inline("<img src=x> ` odd"), "&#60;img src=x&#62; &#96; odd");
        assert_eq!(inline("see https://x.example [y](z) #12"), "see https&#58;//x.example &#91;y&#93;(z) &#35;12");
    }
}
