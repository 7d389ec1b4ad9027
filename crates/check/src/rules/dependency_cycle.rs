//! ## What it finds
//!
//! Components that wait for each other in a cycle. This includes cycles that appear only when different kinds of
//! dependency are combined: a Kustomization waits for another, whose HelmRelease waits for a HelmRelease of the first;
//! a Kustomization with `wait: true` holds releases whose HelmRepository comes from one that depends on it; a
//! Kustomization puts objects into a Namespace that only a Kustomization that waits for it creates, or only a release
//! in that same Namespace.
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
//! Remove one of the declared dependencies, the one that matters least. That a Kustomization applies an object can't be
//! removed: where nothing in the cycle is declared, move the object that needs what comes later into a Kustomization of
//! its own. Create a Namespace in the Kustomization that first puts something into it.

use std::collections::BTreeSet;

use diagnostic::{
    Advice, Deed, Evidence, EvidenceRole, Explains, Finding, Fix, Goal, Hop, Label, Location, NeverCost, Note,
    OrderAdvice, OrderFault, PlainAdvice, Rule, Severity, Site, Symptom,
};
use graph::{Because, Deadlock, Step};
use model::{
    CapabilityKind, ComponentId, Consequence, Gate, Need, ObjectRef, Offer, Role, Tie, TieTarget, Verdict, WaitsFor,
};
use source::Span;

use crate::circles::{is_one_stage, is_parent_wait};
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
]);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut seen: BTreeSet<BTreeSet<ComponentId>> = BTreeSet::new();
    let cycles = context
        .analysis
        .deadlocks
        .iter()
        .filter(|deadlock| !is_one_stage(context, deadlock) && !is_parent_wait(context, deadlock));
    cycles
        .filter(|deadlock| seen.insert(deadlock.components(&context.analysis.events).into_iter().collect()))
        .filter_map(|deadlock| finding(context, deadlock))
        .collect()
}

fn finding(context: &Context<'_>, deadlock: &Deadlock) -> Option<Finding> {
    let components = deadlock.components(&context.analysis.events);
    let first = context.component(*components.first()?);
    let member = |id: &ComponentId| (context.component(*id).role, context.component(*id).object.clone());
    let statement = OrderFault::Circle { members: components.iter().map(member).collect() };
    let edges = edges(context, deadlock);
    let fix = Fix::by_hand(advice(context, deadlock, &edges), Goal::Gone);
    let note = note(&edges);
    let mut places = places(edges).into_iter();
    let (primary, _) = places.next()?;
    let mut finding = Finding::new(&RULE, Severity::Error, &context.cluster.name, &first.object, statement, primary)
        .with_verdict(Verdict::Deadlocked)
        .with_consequence(Consequence::Deadlock)
        .with_cost(cost(context, deadlock))
        .with_fix(fix);
    finding.provider = components.get(1).map(|id| context.component(*id).object.clone());
    finding.subject = deadlock.needs().next().map(|need| context.cluster.needs[need].capability.clone().into());
    finding.evidence = places.map(|(Location { at, label }, role)| Evidence { role, at, label }).collect();
    finding.notes.extend(note);
    Some(finding)
}

fn advice(context: &Context<'_>, deadlock: &Deadlock, edges: &[Edge]) -> Advice {
    let needs: Vec<&Need> = deadlock.needs().map(|need| &context.cluster.needs[need]).collect();
    // Whatever applies an object may bring its Namespace along: Flux applies those first.
    if let Some(need) = needs.iter().find(|need| need.capability.kind == CapabilityKind::Namespace) {
        let component = context.component(need.of).object.clone();
        return Advice::BringNamespace { component, namespace: need.capability.name.clone() };
    }
    let removable: Vec<&Edge> = edges.iter().filter(|edge| edge.is_declared).collect();
    let places: Vec<Span> = removable.iter().map(|edge| edge.span).filter(|at| context.is_in_file(*at)).collect();
    match places.as_slice() {
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

/// One step of the circle, from one component to the next, and where it is written.
struct Edge {
    span: Span,
    role: EvidenceRole,
    hop: Hop,
    /// A person wrote this very order down, and can take it away again.
    is_declared: bool,
}

/// Every step of the circle in its order, from the first that is declared on.
fn edges(context: &Context<'_>, deadlock: &Deadlock) -> Vec<Edge> {
    let events = &context.analysis.events;
    let component = |step: &Step| events.component_of(step.event).map(|(id, _)| id);
    let steps = &deadlock.steps;
    let start = steps.iter().position(|step| matches!(step.because, Because::Tie(_))).unwrap_or_default();
    let around = |index: usize| &steps[index % steps.len()];
    let edge = |index: usize| match around(index).because {
        Because::Life => None,
        Because::Tie(tie) => tied(context, &context.cluster.ties[tie]),
        Because::Need(need) => Some(needed(context, &context.cluster.needs[need])),
        Because::Offer(offer) => Some(offered(context, &context.cluster.offers[offer])),
        Because::Parent => Some(applied(context, component(around(index))?, component(around(index + 1))?)),
        Because::Gate => Some(waited_for(context, component(around(index))?, component(around(index + 1))?)),
    };
    (start..start + steps.len()).filter_map(edge).collect()
}

fn object(context: &Context<'_>, id: ComponentId) -> ObjectRef {
    context.component(id).object.clone()
}

fn tied(context: &Context<'_>, tie: &Tie) -> Option<Edge> {
    let TieTarget::Component(to) = tie.to else { return None };
    let target = object(context, to);
    let does = match (tie.waits_for, context.component(to).parent) {
        (WaitsFor::Exists, Some(parent)) => Deed::WaitsUntilExists { target, applied_by: object(context, parent) },
        _ => Deed::WaitsFor { target },
    };
    let hop = Hop { component: object(context, tie.from), does };
    Some(Edge { span: tie.at, role: EvidenceRole::Order, hop, is_declared: true })
}

fn needed(context: &Context<'_>, need: &Need) -> Edge {
    let does = Deed::Needs { needed: need.capability.clone(), purpose: need.why.clone() };
    let hop = Hop { component: object(context, need.of), does };
    Edge { span: need.at, role: EvidenceRole::Need, hop, is_declared: false }
}

fn offered(context: &Context<'_>, offer: &Offer) -> Edge {
    let does = Deed::Brings { brought: offer.capability.clone() };
    let hop = Hop { component: object(context, offer.by), does };
    Edge { span: offer.at, role: EvidenceRole::Offer, hop, is_declared: false }
}

fn applied(context: &Context<'_>, child: ComponentId, parent: ComponentId) -> Edge {
    let does = Deed::IsApplied { by: object(context, parent) };
    let hop = Hop { component: object(context, child), does };
    Edge { span: context.component(child).at, role: EvidenceRole::Related, hop, is_declared: false }
}

/// A gate waits for all that its component applies, or for what its list names, which may be anywhere.
fn waited_for(context: &Context<'_>, gated: ComponentId, other: ComponentId) -> Edge {
    let component = context.component(gated);
    let awaited = object(context, other);
    let is_listed = matches!(component.gate, Gate::Listed(_));
    let does =
        if is_listed { Deed::WaitsForListed { object: awaited } } else { Deed::WaitsForApplied { object: awaited } };
    let is_declared = is_listed && !context.is_nested(gated, other);
    let role = if is_declared { EvidenceRole::Order } else { EvidenceRole::Related };
    Edge { span: component.gate_at, role, hop: Hop { component: component.object.clone(), does }, is_declared }
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
