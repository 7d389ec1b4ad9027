//! ## What it finds
//!
//! `kubectl wait` on pods by a selector, straight after the `kubectl apply` whose controllers create these pods.
//!
//! ## Why it matters at a cold start
//!
//! `kubectl wait` does not wait for objects to appear: as long as nothing matches the selector it fails at once with "no matching
//! resources found". On a running cluster the pods are there already, so only the first boot fails.
//!
//! ## Example
//!
//! ```sh
//! kubectl apply -f metallb.yaml
//! kubectl wait pod -l app=metallb --for=condition=Ready --timeout=120s
//! ```
//!
//! ## Fix
//!
//! Wait for the Deployment or DaemonSet by name (`kubectl rollout status`), or for the objects to exist first
//! (`kubectl wait --for=create`).

use diagnostic::{Finding, Remark, Rule, Severity, WaitAdvice, WaitCost};
use model::{Defect, GateDefect};

use crate::context::Context;
use crate::waiting::{Told, finding};

pub(crate) static RULE: Rule = Rule::new(
    "wait-before-exists",
    "a `kubectl wait` by selector straight after an apply, when nothing matches yet",
    include_str!("wait_before_exists.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    context
        .cluster
        .facts
        .boot
        .faults
        .iter()
        .filter_map(|fault| {
            let Defect::Gate(GateDefect::BeforeExists { .. }) = &fault.defect else { return None };
            let told = Told {
                severity: Severity::Warning,
                cost: WaitCost::EndsAtOnce,
                advice: WaitAdvice::UntilThere,
                primary: Remark::WaitsHere,
                shown: Remark::InstalledHere,
            };
            Some(finding(&RULE, context, fault, told))
        })
        .collect()
}
