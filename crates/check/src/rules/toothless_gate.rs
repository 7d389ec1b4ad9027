//! ## What it finds
//!
//! A command of a bootstrap script, recipe, task or provisioner that waits for something (`kubectl wait`, `talosctl health`, a
//! loop around `kubectl`) and whose failure stops nothing: only the last command of the script counts; `|| true` follows; the
//! function that should end the script does not exit; all attempts of a loop are used up and the script goes on; `grep Ready`
//! also matches `NotReady`.
//!
//! ## Why it matters at a cold start
//!
//! The gate works as long as everything comes in time. On the day something does not, the boot goes on without it and reports
//! success, and what fails later points elsewhere.
//!
//! ## Example
//!
//! ```sh
//! kubectl wait --for=condition=Ready nodes --all --timeout=600s   # no `set -e`
//! echo "all nodes are Ready"
//! ```
//!
//! ## Fix
//!
//! Let the failure end the script: `set -euo pipefail`, `exit 1` after a loop, a handler that exits.

use diagnostic::{Finding, Remark, Rule, Severity, WaitAdvice, WaitCost};
use model::{Defect, GateDefect, Toothless, Waiter};

use crate::context::Context;
use crate::waiting::{Told, finding};

pub(crate) static RULE: Rule = Rule::new(
    "toothless-gate",
    "a command of the bootstrap waits, and its failure stops nothing",
    include_str!("toothless_gate.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    context
        .cluster
        .facts
        .boot
        .faults
        .iter()
        .filter_map(|fault| {
            let Defect::Gate(GateDefect::Toothless { wait, why }) = &fault.defect else { return None };
            let says_fatal = matches!(wait.by, Waiter::Command(_));
            let told = Told {
                severity: severity(*why, says_fatal),
                cost: WaitCost::GoesOn,
                advice: WaitAdvice::Teeth(*why),
                primary: Remark::GoesOnHere,
                shown: if says_fatal { Remark::DoesNotExit } else { Remark::WaitsHere },
            };
            Some(finding(&RULE, context, fault, told))
        })
        .collect()
}

/// Who writes `|| true` has seen it; it is no mistake of the shell.
fn severity(why: Toothless, says_fatal: bool) -> Severity {
    match why {
        Toothless::OrTrue | Toothless::Ignored | Toothless::AnyHttpCode | Toothless::AllThatExist => Severity::Info,
        Toothless::HandlerGoesOn if !says_fatal => Severity::Info,
        _ => Severity::Warning,
    }
}
