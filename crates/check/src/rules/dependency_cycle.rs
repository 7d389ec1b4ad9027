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
//! Remove one of the edges, the one whose need is softest. A Namespace belongs to whoever first puts something into it.

use std::collections::BTreeSet;

use graph::{Because, Consequence, Deadlock, Verdict};
use model::{CapabilityKind, Component, ComponentId, Role, TieTarget};

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
    let locations = locations(context, deadlock);
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
        locations,
        fix: Some(fix(context, deadlock)),
        notes: Vec::new(),
        also: Vec::new(),
        each: Vec::new(),
    })
}

/// Whoever applies an object may bring its Namespace along: Flux applies those first.
fn fix(context: &Context<'_>, deadlock: &Deadlock) -> String {
    let needs = deadlock.needs().map(|need| &context.cluster.needs[need]);
    let mut namespaces = needs.filter(|need| need.capability.kind == CapabilityKind::Namespace);
    match namespaces.next() {
        Some(need) => {
            let component = &context.component(need.of).object;
            format!("let {component} bring Namespace `{}` itself, or somebody that it waits for", need.capability.name)
        }
        None => "remove one of these edges".to_owned(),
    }
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

fn locations(context: &Context<'_>, deadlock: &Deadlock) -> Vec<Location> {
    let mut locations = Vec::new();
    for tie in deadlock.ties().map(|tie| &context.cluster.ties[tie]) {
        let TieTarget::Component(to) = tie.to else { continue };
        let label =
            format!("{} waits for {}", context.component(tie.from).object.path(), context.component(to).object.path());
        locations.push(Location { span: tie.at, role: LocationRole::Order, label });
    }
    for need in deadlock.needs().map(|need| &context.cluster.needs[need]) {
        let label = format!("{} needs {} {}", context.component(need.of).object.path(), need.capability, need.why);
        locations.push(Location { span: need.at, role: LocationRole::Need, label });
    }
    for offer in deadlock.offers().map(|offer| &context.cluster.offers[offer]) {
        let label = format!("only {} brings {}", context.component(offer.by).object, offer.capability);
        locations.push(Location { span: offer.at, role: LocationRole::Offer, label });
    }
    if let Some(first) = locations.first_mut() {
        first.role = LocationRole::Primary;
    }
    locations
}
