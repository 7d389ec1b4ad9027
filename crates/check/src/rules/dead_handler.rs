//! ## What it finds
//!
//! Under `set -e` (in a Taskfile always), an assignment that takes what a command says, followed by an `if` that looks at how that
//! command ended: at `$?`, or for words like `AlreadyExists` or `error` in what it said.
//!
//! ## Why it matters at a cold start
//!
//! A failing command ends the script at the assignment. What was written for that case (another attempt, an explanation, going on
//! because etcd was bootstrapped before) is never run, and what the command said is in a variable that nothing prints.
//!
//! ## Example
//!
//! ```sh
//! set -e
//! out=$(talosctl bootstrap 2>&1)            # ends here
//! if echo "$out" | grep -q AlreadyExists; then echo "was bootstrapped before"; fi
//! ```
//!
//! ## Fix
//!
//! ```sh
//! if ! out=$(talosctl bootstrap 2>&1); then
//!   case $out in *AlreadyExists*) ;; *) echo "$out"; exit 1 ;; esac
//! fi
//! ```

use diagnostic::{Finding, Remark, Rule, Severity, WaitAdvice, WaitCost};
use model::{Defect, GateDefect};

use crate::context::Context;
use crate::waiting::{Told, finding};

pub(crate) static RULE: Rule =
    Rule::new("dead-handler", "a handler of a failure that `set -e` never lets run", include_str!("dead_handler.rs"));

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let faults = context.cluster.facts.boot.faults.iter();
    let dead = faults.filter(|fault| matches!(&fault.defect, Defect::Gate(GateDefect::DeadHandler { .. })));
    let told = || Told {
        severity: Severity::Warning,
        cost: WaitCost::EndsUnsaid,
        advice: WaitAdvice::HandleThere,
        primary: Remark::RunsHere,
        shown: Remark::NeverRun,
    };
    dead.map(|fault| finding(&RULE, context, fault, told())).collect()
}
