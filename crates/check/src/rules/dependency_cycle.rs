//! ## What it finds
//!
//! Components that wait for each other in a cycle. This includes cycles that appear only when different kinds of
//! dependency are combined: a Kustomization waits for another, whose HelmRelease waits for a HelmRelease of the first;
//! a Kustomization with `wait: true` holds releases whose HelmRepository comes from one that depends on it; a
//! Kustomization puts objects into a Namespace that only a Kustomization that waits for it creates, or only a release
//! in that same Namespace; a Kustomization that brings a secret store takes its variables from a Secret that is filled
//! from this store; a server behind a store takes its own credentials from a Secret that this store fills, and what brings
//! the store waits for the server. Where a comment beside that Namespace names Terraform or a person as its maker, or a script creates it, the
//! finding is an info.
//!
//! ## Why it matters at a cold start
//!
//! None of them ever starts. And as long as `dependsOn` between Kustomizations has a cycle, Flux does not reconcile any
//! Kustomization of the same source when a new revision arrives: the rest of the cluster falls back to its intervals.
//!
//! ## Example
//!
//! ```yaml
//! metadata: {name: harbor}
//! spec: {dependsOn: [{name: authentik}]}
//! ---
//! metadata: {name: authentik}
//! spec: {dependsOn: [{name: harbor}]}
//! ```
//!
//! ## Fix
//!
//! Remove one of the declared dependencies, the one that matters least; the finding leaves out those whose removal leaves
//! another cycle behind. That a Kustomization applies an object can't be
//! removed: where nothing in the cycle is declared, move the object that needs what comes later into a Kustomization of
//! its own. Create a Namespace in the Kustomization that first puts something into it.

use std::collections::BTreeSet;

use diagnostic::{
    Advice, Evidence, EvidenceRole, Explains, Finding, Fix, Goal, Hop, Label, Location, NeverCost, Note, OrderAdvice,
    OrderFault, PlainAdvice, Rule, Severity, Site, Symptom,
};
use graph::{Because, Deadlock};
use model::{CapabilityKind, ComponentId, Consequence, Need, Phase, Role, Verdict};
use source::Span;

use crate::circles::{Edge, edge, is_one_stage, is_parent_wait};
use crate::context::Context;

pub(crate) static RULE: Rule = Rule::new(
    "dependency-cycle",
    "components that wait for each other in a cycle",
    include_str!("dependency_cycle.rs"),
)
.explains(&[
    Explains::new(Symptom::Circle, 1),
    Explains::new(Symptom::DependencyNotReady, 2),
    Explains::new(Symptom::SourceNotFound, 2),
])
.may_be_brought();

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut seen: BTreeSet<BTreeSet<ComponentId>> = BTreeSet::new();
    let cycles =
        context.deadlocks().filter(|deadlock| !is_one_stage(context, deadlock) && !is_parent_wait(context, deadlock));
    cycles
        .filter(|deadlock| seen.insert(deadlock.components(&context.analysis.events).into_iter().collect()))
        .filter_map(|deadlock| finding(context, deadlock))
        .collect()
}

fn finding(context: &Context<'_>, deadlock: &Deadlock) -> Option<Finding> {
    let components = deadlock.components(&context.analysis.events);
    let first = context.component(*components.first()?);
    let member = |id: &ComponentId| (context.component(*id).role, context.component(*id).object.clone());
    let statement = match (components.as_slice(), deadlock.needs().next()) {
        ([only], Some(need)) => {
            let needed = context.cluster.needs[need].capability.clone();
            OrderFault::WaitsForItself { component: context.component(*only).object.clone(), needed }
        }
        _ => OrderFault::Circle { members: components.iter().map(member).collect() },
    };
    let edges = edges(context, deadlock);
    let fix = Fix::by_hand(advice(context, deadlock, &edges), Goal::Gone);
    let (note, doubt) = (note(&edges), doubt(context, deadlock));
    let mut places = places(edges).into_iter();
    let (primary, _) = places.next()?;
    let severity = if doubt.is_some() { Severity::Info } else { Severity::Error };
    let mut finding = Finding::new(&RULE, severity, &context.cluster.name, &first.object, statement, primary)
        .with_verdict(Verdict::Deadlocked)
        .with_consequence(Consequence::Deadlock)
        .with_cost(cost(context, deadlock))
        .with_fix(fix);
    finding.provider = components.get(1).map(|id| context.component(*id).object.clone());
    finding.subject = deadlock.needs().next().map(|need| context.cluster.needs[need].capability.clone().into());
    finding.evidence = places.map(|(Location { at, label }, role)| Evidence { role, at, label }).collect();
    finding.notes.extend(note);
    finding.notes.extend(doubt);
    Some(finding)
}

/// What else may make something that closes the cycle, before Flux starts or from another cluster: a comment beside the Namespace
/// names it, a script creates it, another cluster's Flux applies it here.
fn doubt(context: &Context<'_>, deadlock: &Deadlock) -> Option<Note> {
    let made = |kind| matches!(kind, CapabilityKind::Namespace | CapabilityKind::Secret | CapabilityKind::ConfigMap);
    let offers = || deadlock.offers().map(|offer| &context.cluster.offers[offer]);
    let mut namespaces = offers().filter(|offer| offer.capability.kind == CapabilityKind::Namespace);
    if let Some(maker) = namespaces.find_map(|offer| context.comment_beside(offer.at)) {
        return Some(Note::CommentNames { maker });
    }
    let needed = deadlock.needs().map(|need| &context.cluster.needs[need].capability);
    if let Some(file) = needed.filter(|it| made(it.kind)).find_map(|it| context.creation_in_text(it)) {
        return Some(Note::UnlessMadeBy { file });
    }
    let mut handed_over = offers().filter(|offer| made(offer.capability.kind));
    let directory = handed_over.find_map(|offer| context.handed_over(offer.at))?;
    Some(Note::UnlessHandedOver { directory })
}

/// Longer cycles are not tried edge by edge.
const TRIED_STEPS_MAX: usize = 64;

fn advice(context: &Context<'_>, deadlock: &Deadlock, edges: &[Edge]) -> Advice {
    let needs: Vec<&Need> = deadlock.needs().map(|need| &context.cluster.needs[need]).collect();
    // Whatever applies an object may bring its Namespace along: Flux applies those first.
    if let Some(need) = needs.iter().find(|need| need.capability.kind == CapabilityKind::Namespace) {
        let component = context.component(need.of).object.clone();
        return Advice::BringNamespace { component, namespace: need.capability.name.clone() };
    }
    let built_from = |need: &&&Need| {
        let is_made = matches!(need.capability.kind, CapabilityKind::Secret | CapabilityKind::ConfigMap);
        is_made && need.phase == Phase::Build
    };
    let declared: Vec<&Edge> = edges.iter().filter(|edge| edge.is_declared).collect();
    if let (Some(need), true) = (needs.iter().find(built_from), declared.is_empty()) {
        let component = context.component(need.of).object.clone();
        return Advice::BringBefore { component, needed: need.capability.clone() };
    }
    let events = &context.analysis.events;
    // Each is tried on the whole graph: in a long cycle there is choice enough without.
    let is_long = deadlock.steps.len() > TRIED_STEPS_MAX;
    let is_cut = |edge: &&&Edge| is_long || edge.tie.is_none_or(|tie| !deadlock.stands_without(events, tie));
    let removable: Vec<&Edge> = declared.iter().filter(is_cut).copied().collect();
    if removable.is_empty() && !declared.is_empty() {
        return PlainAdvice::RemoveMoreThanOne.into();
    }
    let places: Vec<Span> = removable.iter().map(|edge| edge.span).filter(|at| context.is_in_file(*at)).collect();
    match places.as_slice() {
        [only] if removable.len() == 1 && declared.len() > 1 => OrderAdvice::RemoveThis { place: *only }.into(),
        [only] if removable.len() == 1 => OrderAdvice::RemoveOnly { place: *only }.into(),
        [] if removable.is_empty() => {
            let place = |need: &&Need| {
                if context.is_in_file(need.at) { Site::File(need.at) } else { Site::Object(need.object.clone()) }
            };
            Advice::MoveNeeds { places: needs.iter().map(place).collect() }
        }
        [_, _, ..] if removable.len() < edges.len() => OrderAdvice::RemoveOneOf { places }.into(),
        _ => PlainAdvice::RemoveOneEdge.into(),
    }
}

/// What stays as it is, where there is a choice of what can be removed.
fn note(edges: &[Edge]) -> Option<Note> {
    let declared = edges.iter().filter(|edge| edge.is_declared).count();
    let is_mixed = declared > 1 && edges.iter().any(|edge| edge.role == EvidenceRole::Related);
    is_mixed.then_some(Note::CantRemoveApplying)
}

/// kustomize-controller sorts the Kustomizations of a source by `dependsOn` alone, and gives up where that has a circle.
fn cost(context: &Context<'_>, deadlock: &Deadlock) -> NeverCost {
    let is_declared = |because: Because| match because {
        Because::Life => true,
        Because::Tie(tie) => context.component(context.cluster.ties[tie].from).role == Role::Kustomization,
        _ => false,
    };
    if deadlock.steps.iter().all(|step| is_declared(step.because)) {
        NeverCost::ConvergesNorItsSource
    } else {
        NeverCost::Converges
    }
}

/// Every step of the circle in its order, from the first that is declared on.
fn edges(context: &Context<'_>, deadlock: &Deadlock) -> Vec<Edge> {
    let steps = &deadlock.steps;
    let start = steps.iter().position(|step| matches!(step.because, Because::Tie(_))).unwrap_or_default();
    let around = |index: usize| &steps[index % steps.len()];
    let edge = |index: usize| edge(context, around(index), around(index + 1));
    (start..start + steps.len()).filter_map(edge).collect()
}

/// The steps, each beside its line; those in a row about one line are one label.
fn places(edges: Vec<Edge>) -> Vec<(Location, EvidenceRole)> {
    let mut places: Vec<(Span, EvidenceRole, Vec<Hop>)> = Vec::new();
    for Edge { span, role, hop, .. } in edges {
        match places.last_mut().filter(|(last, _, _)| *last == span) {
            Some((_, _, hops)) => hops.push(hop),
            None => places.push((span, role, vec![hop])),
        }
    }
    places.into_iter().map(|(span, role, hops)| (Location::new(span, Label::Hops(hops)), role)).collect()
}
