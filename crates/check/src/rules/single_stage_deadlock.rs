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

use std::collections::BTreeSet;

use graph::{Consequence, Deadlock, Judged, Verdict};
use model::{CapabilityKind, ComponentId, Gate, Need, Phase};

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::words::{listed, quoted};

/// Kinds and files that a fix names.
const SHOWN_MAX: usize = 4;

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
    let (name, place) =
        if holder == of { ("this one".to_owned(), "here") } else { (quoted(context.component(holder)), "there") };
    match context.component(holder).gate {
        Gate::Healthy | Gate::Listed(_) => name,
        Gate::Applied | Gate::LooksHealthy(_) => format!("{name}, and set `wait: true` {place}"),
    }
}

/// What is to move: whatever of a component is of a kind that the same provider brings is refused with it.
fn moved(context: &Context<'_>, of: ComponentId, by: Option<ComponentId>) -> String {
    let is_beside = |judged: &&Judged| {
        let need = context.need(judged);
        let is_crd = need.capability.kind == CapabilityKind::Crd && need.phase == Phase::Apply;
        is_crd && need.of == of && judged.offer.map(|offer| context.cluster.offers[offer].by) == by
    };
    let needs: Vec<&Need> = context.judged().filter(is_beside).map(|judged| context.need(judged)).collect();
    let kinds: BTreeSet<String> = needs.iter().map(|need| need.object.kind.to_string()).collect();
    let paths: BTreeSet<&str> = needs.iter().filter_map(|need| context.path(need.at)).collect();
    let names: BTreeSet<String> = needs.iter().filter_map(|need| context.file_name(need.at)).collect();
    // Where files of several directories have the same name, only the path tells them apart.
    let files: Vec<String> = if names.len() == paths.len() {
        names.into_iter().collect()
    } else {
        paths.into_iter().map(str::to_owned).collect()
    };
    let is_checked = match &context.component(of).gate {
        Gate::Listed(objects) => objects.iter().any(|object| kinds.contains(object.kind.as_str())),
        _ => false,
    };
    let checks = if is_checked { ", with its health checks," } else { "" };
    // One file is known for each kind; there may be more of the same.
    let kinds: Vec<String> = kinds.into_iter().collect();
    format!("every {} (first in {}){checks}", listed(&kinds, SHOWN_MAX), listed(&files, SHOWN_MAX))
}

fn finding(context: &Context<'_>, deadlock: &Deadlock) -> Finding {
    let need = deadlock.needs().next().unwrap_or_default();
    let judged = &context.analysis.judged[need];
    let need = &context.cluster.needs[need];
    let component = context.component(need.of);
    let offer = judged.offer.map(|offer| &context.cluster.offers[offer]);
    let by = offer.map(|offer| offer.by);
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
            moved(context, need.of, by),
            by.map_or_else(|| "what brings it".to_owned(), |by| awaited(context, by, need.of))
        )),
        notes: Vec::new(),
        also: Vec::new(),
        each: Vec::new(),
    }
}
