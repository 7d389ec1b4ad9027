//! ## What it finds
//!
//! A boot that starts GitOps before anything has shown that every machine of the cluster is a Ready node: nothing waits for
//! nodes, or what waits looks only at those that have joined by then (`kubectl wait nodes --all`), or only at whether they are
//! registered (`--for=condition=Ready=False`).
//!
//! ## Why it matters at a cold start
//!
//! `talos_machine_bootstrap` is done when the call returned, a kubeconfig is there before Kubernetes is, and Flux starts on
//! the first node that runs pods. A worker that never joins is not noticed: pods that need it stay Pending, and an install
//! that waits for them fails.
//!
//! ## Example
//!
//! ```hcl
//! resource "null_resource" "flux_bootstrap" {
//!   depends_on = [helm_release.cilium] # nothing here waits for a node
//! }
//! ```
//!
//! ## Fix
//!
//! A step of its own in between that names every node and can fail:
//!
//! ```hcl
//! resource "terraform_data" "nodes_ready" {
//!   depends_on = [helm_release.cilium]
//!   provisioner "local-exec" {
//!     command = "kubectl wait --for=condition=Ready node/cp1 node/w1 --timeout=600s"
//!   }
//! }
//! ```

use diagnostic::{BootAdvice, BootCost, BootFault, EvidenceRole, Finding, Fix, Goal, Location, Remark, Rule, Severity};
use graph::Before;
use model::{Boot, Doing, Extent, Fact, ObjectRef, Patience, Retry, RetryField, Role, StepId};

use crate::context::Context;

pub(crate) static RULE: Rule = Rule::new(
    "no-wait-for-nodes",
    "GitOps starts before every machine is known to be a Ready node",
    include_str!("no_wait_for_nodes.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let boot = &context.cluster.facts.boot;
    boot.starts().filter_map(|start| finding(context, boot, start)).collect()
}

fn finding(context: &Context<'_>, boot: &Boot, start: StepId) -> Option<Finding> {
    let before = Before::new(boot, start);
    let makes_cluster = before.steps().any(|(_, step)| step.does == Doing::BootstrapsEtcd);
    let shown = before.extent(Fact::NodesReady);
    // The only machine is Ready as soon as one pod runs.
    if !makes_cluster || before.is_circle() || boot.nodes.len() == 1 || shown == Some(Extent::Expected) {
        return None;
    }
    // What checks all machines and the kubelets of some is told with what it leaves out.
    if looks_at_some_kubelets(boot, &before) {
        return None;
    }
    let step = boot.step(start);
    let fragile = fragile(context);
    let joined = before.extent(Fact::NodesJoined);
    // Nodes that have joined become Ready as soon as the network is there.
    let may_be_missing = shown <= Some(Extent::Unchecked) && joined < Some(Extent::Existing);
    let severity = if may_be_missing && !fragile.is_empty() { Severity::Warning } else { Severity::Info };
    let statement =
        BootFault::StartsBeforeNodes { start: step.object.clone(), shown, joined, expected: boot.nodes.len() };
    let primary = Location::new(step.at, Remark::GitOpsStartsHere);
    let nodes = boot.nodes.iter().map(|node| node.name.clone()).collect();
    let advice = BootAdvice::WaitForNodes { before: step.object.clone(), nodes };
    let (first, is_there) = (fragile.first().map(|one| (*one).clone()), joined == Some(Extent::Expected));
    let cost = BootCost::PodsFindNoNode { fragile: first, count: fragile.len(), is_there };
    let mut finding = Finding::new(&RULE, severity, &context.cluster.name, &step.object, statement, primary)
        .with_cost(cost)
        .with_fix(Fix::by_hand(advice, Goal::Gone));
    let waited = before.shown(Fact::NodesReady).filter(|(_, proven)| proven.of > Extent::Unchecked);
    let waited = waited.or_else(|| before.shown(Fact::NodesJoined)).or_else(|| before.shown(Fact::NodesReady));
    if let Some((_, proven)) = waited {
        finding = finding.with_evidence(EvidenceRole::Order, proven.at, Remark::WaitsForLess);
    }
    Some(finding)
}

/// Whether a step looks at all machines, and at the kubelets of the control planes alone.
pub(super) fn looks_at_some_kubelets(boot: &Boot, before: &Before<'_>) -> bool {
    boot.has_workers() && before.extent(Fact::KubeletsRun) == Some(Extent::ControlPlanes)
}

/// Releases of which a failed install is the last: what follows it is at most an upgrade.
fn fragile<'a>(context: &Context<'a>) -> Vec<&'a ObjectRef> {
    let is_last = |patience: &Patience| {
        let upgrades = patience.retry_field == Some(RetryField::InstallStrategy);
        patience.retry == Retry::Never && patience.attempts <= if upgrades { 2 } else { 1 }
    };
    let components = context.cluster.components.iter();
    let once = components.filter(|one| one.role == Role::HelmRelease && is_last(&one.patience));
    once.map(|one| &one.object).collect()
}
