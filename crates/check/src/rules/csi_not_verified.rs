//! ## What it finds
//!
//! A storage driver that Flux installs, where neither a step of the boot after Flux starts nor a gate in Flux checks that it
//! runs.
//!
//! ## Why it matters at a cold start
//!
//! A Kustomization without `wait` is Ready when the API server has accepted its objects. The boot reports success while the
//! driver's pods crash, and volumes are missing only when applications ask for them.
//!
//! ## Example
//!
//! ```yaml
//! kind: Kustomization
//! metadata:
//!   name: proxmox-csi
//! spec:
//!   wait: false
//! ```
//!
//! ## Fix
//!
//! Set `wait: true` on the Kustomization that applies the driver, or list its HelmRelease in `healthChecks`.

use std::collections::BTreeSet;

use diagnostic::{BootAdvice, BootCost, BootFault, EvidenceRole, Finding, Fix, Goal, Location, Remark, Rule, Severity};
use model::{Boot, CapabilityKind, ComponentId, Doing, Extent, Fact, Gate, StepId};

use crate::context::Context;

pub(crate) static RULE: Rule = Rule::new(
    "csi-not-verified",
    "neither the boot nor a gate in Flux checks that the storage driver runs",
    include_str!("csi_not_verified.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let boot = &context.cluster.facts.boot;
    let is_shown = boot
        .steps
        .iter()
        .flat_map(|step| &step.proves)
        .any(|proven| proven.fact == Fact::StorageRuns && proven.of > Extent::Unchecked);
    // Only where the way from the machines to Flux is known, the boot is known not to look.
    let makes_cluster = boot.steps.iter().any(|step| step.does == Doing::BootstrapsEtcd);
    let Some(start) = boot.starts().next().filter(|_| makes_cluster && !is_shown) else { return Vec::new() };
    let is_driver = |offer: &&model::Offer| offer.capability.kind == CapabilityKind::CsiDriver;
    let drivers: BTreeSet<ComponentId> = context
        .cluster
        .offers
        .iter()
        .filter(is_driver)
        .map(|offer| context.release(offer.by).unwrap_or(offer.by))
        .collect();
    let unseen = drivers.into_iter().filter(|driver| !is_early(context, *driver) && !is_gated(context, *driver));
    unseen.map(|driver| finding(context, boot, start, driver)).collect()
}

fn is_early(context: &Context<'_>, id: ComponentId) -> bool {
    context.component(id).role.is_bootstrap()
}

/// Whether something that applies it, or anything that names it, waits until it is healthy.
fn is_gated(context: &Context<'_>, driver: ComponentId) -> bool {
    let own = &context.component(driver).object;
    let names = |gate: &Gate| matches!(gate, Gate::Listed(objects) if objects.contains(own));
    let waits = |id: ComponentId| context.component(id).gate == Gate::Healthy;
    context.above(driver).skip(1).any(waits) || context.cluster.components.iter().any(|one| names(&one.gate))
}

fn finding(context: &Context<'_>, boot: &Boot, start: StepId, driver: ComponentId) -> Finding {
    let (step, component) = (boot.step(start), context.component(driver));
    let gated = context.component(context.applier(driver));
    let driver = component.object.clone();
    let statement = BootFault::StorageUnseen { start: step.object.clone(), driver: driver.clone() };
    let primary = Location::new(gated.gate_at, Remark::DoneWhenAccepted);
    let advice = BootAdvice::GateStorage { driver };
    Finding::new(&RULE, Severity::Info, &context.cluster.name, &component.object, statement, primary)
        .with_cost(BootCost::FoundByHand)
        .with_evidence(EvidenceRole::Related, step.at, Remark::GitOpsStartsHere)
        .with_fix(Fix::by_hand(advice, Goal::Gone))
}
