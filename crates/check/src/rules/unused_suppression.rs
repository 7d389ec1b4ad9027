//! ## What it finds
//!
//! A comment `# coldstart: allow <rule> -- why` that silences nothing: because there is no such finding any more, because no
//! rule has that name, or because it does not say why.
//!
//! ## Why it matters at a cold start
//!
//! It was written about a fault that somebody judged. Left behind after the fault is gone, it silences the next one of that
//! kind in the same place, which nobody has judged. A comment without a reason silences nothing: whoever rebuilds the
//! cluster must be able to read why a fault was accepted.
//!
//! ## Example
//!
//! ```yaml
//! spec:
//!   interval: 5m
//!   # coldstart: allow slow-retry -- nothing depends on it
//!   timeout: 5m
//! ```
//!
//! ## Fix
//!
//! Take the comment away, or mend the rule's name, or add ` -- ` and a reason.

use model::ObjectRef;
use read::Reading;
use yaml::Span;

use crate::allow::{Allowance, is_rule};
use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::policy::unknown_rule;

const RULE: &str = "unused-suppression";

/// Nothing of a single cluster: a comment is judged when every rule has had its say in all of them.
pub(crate) fn run(_: &Context<'_>) -> Vec<Finding> {
    Vec::new()
}

/// What is wrong with a comment. `is_final`: no further finding can come that it would silence.
pub(crate) fn judge(allowance: &Allowance, reading: &Reading, is_final: bool) -> Vec<Finding> {
    let comment = &allowance.comment;
    let finding = |span, message, label: &str, fix: &str| finding(reading, span, message, label, fix);
    if comment.rules.is_empty() {
        let message = "a comment that allows names no rule".to_owned();
        return vec![finding(comment.span, message, "allows nothing", "write `# coldstart: allow <rule> -- why`")];
    }
    let mut findings = Vec::new();
    for ((rule, at), used) in comment.rules.iter().zip(&allowance.used) {
        if !is_rule(rule) {
            findings.push(finding(
                *at,
                unknown_rule(rule),
                "unknown",
                "`coldstart check --explain RULE` lists the rules",
            ));
        } else if comment.has_reason && !used && is_final {
            let message = format!("`{rule}` is allowed here, and there is no such finding");
            findings.push(finding(*at, message, "silences nothing", "take the comment away, or this rule out of it"));
        }
    }
    if !comment.has_reason {
        let message = "a comment that allows does not say why".to_owned();
        findings.push(finding(comment.span, message, "no reason", "add ` -- ` and the reason"));
    }
    findings
}

fn finding(reading: &Reading, span: Span, message: String, label: &str, fix: &str) -> Finding {
    let (cluster, component) = whose(reading, span);
    Finding {
        rule: RULE,
        severity: Severity::Warning,
        message,
        cluster,
        component,
        provider: None,
        capability: None,
        verdict: None,
        consequence: None,
        cost: "none by itself: what it was meant to silence is told, or the next of its kind is not".to_owned(),
        locations: vec![Location { span, role: LocationRole::Primary, label: label.to_owned() }],
        fix: Some(fix.to_owned()),
        notes: Vec::new(),
        also: Vec::new(),
        each: Vec::new(),
    }
}

/// The component that is written nearest to the place in its file, or else the file itself.
fn whose(reading: &Reading, span: Span) -> (String, ObjectRef) {
    let near = reading.clusters.iter().flat_map(|cluster| {
        let here = cluster.components.iter().filter(|component| component.at.file == span.file);
        here.map(|component| (component.at.start.abs_diff(span.start), &cluster.name, &component.object))
    });
    if let Some((_, cluster, object)) = near.min() {
        return (cluster.clone(), object.clone());
    }
    let cluster = reading.clusters.first().map(|cluster| cluster.name.clone()).unwrap_or_default();
    (cluster, ObjectRef::new("File", "", reading.repository.path(span.file).unwrap_or_default()))
}
