//! ## What it finds
//!
//! Components that wait for each other in a circle. Also circles that appear only when the edges of different kinds are
//! put together: a Kustomization waits for another, whose HelmRelease waits for a HelmRelease of the first; a
//! Kustomization that waits holds releases whose HelmRepository comes from one that depends on it; a Kustomization puts
//! objects into a Namespace that only one which waits for it brings, or only a release which stands in that Namespace itself.
//!
//! ## Why it matters at a cold start
//!
//! None of them ever starts. And as long as `dependsOn` between Kustomizations has a circle, no Kustomization of the same
//! source reacts to a new revision any more: the rest of the cluster falls back to its intervals.
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
//! Remove one of the declared edges, the one whose need is softest. Who applies whom is no edge that can be removed: where
//! nothing in the circle is declared, an object that needs what comes later goes into a Kustomization of its own. A
//! Namespace belongs to whoever first puts something into it.

use std::collections::BTreeSet;

use graph::{Because, Consequence, Deadlock, Step, Verdict};
use model::{CapabilityKind, Component, ComponentId, Gate, Need, Offer, Role, Tie, TieTarget, WaitsFor};
use yaml::Span;

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::rules::{parent_wait_deadlock::is_parent_wait, single_stage_deadlock::is_one_stage};
use crate::words::quoted;

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
    let mut names: Vec<String> = components.iter().map(|id| named(context.component(*id))).collect();
    names.push(names[0].clone());
    let hops = hops(context, deadlock);
    Some(Finding {
        rule: "dependency-cycle",
        severity: Severity::Error,
        message: format!("nothing of this circle ever starts: {}", names.join(" → ")),
        cluster: context.cluster.name.clone(),
        component: first.object.clone(),
        provider: components.get(1).map(|id| context.component(*id).object.clone()),
        capability: deadlock.needs().next().map(|need| context.cluster.needs[need].capability.to_string()),
        verdict: Some(Verdict::Deadlocked),
        consequence: Some(Consequence::Deadlock),
        cost: cost(context, deadlock).to_owned(),
        fix: Some(fix(context, deadlock, &hops)),
        notes: note(&hops).into_iter().collect(),
        locations: locations(hops),
        also: Vec::new(),
        each: Vec::new(),
    })
}

fn fix(context: &Context<'_>, deadlock: &Deadlock, hops: &[Hop]) -> String {
    let needs: Vec<&Need> = deadlock.needs().map(|need| &context.cluster.needs[need]).collect();
    // Whoever applies an object may bring its Namespace along: Flux applies those first.
    if let Some(need) = needs.iter().find(|need| need.capability.kind == CapabilityKind::Namespace) {
        let component = &context.component(need.of).object;
        return format!(
            "let {component} bring Namespace `{}` itself, or somebody that it waits for",
            need.capability.name
        );
    }
    let removable: Vec<&Hop> = hops.iter().filter(|hop| hop.is_declared).collect();
    let places: Vec<String> = removable.iter().filter_map(|hop| context.line(hop.span)).collect();
    match places.as_slice() {
        [only] if removable.len() == 1 => {
            format!("remove the dependency in {only}, the only one of these edges that can be removed")
        }
        [] if removable.is_empty() => move_a_need(context, &needs),
        [_, _, ..] if removable.len() < hops.len() => format!("remove one of these edges: {}", places.join(" or ")),
        _ => "remove one of these edges".to_owned(),
    }
}

/// Where nobody declared any of it, an object has to go elsewhere.
fn move_a_need(context: &Context<'_>, needs: &[&Need]) -> String {
    let mut files: Vec<String> =
        needs.iter().map(|need| context.line(need.at).unwrap_or_else(|| need.object.to_string())).collect();
    files.dedup();
    format!(
        "move one of the objects in need to a Kustomization of its own that depends on what brings it: {}",
        files.join(" or ")
    )
}

/// What stays as it is, where there is a choice of what can be removed.
fn note(hops: &[Hop]) -> Option<String> {
    let declared = hops.iter().filter(|hop| hop.is_declared).count();
    let is_mixed = declared > 1 && hops.iter().any(|hop| hop.role == LocationRole::Related);
    is_mixed.then(|| "who applies whom is no edge that can be removed".to_owned())
}

/// kustomize-controller sorts the Kustomizations of a source by `dependsOn` alone, and gives up where that has a circle.
fn cost(context: &Context<'_>, deadlock: &Deadlock) -> &'static str {
    let is_declared = |because: Because| match because {
        Because::Life => true,
        Because::Tie(tie) => context.component(context.cluster.ties[tie].from).role == Role::Kustomization,
        _ => false,
    };
    if deadlock.steps.iter().all(|step| is_declared(step.because)) {
        "never converges; and no Kustomization of this source reacts to new revisions any more"
    } else {
        "never converges"
    }
}

/// Releases are named as such: they often share their Kustomization's name.
fn named(component: &Component) -> String {
    match component.role {
        Role::HelmRelease => format!("HelmRelease {}", quoted(component)),
        _ => quoted(component),
    }
}

/// One step of the circle, from one component to the next.
struct Hop {
    from: ComponentId,
    span: Span,
    role: LocationRole,
    /// Who it is that waits, needs, brings or is applied, and what there is to say of it.
    subject: String,
    says: String,
    /// Somebody wrote this very order down, and can take it away again.
    is_declared: bool,
}

/// Every step of the circle in its order, from the first that is declared on.
fn hops(context: &Context<'_>, deadlock: &Deadlock) -> Vec<Hop> {
    let events = &context.analysis.events;
    let component = |step: &Step| events.component_of(step.event).map(|(id, _)| id);
    let steps = &deadlock.steps;
    let start = steps.iter().position(|step| matches!(step.because, Because::Tie(_))).unwrap_or_default();
    let around = |index: usize| &steps[index % steps.len()];
    let hop = |index: usize| match around(index).because {
        Because::Life => None,
        Because::Tie(tie) => tied(context, &context.cluster.ties[tie]),
        Because::Need(need) => Some(needed(context, &context.cluster.needs[need])),
        Because::Offer(offer) => Some(offered(context, &context.cluster.offers[offer])),
        Because::Parent => Some(applied(context, component(around(index))?, component(around(index + 1))?)),
        Because::Gate => Some(waited_for(context, component(around(index))?, component(around(index + 1))?)),
    };
    (start..start + steps.len()).filter_map(hop).collect()
}

fn path(context: &Context<'_>, id: ComponentId) -> String {
    context.component(id).object.path()
}

fn tied(context: &Context<'_>, tie: &Tie) -> Option<Hop> {
    let TieTarget::Component(to) = tie.to else { return None };
    let target = path(context, to);
    let says = match (tie.waits_for, context.component(to).parent) {
        (WaitsFor::Exists, Some(parent)) => {
            format!("waits until {target} exists, which {} applies", path(context, parent))
        }
        _ => format!("waits for {target}"),
    };
    let subject = path(context, tie.from);
    Some(Hop { from: tie.from, span: tie.at, role: LocationRole::Order, subject, says, is_declared: true })
}

fn needed(context: &Context<'_>, need: &Need) -> Hop {
    let (subject, says) = (path(context, need.of), format!("needs {} {}", need.capability, need.why));
    Hop { from: need.of, span: need.at, role: LocationRole::Need, subject, says, is_declared: false }
}

fn offered(context: &Context<'_>, offer: &Offer) -> Hop {
    let subject = format!("only {}", context.component(offer.by).object);
    let says = format!("brings {}", offer.capability);
    Hop { from: offer.by, span: offer.at, role: LocationRole::Offer, subject, says, is_declared: false }
}

fn applied(context: &Context<'_>, child: ComponentId, parent: ComponentId) -> Hop {
    let component = context.component(child);
    let (subject, says) = (component.object.to_string(), format!("is applied by {}", path(context, parent)));
    Hop { from: child, span: component.at, role: LocationRole::Related, subject, says, is_declared: false }
}

/// A gate waits for all that its component applies, or for what its list names, which may be anywhere.
fn waited_for(context: &Context<'_>, gated: ComponentId, other: ComponentId) -> Hop {
    let component = context.component(gated);
    let awaited = &context.component(other).object;
    let is_listed = matches!(component.gate, Gate::Listed(_));
    let says = if is_listed {
        format!("waits for {awaited} by its `healthChecks`")
    } else {
        format!("waits for all that it applies, and so for {awaited}")
    };
    let is_declared = is_listed && !context.is_nested(gated, other);
    let role = if is_declared { LocationRole::Order } else { LocationRole::Related };
    Hop { from: gated, span: component.gate_at, role, subject: path(context, gated), says, is_declared }
}

/// What the hops say, each beside its line; two in a row about one line are one sentence.
fn locations(hops: Vec<Hop>) -> Vec<Location> {
    let mut locations: Vec<Location> = Vec::new();
    let mut before = None;
    for Hop { from, span, role, subject, says, .. } in hops {
        match locations.last_mut().filter(|last| last.span == span) {
            Some(last) if before == Some(from) => last.label = format!("{}, and {says}", last.label),
            Some(last) => last.label = format!("{}, and {subject} {says}", last.label),
            None => locations.push(Location { span, role, label: format!("{subject} {says}") }),
        }
        before = Some(from);
    }
    if let Some(first) = locations.first_mut() {
        first.role = LocationRole::Primary;
    }
    locations
}
