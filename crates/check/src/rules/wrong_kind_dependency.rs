//! ## What it finds
//!
//! A HelmRelease whose `dependsOn` has the name of a Kustomization, or a Kustomization whose `dependsOn` has the name of a
//! HelmRelease.
//!
//! ## Why it matters at a cold start
//!
//! Flux looks for the name among objects of the dependent's own kind, finds none, and waits forever. On a running
//! cluster this goes unnoticed, because the dependent was ready before the line was added.
//!
//! ## Example
//!
//! ```yaml
//! kind: HelmRelease
//! spec:
//!   dependsOn:
//!     - name: cluster-secrets   # a Kustomization
//! ```
//!
//! ## Fix
//!
//! Declare the dependency between objects of one kind: the Kustomization that applies this HelmRelease can depend on
//! the other Kustomization; a HelmRelease can depend on the HelmRelease inside it. Where that dependency is already
//! declared, remove the entry.

use diagnostic::{
    Advice, EvidenceRole, Explains, Finding, Fix, Goal, Label, Location, NeverCost, Note, OrderAdvice, OrderFault,
    PlainAdvice, Rule, Severity, Symptom,
};
use model::{ComponentId, Consequence, ObjectRef, Tie, TieTarget, Verdict};

use crate::context::Context;
use crate::other_kind::other_kind;

pub(crate) static RULE: Rule = Rule::new(
    "wrong-kind-dependency",
    "a dependency on an object of another kind",
    include_str!("wrong_kind_dependency.rs"),
)
.explains(&[Explains::new(Symptom::DependencyNotFound, 2)]);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let ties = context.cluster.ties.iter().filter(|tie| !context.is_asleep(tie.from));
    ties.filter_map(|tie| match &tie.to {
        TieTarget::Unknown(missing) => other_kind(context, missing).map(|meant| finding(context, tie, missing, meant)),
        TieTarget::Component(_) => None,
    })
    .collect()
}

fn finding(context: &Context<'_>, tie: &Tie, missing: &ObjectRef, meant: ComponentId) -> Finding {
    let component = &context.component(tie.from).object;
    let target = context.component(meant);
    let found = target.object.clone();
    let statement =
        OrderFault::WaitsForOtherKind { component: component.clone(), missing: missing.clone(), found: found.clone() };
    let primary = Location::new(tie.at, Label::LooksAmong { kind: missing.kind.clone() });
    // One of the right kind may be in what could not be seen.
    let is_unsure = context.may_hold_more();
    let severity = if is_unsure { Severity::Info } else { Severity::Error };
    let mut finding = Finding::new(&RULE, severity, &context.cluster.name, component, statement, primary)
        .with_provider(&found)
        .with_verdict(Verdict::Unoffered)
        .with_consequence(Consequence::Deadlock)
        .with_cost(NeverCost::ConvergesWithDependents)
        .with_evidence(EvidenceRole::Related, target.at, Label::OfThisName { kind: found.kind.clone() })
        .with_fix(Fix::by_hand(advice(context, tie.from, meant), Goal::Gone));
    finding.notes.extend(is_unsure.then_some(Note::UnseenMayHold));
    finding
}

fn advice(context: &Context<'_>, from: ComponentId, meant: ComponentId) -> Advice {
    let (consumer, target) = (context.applier(from), context.applier(meant));
    let object = |id: ComponentId| context.component(id).object.clone();
    if consumer == target || context.is_nested(consumer, target) {
        return PlainAdvice::NameSameKind.into();
    }
    if context.is_tied(consumer, target) {
        let waits_by = (consumer != from).then(|| object(consumer));
        return OrderAdvice::RemoveEntry { waits_by, target: object(target) }.into();
    }
    OrderAdvice::Move { consumer: object(consumer), target: object(target) }.into()
}
