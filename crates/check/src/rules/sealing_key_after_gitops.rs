//! ## What it finds
//!
//! A boot that restores the sealing key, where that is not ordered before GitOps starts.
//!
//! ## Why it matters at a cold start
//!
//! The controller of sealed-secrets looks for keys when it starts. Where it finds none, it generates one, and opens nothing
//! that was sealed with the key that is restored afterwards until it is restarted.
//!
//! ## Example
//!
//! ```hcl
//! resource "kubernetes_secret" "sealing_key" {
//!   depends_on = [helm_release.cilium]
//! }
//! resource "flux_bootstrap_git" "this" {
//!   depends_on = [helm_release.cilium] # at the same time
//! }
//! ```
//!
//! ## Fix
//!
//! ```hcl
//! resource "flux_bootstrap_git" "this" {
//!   depends_on = [helm_release.cilium, kubernetes_secret.sealing_key]
//! }
//! ```

use diagnostic::{BootAdvice, BootCost, BootFault, EvidenceRole, Finding, Fix, Goal, Location, Remark, Rule, Severity};
use graph::Before;
use model::{Boot, CapabilityKind, Consequence, Doing, StepId};

use crate::context::Context;

pub(crate) static RULE: Rule = Rule::new(
    "sealing-key-after-gitops",
    "the sealing key is not restored before GitOps starts",
    include_str!("sealing_key_after_gitops.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let boot = &context.cluster.facts.boot;
    let is_sealed = context.cluster.needs.iter().any(|need| need.capability.kind == CapabilityKind::SealingKey);
    if !is_sealed {
        return Vec::new();
    }
    let keys = boot.ids().filter(|id| boot.step(*id).does == Doing::StoresSealingKey);
    keys.flat_map(|key| boot.starts().filter_map(move |start| finding(context, boot, key, start))).collect()
}

fn finding(context: &Context<'_>, boot: &Boot, key: StepId, start: StepId) -> Option<Finding> {
    if Before::new(boot, start).holds(key) {
        return None;
    }
    let is_after = Before::new(boot, key).holds(start);
    // What orders two runs may be a person.
    let are_of_one_run = boot.step(key).is_of_run(boot.step(start));
    if !is_after && !are_of_one_run {
        return None;
    }
    let severity = if is_after { Severity::Error } else { Severity::Warning };
    let (key, start) = (boot.step(key), boot.step(start));
    let (step, start_object) = (key.object.clone(), start.object.clone());
    let statement = BootFault::KeyAfterStart { step: step.clone(), start: start_object.clone(), is_after };
    let primary = Location { at: start.at.into(), label: Some(Remark::GitOpsStartsHere.into()) };
    let finding = Finding::new(&RULE, severity, &context.cluster.name, &key.object, statement, primary);
    Some(
        finding
            .with_consequence(Consequence::Terminal { certain: is_after })
            .with_cost(BootCost::OwnKey)
            .with_evidence(EvidenceRole::Offer, key.at, Remark::ComesOnlyHere)
            .with_fix(Fix::by_hand(BootAdvice::OrderBefore { step, start: start_object }, Goal::Gone)),
    )
}
