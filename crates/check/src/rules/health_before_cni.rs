//! ## What it finds
//!
//! A step of the boot that waits for Ready nodes, or for all of Kubernetes to be healthy, before the pod network is
//! installed, on machines that come without one (`cni: none`).
//!
//! ## Why it matters at a cold start
//!
//! A node is Ready only once an agent has set up its network. The step waits for what only a later step brings, until its
//! time is up, and the boot stops there.
//!
//! ## Example
//!
//! ```hcl
//! data "talos_cluster_health" "this" {}
//! resource "helm_release" "cilium" {
//!   depends_on = [data.talos_cluster_health.this]
//! }
//! ```
//!
//! ## Fix
//!
//! Install the network first, or check without Kubernetes (`skip_kubernetes_checks = true`), or wait for nodes to join
//! (`kubectl wait --for=condition=Ready=False`).

use diagnostic::{BootAdvice, BootCost, BootFault, EvidenceRole, Finding, Fix, Goal, Location, Remark, Rule, Severity};
use graph::Before;
use model::{Boot, Consequence, Fact, StepId};

use crate::context::Context;

pub(crate) static RULE: Rule = Rule::new(
    "health-before-cni",
    "a step waits for Ready nodes before the pod network is installed",
    include_str!("health_before_cni.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let boot = &context.cluster.facts.boot;
    if !boot.lacks_network {
        return Vec::new();
    }
    let waits = |id: &StepId| boot.step(*id).awaits.contains(&Fact::NodesReady);
    boot.ids().filter(waits).filter_map(|id| finding(context, boot, id)).collect()
}

fn finding(context: &Context<'_>, boot: &Boot, id: StepId) -> Option<Finding> {
    let step = boot.step(id);
    if Before::new(boot, id).has_network() {
        return None;
    }
    // What nothing here installs may be installed by what is not read; what comes later is not there yet.
    let network =
        boot.ids().find(|other| boot.step(*other).does.brings_network() && Before::new(boot, *other).holds(id))?;
    let network = boot.step(network);
    let statement = BootFault::AwaitsLater {
        step: step.object.clone(),
        awaited: Fact::NetworkRuns,
        bringer: Some(network.object.clone()),
    };
    let advice = BootAdvice::MoveAfter {
        step: step.object.clone(),
        other: Some(network.object.clone()),
        awaited: Fact::NetworkRuns,
    };
    let primary = Location { at: step.at.into(), label: None };
    let finding = Finding::new(&RULE, Severity::Error, &context.cluster.name, &step.object, statement, primary);
    Some(
        finding
            .with_consequence(Consequence::Terminal { certain: true })
            .with_cost(BootCost::NeverEnds)
            .with_evidence(EvidenceRole::Offer, network.at, Remark::ComesOnlyHere)
            .with_fix(Fix::by_hand(advice, Goal::Gone)),
    )
}
