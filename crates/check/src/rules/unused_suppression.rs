//! ## What it finds
//!
//! A comment `# coldstart: allow <rule> -- why` that silences nothing: because there is no such finding any more, because no
//! rule has that name, or because it does not say why.
//!
//! ## Why it matters at a cold start
//!
//! It was written for a fault that was reviewed. Left behind after the fault is gone, it silences the next one of that
//! rule in the same place, which was not reviewed. A comment without a reason silences nothing: if you rebuild the
//! cluster, you must be able to read why a fault was accepted.
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
//! Remove the comment, correct the rule's name, or add ` -- ` and a reason.

use diagnostic::{CommentFault, Cost, Finding, Fix, Goal, Location, PlainAdvice, Remark, Rule, Severity};
use model::{ObjectRef, Stage};
use read::Reading;
use source::Span;

use crate::allow::{Allowance, is_rule};
use crate::context::Context;
use crate::policy::nearest_rule;

pub(crate) static RULE: Rule = Rule::new(
    "unused-suppression",
    "an allow comment without a matching finding",
    include_str!("unused_suppression.rs"),
);

/// Nothing of a single cluster: a comment is judged when every rule has had its say in all of them.
pub(crate) fn run(_: &Context<'_>) -> Vec<Finding> {
    Vec::new()
}

/// What is wrong with a comment. `is_final`: no further finding can come that it would silence.
pub(crate) fn judge(allowance: &Allowance, reading: &Reading, is_final: bool) -> Vec<Finding> {
    let comment = &allowance.comment;
    let finding = |span, fault, remark, advice| finding(reading, span, fault, remark, advice);
    if comment.rules.is_empty() {
        let fault = CommentFault::NamesNoRule;
        return vec![finding(comment.span, fault, Remark::AllowsNothing, PlainAdvice::WriteComment)];
    }
    let mut findings = Vec::new();
    for ((rule, at), used) in comment.rules.iter().zip(&allowance.used) {
        if !is_rule(rule) {
            let fault = CommentFault::UnknownRule { name: rule.clone(), meant: nearest_rule(rule) };
            findings.push(finding(*at, fault, Remark::UnknownRule, PlainAdvice::ListRules));
        } else if comment.has_reason && !used && is_final {
            let fault = CommentFault::SilencesNothing { rule: rule.clone() };
            findings.push(finding(*at, fault, Remark::SilencesNothing, PlainAdvice::TakeCommentAway));
        }
    }
    if !comment.has_reason {
        findings.push(finding(comment.span, CommentFault::GivesNoReason, Remark::NoReason, PlainAdvice::AddReason));
    }
    findings
}

fn finding(reading: &Reading, span: Span, fault: CommentFault, remark: Remark, advice: PlainAdvice) -> Finding {
    let (cluster, component, stage) = whose(reading, span);
    let mut finding = Finding::new(&RULE, Severity::Warning, &cluster, &component, fault, Location::new(span, remark))
        .with_cost(Cost::NoneByItself)
        .with_fix(Fix::by_hand(advice, Goal::Gone));
    finding.stage = stage;
    finding
}

/// The component that is written nearest to the place in its file, or else the file itself.
fn whose(reading: &Reading, span: Span) -> (String, ObjectRef, Stage) {
    let near = reading.clusters.iter().flat_map(|cluster| {
        let here = cluster.components.iter().filter(|component| component.at.file == span.file);
        here.map(|one| (one.at.start.abs_diff(span.start), &cluster.name, &one.object, one.stage))
    });
    if let Some((_, cluster, object, stage)) = near.min() {
        return (cluster.clone(), object.clone(), stage);
    }
    let cluster = reading.clusters.first().map(|cluster| cluster.name.clone()).unwrap_or_default();
    (cluster, ObjectRef::new("File", "", reading.repository.path(span.file).unwrap_or_default()), Stage::GitOps)
}
