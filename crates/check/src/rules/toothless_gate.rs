//! ## What it finds
//!
//! A command of a bootstrap script, recipe, task or provisioner that waits for something (`kubectl wait`, `talosctl health`, a
//! loop around `kubectl`) and whose failure stops nothing: only the last command of the script counts; `|| true` follows; the
//! function that should end the script does not exit; all attempts of a loop are used up and the script goes on; `grep Ready`
//! also matches `NotReady`; a kubeconfig that was fetched counts as an API server that answers.
//!
//! And commands that do something without which the boot is not complete, where it goes on in the same way: machines that do not
//! get their configuration (`talosctl apply-config || echo ...`, or commands for each node that are piped into `bash`), a sealed
//! file that is empty (`kubeseal > file`), a file of a list that does not exist.
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
//! Let the failure end the script: `set -euo pipefail`, `exit 1` after a loop, a handler that exits. A wait for what only GitOps
//! brings would then end every boot: move it after what starts GitOps, and wait first until the object exists.

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
    let faults = context.cluster.facts.boot.faults.iter();
    faults.filter_map(|fault| Some(finding(&RULE, context, fault, told(&fault.defect)?))).collect()
}

fn told(defect: &Defect) -> Option<Told> {
    let Defect::Gate(defect) = defect else { return None };
    Some(match defect {
        GateDefect::Toothless { wait, why } => {
            let is_command = matches!(wait.by, Waiter::Command(_));
            let does_not_exit = *why == Toothless::HandlerGoesOn && is_command;
            let shown = match (does_not_exit, is_command) {
                (true, _) => Remark::DoesNotExit,
                (false, true) => Remark::RunsHere,
                (false, false) => Remark::WaitsHere,
            };
            let (severity, advice) = (severity(*why, is_command), WaitAdvice::Teeth(*why));
            let configures = *why == Toothless::OrTrue && is_command;
            let cost = match why {
                Toothless::EmptyFile => WaitCost::EmptyFile,
                Toothless::LastOfGenerated => WaitCost::NotConfigured,
                _ if configures => WaitCost::NotConfigured,
                _ => WaitCost::GoesOn,
            };
            Told { severity, cost, advice, primary: Remark::GoesOnHere, shown }
        }
        // Its failure must not stop the boot yet: it would stop every one.
        GateDefect::TooEarly { wait, why, start } => {
            let advice = start.clone().map_or(WaitAdvice::TeethLater, WaitAdvice::MoveAfter);
            let severity = severity(*why, matches!(wait.by, Waiter::Command(_)));
            Told { severity, cost: WaitCost::GoesOn, advice, primary: Remark::GoesOnHere, shown: Remark::ComesOnlyHere }
        }
        GateDefect::SkipsFile { .. } => Told {
            severity: Severity::Info,
            cost: WaitCost::NotApplied,
            advice: WaitAdvice::AddFile,
            primary: Remark::NeededHere,
            shown: Remark::LeftOutHere,
        },
        _ => return None,
    })
}

/// Who writes `|| true` has seen it; it is no mistake of the shell.
fn severity(why: Toothless, is_command: bool) -> Severity {
    match why {
        Toothless::OrTrue
        | Toothless::Ignored
        | Toothless::AnyHttpCode
        | Toothless::AnyHttpCodeOnPurpose
        | Toothless::CredentialsAlone
        | Toothless::AllThatExist => Severity::Info,
        Toothless::HandlerGoesOn if !is_command => Severity::Info,
        _ => Severity::Warning,
    }
}
