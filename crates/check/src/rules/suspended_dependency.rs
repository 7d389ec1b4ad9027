//! ## What it finds
//!
//! A `dependsOn` on a Kustomization or HelmRelease with `suspend: true`; and a CRD or Namespace that something is applied with and
//! that only a suspended one brings.
//!
//! ## Why it matters at a cold start
//!
//! On a running cluster the suspended object keeps the Ready condition it had. Created suspended, it never gets one,
//! and its dependents wait forever.
//!
//! ## Example
//!
//! ```yaml
//! metadata: {name: spegel}
//! spec:
//!   suspend: true
//! ```
//!
//! ## Fix
//!
//! Remove `suspend`, or the dependency on it.

use std::collections::BTreeSet;

use diagnostic::{
    Advice, EvidenceRole, Explains, Finding, Fix, Goal, Location, NeverCost, OrderFault, Remark, Rule, Severity,
    Symptom,
};
use graph::Judged;
use model::{CapabilityKind, ComponentId, Consequence, ObjectRef, Phase, Tie, TieTarget, Verdict};
use source::Span;

use crate::context::Context;

pub(crate) static RULE: Rule = Rule::new(
    "suspended-dependency",
    "a dependency on something that is suspended",
    include_str!("suspended_dependency.rs"),
)
.explains(&[
    Explains::new(Symptom::DependencyNotReady, 1),
    Explains::new(Symptom::UnknownKind, 7),
    Explains::new(Symptom::NamespaceNotFound, 3),
])
.may_be_brought();

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let ties = context.cluster.ties.iter().filter(|tie| !context.is_asleep(tie.from));
    let needs = context.judged().filter_map(|judged| of_need(context, judged));
    let mut all: Vec<Finding> = ties.filter_map(|tie| finding(context, tie)).collect();
    // One for all that a component needs of another; a tie says it, too.
    let mut told: BTreeSet<_> = all.iter().map(|it| (it.component.clone(), it.provider.clone())).collect();
    all.extend(needs.filter(|it| told.insert((it.component.clone(), it.provider.clone()))).collect::<Vec<_>>());
    all
}

/// Nothing is applied without it, and all that would bring it are suspended.
fn of_need(context: &Context<'_>, judged: &Judged) -> Option<Finding> {
    let need = context.need(judged);
    let is_kind = matches!(need.capability.kind, CapabilityKind::Crd | CapabilityKind::Namespace);
    if judged.verdict != Verdict::Unoffered || !is_kind || need.phase > Phase::Apply || need.optional {
        return None;
    }
    let offer = context.analysis.links.offers_for(judged.need).first()?;
    let by = context.cluster.offers[*offer].by;
    let (off, suspended) = switched_off(context, by)?;
    let (component, target) = (&context.component(need.of).object, &context.component(by).object);
    let statement = OrderFault::NeedsOfSuspended {
        component: component.clone(),
        needed: need.capability.clone(),
        target: target.clone(),
    };
    let primary = Location::new(need.at, Remark::WaitsForEver);
    let finding = Finding::new(&RULE, Severity::Warning, &context.cluster.name, component, statement, primary)
        .with_provider(target)
        .with_subject(need.capability.clone())
        .with_verdict(Verdict::Unoffered)
        .with_consequence(Consequence::Deadlock)
        .with_cost(NeverCost::ConvergesSuspended)
        .with_evidence(EvidenceRole::Order, suspended, Remark::SwitchedOff)
        .with_fix(Fix::by_hand(Advice::Resume { target: off.clone() }, Goal::Gone));
    Some(finding)
}

/// What is suspended, itself or something that applies it, and where that is written.
fn switched_off<'a>(context: &Context<'a>, of: ComponentId) -> Option<(&'a ObjectRef, Span)> {
    context.above(of).map(|at| context.component(at)).find_map(|at| Some((&at.object, at.suspended?)))
}

fn finding(context: &Context<'_>, tie: &Tie) -> Option<Finding> {
    let TieTarget::Component(to) = tie.to else { return None };
    let (off, suspended) = switched_off(context, to)?;
    let (component, target) = (&context.component(tie.from).object, &context.component(to).object);
    let statement = OrderFault::WaitsForSuspended { component: component.clone(), target: target.clone() };
    let primary = Location::new(tie.at, Remark::WaitsForEver);
    let finding = Finding::new(&RULE, Severity::Error, &context.cluster.name, component, statement, primary)
        .with_provider(target)
        .with_verdict(Verdict::Deadlocked)
        .with_consequence(Consequence::Deadlock)
        .with_cost(NeverCost::ConvergesSuspended)
        .with_evidence(EvidenceRole::Order, suspended, Remark::SwitchedOff)
        .with_fix(Fix::by_hand(Advice::Resume { target: off.clone() }, Goal::Gone));
    Some(finding)
}
