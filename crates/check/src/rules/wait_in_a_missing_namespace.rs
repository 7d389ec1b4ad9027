//! ## What it finds
//!
//! `kubectl wait`, `kubectl rollout status` or a loop around `kubectl get` of a bootstrap in a namespace that no other file or
//! command of the repository mentions. Of several in one script the first is reported: the others are not reached.
//!
//! ## Why it matters at a cold start
//!
//! The command fails at once, every time: the namespace does not exist. A loop around it runs until its time is up.
//!
//! ## Example
//!
//! ```sh
//! kubectl -n cert-manger rollout status deployment/cert-manager   # cert-manager
//! ```
//!
//! ## Fix
//!
//! Correct the name, or create the namespace in an earlier step.

use diagnostic::{Finding, Remark, Rule, Severity, WaitAdvice, WaitCost};
use model::{Defect, GateDefect, Waiter};

use crate::context::Context;
use crate::waiting::{Told, finding};

pub(crate) static RULE: Rule = Rule::new(
    "wait-in-a-missing-namespace",
    "a command waits in a namespace that nothing creates",
    include_str!("wait_in_a_missing_namespace.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    context
        .cluster
        .facts
        .boot
        .faults
        .iter()
        .filter_map(|fault| {
            let Defect::Gate(GateDefect::MissingNamespace { wait }) = &fault.defect else { return None };
            let namespace = wait.on.as_ref().map(|on| on.namespace.clone()).unwrap_or_default();
            let is_loop = matches!(wait.by, Waiter::Loop(_));
            let told = Told {
                severity: Severity::Warning,
                cost: if is_loop { WaitCost::TimeIsUp } else { WaitCost::EndsAtOnce },
                advice: WaitAdvice::MakeNamespace(namespace),
                primary: Remark::WaitsHere,
                shown: Remark::WaitsHere,
            };
            Some(finding(&RULE, context, fault, told))
        })
        .collect()
}
