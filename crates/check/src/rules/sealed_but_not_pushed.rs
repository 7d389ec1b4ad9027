//! ## What it finds
//!
//! A provisioner that commits files (secrets sealed with a new key) in a run that also starts GitOps, where neither the run nor a
//! script pushes.
//!
//! ## Why it matters at a cold start
//!
//! Flux reads the remote repository. At a cold start with a new key it applies the secrets that were sealed with the old one: the
//! controller can't open them, and everything that needs them stays away until the commit is pushed by hand.
//!
//! ## Example
//!
//! ```hcl
//! provisioner "local-exec" {
//!   command = "kubeseal < secret.yaml > sealed.yaml && git commit -am reseal" # and then flux bootstrap
//! }
//! ```
//!
//! ## Fix
//!
//! Push in the same step, and let what starts GitOps depend on it. Better, keep the key, so that nothing has to be sealed again.

use diagnostic::{Finding, LayerAdvice, LayerCost, Remark, Rule, Severity};
use model::{Consequence, LayerDefect};

use crate::context::Context;
use crate::layers::{Judged, findings};

pub(crate) static RULE: Rule = Rule::new(
    "sealed-but-not-pushed",
    "a step that commits what GitOps reads, and nothing pushes it",
    include_str!("sealed_but_not_pushed.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    findings(context, &RULE, |defect| match defect {
        LayerDefect::NotPushed { start } => Some(Judged {
            severity: Severity::Warning,
            consequence: Some(Consequence::Silent),
            cost: LayerCost::OldSecrets,
            advice: LayerAdvice::Push { start: start.clone() },
            label: Remark::CommittedHere,
            shown: &[Remark::GitOpsStartsHere],
        }),
        _ => None,
    })
}
