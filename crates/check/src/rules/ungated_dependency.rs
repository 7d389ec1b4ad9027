//! ## What it finds
//!
//! A `dependsOn` on something that is ready as soon as the API server accepts its objects: a Kustomization with neither
//! `wait: true` nor `healthChecks`, a HelmRelease with `disableWait`, a ResourceSet dependency without `ready: true`.
//!
//! ## Why it matters at a cold start
//!
//! The dependency is declared, but it guarantees nothing: the other object is "Ready" the moment its HelmRelease object
//! exists, minutes before the chart's CRDs, webhook or pods. What depends on it starts too early.
//!
//! ## Example
//!
//! ```yaml
//! # app → external-secrets
//! metadata: {name: external-secrets}
//! spec:
//!   wait: false
//! ```
//!
//! ## Fix
//!
//! ```yaml
//! spec:
//!   wait: true
//! ```
//!
//! or `healthChecks` that name the HelmRelease. Where `wait: true` would be a cycle, because the Kustomization also applies
//! something that depends on the dependent, the finding gives the entry for `healthChecks`. One finding stands for all dependents of the same weak gate.

use std::collections::BTreeSet;

use diagnostic::{
    Advice, Cost, EvidenceRole, Explains, Finding, Fix, GateAdvice, GateFault, Goal, Location, OrderAdvice,
    PlainAdvice, Quiet, Remark, Rule, Severity, Symptom, Together,
};
use graph::Judged;
use model::{Arrival, Component, ComponentId, Gate, ObjectRef, Offer, Role, Tie, Verdict};

use crate::context::Context;
use crate::dependents::speak_for_all;
use crate::gates::{by_gate, set_wait, tie_to, wait_or_less};
use crate::needs::is_asked;
use crate::pairs::{self, Pair};
use crate::remedy::{Opening, find_gates};

pub(crate) static RULE: Rule = Rule::new(
    "ungated-dependency",
    "a dependency on something that is ready too early",
    include_str!("ungated_dependency.rs"),
)
.folding(Together::Nothing, Quiet::ClusterUnlessCostly)
.explains(&[
    Explains::new(Symptom::VariablesNotFound, 3),
    Explains::new(Symptom::UnknownKind, 4),
    Explains::new(Symptom::NamespaceNotFound, 2),
    Explains::new(Symptom::WebhookDown, 2),
    Explains::new(Symptom::NotHealthy, 3),
    Explains::new(Symptom::ValuesNotFound, 3),
    Explains::new(Symptom::InstallFailed, 3),
])
.may_be_brought();

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let weak = |judged: &Judged| {
        matches!(judged.verdict, Verdict::AppliedOnly | Verdict::ExistsOnly)
            && !is_asked(context, judged)
            && !(judged.verdict == Verdict::AppliedOnly && context.is_between_large_kustomizations(judged))
    };
    let mut gates = by_gate(context, pairs::gather(context, weak));
    gates.retain(|gate, pairs| pairs[0].severity > Severity::Pedantic || is_all_it_holds(context, *gate, pairs));
    let relied: Vec<(ComponentId, Option<&Pair<'_>>)> =
        gates.iter().map(|(gate, pairs)| (*gate, pairs.first())).collect();
    let openings = find_gates(context, &relied);
    let both = gates.iter().zip(&openings);
    let mut findings: Vec<Finding> =
        both.map(|((gate, pairs), opening)| finding(context, *gate, pairs, opening)).collect();
    findings.extend(declared(context, |id| gates.contains_key(&id)));
    findings
}

/// Findings of gates of which only the order is known.
fn declared(context: &Context<'_>, is_told: impl Fn(ComponentId) -> bool) -> Vec<Finding> {
    let live = with_unfinished_parts(context);
    let ids = context.cluster.ids().filter(|id| live.contains(id) && !is_told(*id));
    let weak: Vec<(ComponentId, Vec<&Tie>)> = ids.filter_map(|id| Some((id, weak_ties(context, id)?))).collect();
    let openings = find_gates(context, &weak.iter().map(|(id, _)| (*id, None)).collect::<Vec<_>>());
    let both = weak.iter().zip(&openings);
    both.map(|((id, ties), opening)| declared_only(context, *id, ties, opening)).collect()
}

/// Whether the dependents' needs account for everything in there that could be unhealthy. Where they do not, the order may
/// be for the rest.
fn is_all_it_holds(context: &Context<'_>, gate: ComponentId, pairs: &[Pair<'_>]) -> bool {
    let judged = pairs.iter().flat_map(|pair| &pair.judged).filter_map(|judged| judged.offer);
    let needed: BTreeSet<&ObjectRef> = judged.map(|offer| &context.cluster.offers[offer].object).collect();
    let is_moving = |offer: &&&Offer| !matches!(offer.arrival, Arrival::Applied | Arrival::Installed);
    let offered = context.index().offers(gate).iter().filter(is_moving).map(|offer| &offer.object);
    let children = context.index().children(gate).iter().map(|child| &context.component(*child).object);
    offered.chain(children).all(|object| needed.contains(object))
}

/// Components that hold something which can be applied and not yet healthy.
fn with_unfinished_parts(context: &Context<'_>) -> BTreeSet<ComponentId> {
    let children = context.cluster.components.iter().filter_map(|component| component.parent);
    let moving =
        context.cluster.offers.iter().filter(|offer| !matches!(offer.arrival, Arrival::Applied | Arrival::Installed));
    children.chain(moving.map(|offer| offer.by)).collect()
}

/// The ties to a gate that waits for nothing, if it is one and has some.
fn weak_ties<'a>(context: &Context<'a>, gate: ComponentId) -> Option<Vec<&'a Tie>> {
    let gated = context.component(gate);
    let is_weak = gated.role == Role::Kustomization && gated.gate == Gate::Applied && !gated.at.is_generated();
    let is_outside = |tie: &&Tie| !context.is_nested(tie.from, gate) && !context.is_asleep(tie.from);
    let ties: Vec<&Tie> = context.dependents(gate).iter().copied().filter(is_outside).collect();
    (is_weak && !ties.is_empty() && !context.is_asleep(gate)).then_some(ties)
}

/// The order is declared, and what for can't be seen here: worth knowing that it waits for nothing.
fn declared_only(context: &Context<'_>, gate: ComponentId, ties: &[&Tie], opening: &Opening) -> Finding {
    let (gated, first) = (context.component(gate), ties[0]);
    let dependent = &context.component(first.from).object;
    let statement =
        GateFault::DependsOnNoGate { component: dependent.clone(), count: ties.len(), gate: gated.object.clone() };
    let primary = Location::new(gated.gate_at, Remark::DoneWhenAccepted);
    let goal = Goal::Waits { component: gated.object.clone() };
    Finding::new(&RULE, Severity::Info, &context.cluster.name, dependent, statement, primary)
        .with_provider(&gated.object)
        .with_verdict(Verdict::AppliedOnly)
        .with_cost(Cost::EndsWhenAccepted)
        .with_evidence(EvidenceRole::Order, first.at, Remark::WaitsForNoMore)
        .with_fix(Fix::by_hand(wait_or_less(context, gated, opening), goal))
}

fn finding(context: &Context<'_>, gate: ComponentId, pairs: &[Pair<'_>], opening: &Opening) -> Finding {
    let worst = &pairs[0];
    let gated = context.component(gate);
    let exists_only = worst.judged[0].verdict == Verdict::ExistsOnly;
    let mut finding = if gated.gate == Gate::Healthy && !exists_only {
        by_chance(context, worst, gated)
    } else {
        of_weak_gate(context, worst, gate, pairs.len(), opening)
    };
    finding = finding.with_provider(&gated.object);
    speak_for_all(context, &mut finding, pairs);
    finding
}

fn of_weak_gate(
    context: &Context<'_>,
    worst: &Pair<'_>,
    gate: ComponentId,
    count: usize,
    opening: &Opening,
) -> Finding {
    let gated = context.component(gate);
    let exists_only = worst.judged[0].verdict == Verdict::ExistsOnly;
    let statement = GateFault::DependsOnWeakGate {
        component: context.component(worst.consumer).object.clone(),
        count,
        gate: gated.object.clone(),
        needed: worst.needed(context),
    };
    let primary = match tie_to(context, worst.consumer, gate) {
        Some(tie) if exists_only => Location::new(tie, Remark::WaitsUntilExists),
        _ if matches!(gated.gate, Gate::Listed(_)) => Location::new(gated.gate_at, Remark::WaitsForOtherObjects),
        _ => Location::new(gated.gate_at, Remark::DoneWhenAccepted),
    };
    let advice = advice(context, gated, exists_only, opening);
    worst.finding(context, &RULE, statement, primary).with_fix(worst.fix(context, advice))
}

fn advice(context: &Context<'_>, gated: &Component, exists_only: bool, opening: &Opening) -> Advice {
    let gate = gated.object.clone();
    match gated.role {
        _ if exists_only && gated.gate == Gate::Healthy => PlainAdvice::SetReady.into(),
        Role::Kustomization if exists_only => GateAdvice::SetReadyAndWait { gate }.into(),
        Role::HelmRelease => GateAdvice::RemoveDisableWait { gate }.into(),
        Role::Kustomization => wait_or_less(context, gated, opening).into(),
        Role::ResourceSet => GateAdvice::SetWaitAndReady { gate }.into(),
        Role::Bootstrap(_) => set_wait(context, gated).into(),
    }
}

/// There is nothing wrong with the gate: whatever comes between waits until the need can be met, not until it is.
fn by_chance(context: &Context<'_>, worst: &Pair<'_>, gated: &Component) -> Finding {
    let consumer = context.component(worst.consumer);
    let (component, gate) = (consumer.object.clone(), gated.object.clone());
    let statement =
        GateFault::AfterByChance { component: component.clone(), needed: worst.needed(context), gate: gate.clone() };
    let primary = Location::new(consumer.ties_at, Remark::NamesNoGate);
    let advice = if consumer.role == gated.role {
        OrderAdvice::AddToDependencies { gate, component }
    } else {
        OrderAdvice::ApplierDependsOn { gate, component }
    };
    worst.finding(context, &RULE, statement, primary).with_fix(worst.fix(context, advice))
}
