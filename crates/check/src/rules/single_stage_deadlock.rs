//! ## What it finds
//!
//! A custom resource in the same Kustomization as the HelmRelease that installs its CRD; or, more generally, a
//! component whose apply needs something that only exists after that same apply.
//!
//! ## Why it matters at a cold start
//!
//! Flux dry-runs every object of a stage before it applies any. The custom resource fails the dry run
//! (`no matches for kind`), so the HelmRelease is not applied, so the CRD is never installed. It is not a race: it
//! never converges. On a running cluster it works, because the two were added one after the other and the CRD exists
//! since then.
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
//! Move the custom resource to a Kustomization of its own that depends on this one, with `wait: true` here. Or install
//! the CRDs earlier.

use std::collections::BTreeSet;

use diagnostic::{
    Advice, Awaited, EvidenceRole, Explains, Finding, Fix, Goal, InstallFault, Label, Location, Moved, NeverCost, Rule,
    Severity, Subject, Symptom,
};
use ecow::EcoString;
use graph::{Deadlock, Judged};
use model::{CapabilityKind, ComponentId, Consequence, Gate, Need, Phase, Verdict};

use crate::circles::is_one_stage;
use crate::context::Context;

pub(crate) static RULE: Rule = Rule::new(
    "single-stage-deadlock",
    "a custom resource applied together with what installs its CRD",
    include_str!("single_stage_deadlock.rs"),
)
.explains(&[Explains::new(Symptom::Circle, 3), Explains::new(Symptom::UnknownKind, 1)])
.may_be_brought();

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for deadlock in context.deadlocks().filter(|deadlock| is_one_stage(context, deadlock)) {
        let finding = finding(context, deadlock);
        // Ten resources of one kind beside one operator are one mistake.
        if !findings.iter().any(|known| known.component == finding.component && known.provider == finding.provider) {
            findings.push(finding);
        }
    }
    findings
}

/// The Kustomization that a new one is to wait for: that which holds the provider, so that what applies both is not waited for.
fn awaited(context: &Context<'_>, provider: ComponentId, of: ComponentId, kinds: &BTreeSet<EcoString>) -> Awaited {
    let holder = context.applier(provider);
    let applies_new_one = || context.component(of).parent.is_none_or(|parent| parent == of);
    if holder == of && (applies_new_one() || stays_in_need(context, of, provider, kinds)) {
        // It would wait for ever: for the new one that it applies itself, or for what the new one brings.
        return Awaited::NewOne { provider: context.component(provider).object.clone() };
    }
    let needs_wait = match context.component(holder).gate {
        Gate::Healthy | Gate::Listed(_) => false,
        Gate::Applied | Gate::LooksHealthy(_) => true,
    };
    if holder == of {
        Awaited::This { needs_wait }
    } else {
        Awaited::Other { holder: context.component(holder).object.clone(), needs_wait }
    }
}

/// Whether something that a component applies besides is not ready without what objects of these kinds make.
fn stays_in_need(context: &Context<'_>, of: ComponentId, provider: ComponentId, kinds: &BTreeSet<EcoString>) -> bool {
    context.judged().any(|judged| {
        let (need, offer) = (context.need(judged), judged.offer.map(|offer| &context.cluster.offers[offer]));
        let is_left = need.of != of && need.of != provider && context.above(need.of).any(|at| at == of);
        let is_hard = matches!(need.phase, Phase::Build | Phase::Ready) && !need.optional && !need.soft;
        is_left && is_hard && offer.is_some_and(|offer| offer.by == of && kinds.contains(&offer.object.kind))
    })
}

/// What is to move: whatever of a component is of a kind that the same provider brings is refused with it.
fn moved(context: &Context<'_>, of: ComponentId, by: Option<ComponentId>) -> Moved {
    let is_beside = |judged: &&Judged| {
        let need = context.need(judged);
        let is_crd = need.capability.kind == CapabilityKind::Crd && need.phase == Phase::Apply;
        let is_met = matches!(judged.verdict, Verdict::Guaranteed | Verdict::BootstrapOnly);
        let mut offers = context.analysis.links.offers_for(judged.need).iter();
        is_crd && need.of == of && !is_met && offers.any(|offer| Some(context.cluster.offers[*offer].by) == by)
    };
    let needs: Vec<&Need> = context.judged().filter(is_beside).map(|judged| context.need(judged)).collect();
    let kinds: BTreeSet<EcoString> = needs.iter().map(|need| need.object.kind.clone()).collect();
    let with_checks = match &context.component(of).gate {
        Gate::Listed(objects) => objects.iter().any(|object| kinds.contains(&object.kind)),
        _ => false,
    };
    let awaited = by.map_or(Awaited::Provider, |by| awaited(context, by, of, &kinds));
    let places = needs.iter().map(|need| need.at).collect();
    Moved { kinds: kinds.into_iter().collect(), places, with_checks, awaited }
}

fn finding(context: &Context<'_>, deadlock: &Deadlock) -> Finding {
    let need = &context.cluster.needs[deadlock.needs().next().unwrap_or_default()];
    let component = &context.component(need.of).object;
    let offer = deadlock.offers().next().map(|offer| &context.cluster.offers[offer]);
    let statement = InstallFault::NeverApplied {
        component: component.clone(),
        kind: need.object.kind.clone(),
        installer: offer.map(|offer| context.component(offer.by).object.clone()),
    };
    let primary = Location::new(need.at, Label::NeedsWhich { needed: need.capability.clone() });
    let subject = Subject::from(need.capability.clone());
    let goal = Goal::Guaranteed { component: component.clone(), subject: subject.clone() };
    let advice = Advice::MoveResources(moved(context, need.of, offer.map(|offer| offer.by)));
    let mut finding = Finding::new(&RULE, Severity::Error, &context.cluster.name, component, statement, primary)
        .with_subject(subject)
        .with_verdict(Verdict::Deadlocked)
        .with_consequence(Consequence::Deadlock)
        .with_cost(NeverCost::Converges)
        .with_fix(Fix::by_hand(advice, goal));
    if let Some(offer) = offer {
        let by = context.component(offer.by);
        let label = Label::WouldInstall { role: by.role, is_beside: by.parent == Some(need.of) };
        finding = finding.with_provider(&by.object).with_evidence(EvidenceRole::Offer, offer.at, label);
    }
    finding
}
