//! ## What it finds
//!
//! A loop that runs `talosctl bootstrap`, or what `talhelper gencommand bootstrap` prints, until it succeeds.
//!
//! ## Why it matters at a cold start
//!
//! etcd is bootstrapped once. Run again, for instance because a later step failed, the command answers `AlreadyExists` and the
//! loop never ends. Where an earlier command ends a second run (`talosctl apply-config --insecure`, which a configured machine
//! refuses), that is left to a first run whose call took effect while its answer was lost.
//!
//! ## Example
//!
//! ```sh
//! until talhelper gencommand bootstrap | bash; do sleep 10; done
//! ```
//!
//! ## Fix
//!
//! Take `AlreadyExists` for success:
//!
//! ```sh
//! until out=$(talosctl bootstrap 2>&1) || [[ "$out" == *AlreadyExists* ]]; do sleep 10; done
//! ```

use diagnostic::{Finding, Remark, Rule, Severity, WaitAdvice, WaitCost};
use model::{Defect, GateDefect};

use crate::context::Context;
use crate::waiting::{Told, finding};

pub(crate) static RULE: Rule = Rule::new(
    "bootstrap-rerun",
    "a bootstrap that never ends when it is run again",
    include_str!("bootstrap_rerun.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    context
        .cluster
        .facts
        .boot
        .faults
        .iter()
        .filter_map(|fault| {
            let Defect::Gate(GateDefect::Rerun { stops_earlier, .. }) = &fault.defect else { return None };
            let (severity, cost) = match stops_earlier {
                true => (Severity::Info, WaitCost::NeverEndsUnanswered),
                false => (Severity::Warning, WaitCost::NeverEndsAgain),
            };
            let told = Told {
                severity,
                cost,
                advice: WaitAdvice::AcceptStarted,
                primary: Remark::RepeatsHere,
                shown: Remark::WaitsHere,
            };
            Some(finding(&RULE, context, fault, told))
        })
        .collect()
}
