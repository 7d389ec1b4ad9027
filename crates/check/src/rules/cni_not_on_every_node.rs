//! ## What it finds
//!
//! A pod network that the boot installs with Helm's `wait`, and nothing after it that looks at every node.
//!
//! ## Why it matters at a cold start
//!
//! Helm takes a DaemonSet as ready when all but `maxUnavailable` of its pods are, and cilium's chart allows two: on a cluster
//! of two nodes the release succeeds with no agent at all. Nodes that join later do not count either.
//!
//! ## Example
//!
//! ```hcl
//! resource "helm_release" "cilium" {
//!   wait = true # done with two agents missing
//! }
//! ```
//!
//! ## Fix
//!
//! ```sh
//! kubectl -n kube-system rollout status daemonset/cilium --timeout=300s
//! ```
//!
//! A wait for all nodes by name proves the same: a node is Ready only once an agent has set up its network.

use std::collections::BTreeSet;

use diagnostic::{BootAdvice, BootCost, BootFault, EvidenceRole, Finding, Fix, Goal, Location, Remark, Rule, Severity};
use graph::Before;
use model::{Boot, Brings, Doing, Extent, Fact, StepId};

use crate::context::Context;

pub(crate) static RULE: Rule = Rule::new(
    "cni-not-on-every-node",
    "the pod network counts as installed while some nodes have no agent",
    include_str!("cni_not_on_every_node.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let boot = &context.cluster.facts.boot;
    let mut found: Vec<Finding> = boot.starts().flat_map(|start| findings(context, boot, start)).collect();
    // A network that several of them come after is told for the first.
    let mut seen = BTreeSet::new();
    found.retain(|finding| seen.insert(finding.component.clone()));
    found
}

fn findings(context: &Context<'_>, boot: &Boot, start: StepId) -> Vec<Finding> {
    let before = Before::new(boot, start);
    if before.is_circle() || boot.nodes.len() == 1 || before.extent(Fact::NetworkRuns) >= Some(Extent::Existing) {
        return Vec::new();
    }
    before.steps().filter_map(|(id, _)| finding(context, boot, id, start)).collect()
}

fn finding(context: &Context<'_>, boot: &Boot, network: StepId, start: StepId) -> Option<Finding> {
    let step = boot.step(network);
    let Doing::Installs { release, brings: Brings::PodNetwork { unavailable_max: Some(unavailable_max) } } = &step.does
    else {
        return None;
    };
    let unavailable_max = &unavailable(context, &step.object.name, *unavailable_max)?;
    let expected = boot.nodes.len();
    let is_hollow = expected > 0 && usize::try_from(*unavailable_max).is_ok_and(|lacking| lacking >= expected);
    let severity = if is_hollow { Severity::Warning } else { Severity::Info };
    let statement =
        BootFault::NetworkOnSomeNodes { release: step.object.clone(), unavailable_max: *unavailable_max, expected };
    let start = boot.step(start);
    let advice = BootAdvice::WaitForDaemonSet {
        before: start.object.clone(),
        namespace: "kube-system".into(),
        name: release.clone(),
    };
    let finding = Finding::new(
        &RULE,
        severity,
        &context.cluster.name,
        &step.object,
        statement,
        Location::new(step.at, Remark::InstalledHere),
    );
    Some(
        finding
            .with_cost(BootCost::NoNetworkThere)
            .with_evidence(EvidenceRole::Need, start.at, Remark::GitOpsStartsHere)
            .with_fix(Fix::by_hand(advice, Goal::Gone)),
    )
}

/// How many nodes may be without an agent by the values of the release: those of the bootstrap, or where a template makes these, those of
/// the release that Flux adopts. Nothing where neither can be seen.
fn unavailable(context: &Context<'_>, release: &str, unless_said: u32) -> Option<u32> {
    let of = |is_early: bool| {
        let mut charts = context.cluster.facts.charts.iter();
        charts.find(|chart| chart.release.0 == release && context.component(chart.of).role.is_bootstrap() == is_early)
    };
    let Some(early) = of(true) else { return Some(unless_said) };
    let seen = if early.hides_values { of(false).filter(|late| !late.hides_values)? } else { early };
    let said =
        seen.values.as_ref().and_then(|values| values.at(&["updateStrategy", "rollingUpdate", "maxUnavailable"]));
    said.map_or(Some(unless_said), |said| u32::try_from(said.as_int()?).ok())
}
