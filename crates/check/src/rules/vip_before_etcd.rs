//! ## What it finds
//!
//! A step that configures machines or bootstraps etcd through the address that the control planes share.
//!
//! ## Why it matters at a cold start
//!
//! Talos gives that address to a control plane by an election in etcd: before etcd runs, nothing answers there. Talos
//! retries for ten minutes and gives up. The Talos API is never reached there: it may lead to
//! another machine.
//!
//! ## Example
//!
//! ```hcl
//! resource "talos_machine_bootstrap" "this" {
//!   endpoint = var.cluster_vip
//! }
//! ```
//!
//! ## Fix
//!
//! The address of a control plane:
//!
//! ```hcl
//!   endpoint = local.control_planes[0].ip
//! ```

use diagnostic::{BootAdvice, BootCost, BootFault, Finding, Fix, Goal, Location, Rule, Severity};
use graph::Before;
use model::{Boot, Consequence, Doing, StepId};

use crate::context::Context;

pub(crate) static RULE: Rule = Rule::new(
    "vip-before-etcd",
    "a step connects to the shared address before etcd runs",
    include_str!("vip_before_etcd.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let boot = &context.cluster.facts.boot;
    let Some(address) = &boot.virtual_address else { return Vec::new() };
    let reaches = |id: &StepId| {
        let step = boot.step(*id);
        matches!(step.does, Doing::ConfiguresMachines | Doing::BootstrapsEtcd) && step.reaches.as_ref() == Some(address)
    };
    boot.ids().filter(reaches).filter(|id| is_early(boot, *id)).map(|id| finding(context, boot, id)).collect()
}

/// Whether etcd does not run yet.
fn is_early(boot: &Boot, id: StepId) -> bool {
    !Before::new(boot, id).steps().any(|(_, step)| step.does == Doing::BootstrapsEtcd)
}

fn finding(context: &Context<'_>, boot: &Boot, id: StepId) -> Finding {
    let step = boot.step(id);
    let address = step.reaches.clone().unwrap_or_default();
    let statement = BootFault::ReachesTooEarly { step: step.object.clone(), address: address.clone() };
    let primary = Location { at: step.at.into(), label: None };
    Finding::new(&RULE, Severity::Error, &context.cluster.name, &step.object, statement, primary)
        .with_consequence(Consequence::Terminal { certain: true })
        .with_cost(BootCost::NeverEnds)
        .with_fix(Fix::by_hand(BootAdvice::UseOwnAddress { address }, Goal::Gone))
}
