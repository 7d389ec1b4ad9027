//! ## What it finds
//!
//! A custom resource in the same Kustomization as the HelmRelease that brings its CRD; or, more generally, a component
//! whose apply needs something that can only come after that very apply.
//!
//! ## Why it matters at a cold start
//!
//! Flux dry-runs every object of a stage before it applies any. The custom resource fails the dry run (`no matches for
//! kind`), so the HelmRelease is not applied, so the CRD never comes. It is no race: it never converges. On the running
//! cluster it works, because the CRD is there from the day the two were added one after the other.
//!
//! ## Example
//!
//! ```yaml
//! # one directory: helmrelease.yaml (chart: cloudnative-pg) and
//! apiVersion: postgresql.cnpg.io/v1
//! kind: Cluster
//! ```
//!
//! ## Fix
//!
//! Move the custom resource to a Kustomization of its own that depends on this one, with `wait: true` here. Or have the
//! CRDs installed earlier.

use graph::{Consequence, Deadlock, Verdict};
use model::{CapabilityKind, ComponentId, Gate};

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::words::quoted;

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for deadlock in context.analysis.deadlocks.iter().filter(|deadlock| is_one_stage(context, deadlock)) {
        let finding = finding(context, deadlock);
        // Ten resources of one kind beside one operator are one mistake.
        if !findings.iter().any(|known| known.component == finding.component && known.provider == finding.provider) {
            findings.push(finding);
        }
    }
    findings
}

/// A need on a CRD that comes out of what needs it, and no declared tie: containment alone closes the circle.
pub(crate) fn is_one_stage(context: &Context<'_>, deadlock: &Deadlock) -> bool {
    let mut needs = deadlock.needs();
    let (Some(need), None) = (needs.next(), needs.next()) else { return false };
    deadlock.ties().next().is_none() && context.cluster.needs[need].capability.kind == CapabilityKind::Crd
}

/// The Kustomization that a new one is to wait for: that which holds the provider, so that what applies both is not waited for.
fn awaited(context: &Context<'_>, provider: ComponentId, of: ComponentId) -> String {
    let holder = context.applier(provider);
    if holder == of && context.component(of).parent.is_none_or(|parent| parent == of) {
        // It would apply the new one itself, and wait for it for ever.
        return format!(
            "a second new one, with `wait: true`, which takes {} along",
            context.component(provider).object
        );
    }
    if holder == of {
        return "this one, and set `wait: true` here".to_owned();
    }
    let gate = match context.component(holder).gate {
        Gate::Healthy | Gate::Listed(_) => "",
        Gate::Applied | Gate::LooksHealthy(_) => ", and set `wait: true` there",
    };
    format!("{}{gate}", quoted(context.component(holder)))
}

fn finding(context: &Context<'_>, deadlock: &Deadlock) -> Finding {
    let need = deadlock.needs().next().unwrap_or_default();
    let judged = &context.analysis.judged[need];
    let need = &context.cluster.needs[need];
    let component = context.component(need.of);
    let offer = judged.offer.map(|offer| &context.cluster.offers[offer]);
    let file = |span: yaml::Span| context.file_name(span);
    let mut locations =
        vec![Location { span: need.at, role: LocationRole::Primary, label: format!("needs {} ...", need.capability) }];
    if let Some(offer) = offer {
        let by = context.component(offer.by);
        locations.push(Location {
            span: offer.at,
            role: LocationRole::Offer,
            label: format!(
                "... which this {}, {}, would install: one failed dry run stops both",
                by.role.noun(),
                if by.parent == Some(need.of) {
                    "in the same Kustomization"
                } else {
                    "applied by way of the same Kustomization"
                },
            ),
        });
    }
    Finding {
        rule: "single-stage-deadlock",
        severity: Severity::Error,
        message: format!("{} can never be applied", quoted(component)),
        cluster: context.cluster.name.clone(),
        component: component.object.clone(),
        provider: offer.map(|offer| context.component(offer.by).object.clone()),
        capability: Some(need.capability.to_string()),
        verdict: Some(Verdict::Deadlocked),
        consequence: Some(Consequence::Deadlock),
        cost: "never converges".to_owned(),
        locations,
        fix: Some(format!(
            "move {} to a Kustomization of its own that depends on {}",
            file(need.at).unwrap_or_else(|| need.object.to_string()),
            offer.map_or_else(|| "what brings it".to_owned(), |offer| awaited(context, offer.by, need.of))
        )),
        notes: Vec::new(),
        also: Vec::new(),
        each: Vec::new(),
    }
}
