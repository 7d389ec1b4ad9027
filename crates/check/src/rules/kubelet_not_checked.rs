//! ## What it finds
//!
//! A boot of a cluster with workers that checks its machines before GitOps, and the kubelets of the control planes alone. Where no
//! step looks at the machines at all, [`no-wait-for-nodes`](no-wait-for-nodes.md) says so.
//!
//! ## Why it matters at a cold start
//!
//! `talos_cluster_health` checks kubelets on control planes only; of a worker it asks whether its boot sequence is done, and whether
//! it is registered as a node, which needs its kubelet. With `skip_kubernetes_checks` it leaves that out: a worker whose kubelet
//! waits for its volume passes, and is missed only when pods should run there.
//!
//! ## Example
//!
//! ```hcl
//! data "talos_cluster_health" "this" {
//!   skip_kubernetes_checks = true # workers: boot sequence only
//! }
//! ```
//!
//! ## Fix
//!
//! Wait for every node by name (`kubectl wait --for=condition=Ready node/w1 ...`): a node is Ready only while its kubelet
//! reports.

use diagnostic::{BootAdvice, BootCost, BootFault, EvidenceRole, Finding, Fix, Goal, Location, Remark, Rule, Severity};
use graph::Before;
use model::{Boot, Doing, Fact, StepId};

use super::no_wait_for_nodes::looks_at_some_kubelets;
use crate::context::Context;

pub(crate) static RULE: Rule = Rule::new(
    "kubelet-not-checked",
    "the boot checks the kubelets of the control planes alone",
    include_str!("kubelet_not_checked.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let boot = &context.cluster.facts.boot;
    boot.starts().filter_map(|start| finding(context, boot, start)).collect()
}

fn finding(context: &Context<'_>, boot: &Boot, start: StepId) -> Option<Finding> {
    let before = Before::new(boot, start);
    let makes_cluster = before.steps().any(|(_, step)| step.does == Doing::BootstrapsEtcd);
    let shown = before.extent(Fact::KubeletsRun);
    if !makes_cluster || before.is_circle() || !looks_at_some_kubelets(boot, &before) {
        return None;
    }
    let step = boot.step(start);
    let workers = boot.nodes.iter().filter(|node| !node.is_control_plane);
    let statement = BootFault::KubeletsUnseen { start: step.object.clone(), shown, workers: workers.clone().count() };
    let nodes = workers.map(|node| node.name.clone()).collect();
    let advice = BootAdvice::WaitForNodes { before: step.object.clone(), nodes };
    let primary = Location::new(step.at, Remark::GitOpsStartsHere);
    let mut finding = Finding::new(&RULE, Severity::Info, &context.cluster.name, &step.object, statement, primary)
        .with_cost(BootCost::FoundByHand)
        .with_fix(Fix::by_hand(advice, Goal::Gone));
    if let Some((_, proven)) = before.shown(Fact::KubeletsRun) {
        finding = finding.with_evidence(EvidenceRole::Order, proven.at, Remark::WaitsForLess);
    }
    Some(finding)
}
