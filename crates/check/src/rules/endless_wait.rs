//! ## What it finds
//!
//! A loop in a bootstrap script or provisioner without a limit, or with a limit that is never reached: `SECONDS` counts only in
//! bash, and `sh` is often another shell. A loop without a limit is reported at info where no person sees what it prints
//! (a provisioner of Terraform), where it waits until no node is Ready (`kubectl wait nodes --all --for=condition=Ready=False`),
//! which never is so again once one of several is, and with `--pedantic` elsewhere.
//!
//! ## Why it matters at a cold start
//!
//! If what it waits for does not come, the boot neither fails nor ends.
//!
//! ## Example
//!
//! ```hcl
//! provisioner "local-exec" {
//!   command = "until kubectl get nodes; do sleep 5; done"
//! }
//! ```
//!
//! ## Fix
//!
//! Count the attempts and `exit 1` after the last one, or run the loop under `timeout 600 bash -c '...'`.

use diagnostic::{Finding, Remark, Rule, Severity, WaitAdvice, WaitCost};
use model::{Defect, Endless, GateDefect};

use crate::context::Context;
use crate::waiting::{Told, finding};

pub(crate) static RULE: Rule =
    Rule::new("endless-wait", "a command of the bootstrap may wait without end", include_str!("endless_wait.rs"));

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    context
        .cluster
        .facts
        .boot
        .faults
        .iter()
        .filter_map(|fault| {
            let Defect::Gate(GateDefect::Endless { why, .. }) = &fault.defect else { return None };
            let (severity, cost) = match why {
                Endless::NoClock => (Severity::Warning, WaitCost::NeverEnds),
                Endless::MixedNodes => (Severity::Info, WaitCost::NeverEndsMixed),
                Endless::Unwatched => (Severity::Info, WaitCost::NeverEnds),
                // A person sees that it waits, and for what.
                Endless::NoLimit => (Severity::Pedantic, WaitCost::NeverEnds),
            };
            let told = Told {
                severity,
                cost,
                advice: WaitAdvice::Limit(*why),
                primary: Remark::RepeatsHere,
                shown: Remark::WaitsHere,
            };
            Some(finding(&RULE, context, fault, told))
        })
        .collect()
}
