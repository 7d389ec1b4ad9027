//! ## What it finds
//!
//! A resource that waits by default (`helm_release`, a Deployment, a Job) with its waiting switched off, where no later step of the
//! run looks at it. A warning where something was put after it with `depends_on`, otherwise a note.
//!
//! ## Why it matters at a cold start
//!
//! With `wait = false` a release is done when its objects were accepted. What depends on it starts at once, and at a cold start, when
//! images are pulled and nodes join, that is minutes too early. The run reports success before anything works.
//!
//! ## Example
//!
//! ```hcl
//! resource "helm_release" "cert_manager" {
//!   chart = "cert-manager"
//!   wait  = false
//! }
//! resource "kubectl_manifest" "issuer" {
//!   depends_on = [helm_release.cert_manager] # its webhook does not answer yet
//! }
//! ```
//!
//! ## Fix
//!
//! Leave the argument out. Where it must not wait (what it needs comes later), add a step after that which looks: `kubectl
//! rollout status`.

use diagnostic::{Finding, LayerAdvice, LayerCost, Remark, Rule, Severity};
use model::{Consequence, LayerDefect};

use crate::context::Context;
use crate::layers::{Judged, findings};

pub(crate) static RULE: Rule = Rule::new(
    "wait-disabled",
    "a resource of Terraform that is told not to wait until it works",
    include_str!("wait_disabled.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    findings(context, &RULE, |defect| match defect {
        LayerDefect::WaitOff { argument, dependent } => Some(Judged {
            severity: if dependent.is_some() { Severity::Warning } else { Severity::Info },
            consequence: dependent.as_ref().map(|_| Consequence::Terminal { certain: false }),
            cost: LayerCost::GoesOn,
            advice: LayerAdvice::WaitAgain { argument: argument.clone() },
            label: Remark::DoesNotWait,
            shown: &[Remark::StartsAfter],
        }),
        _ => None,
    })
}
