//! ## What it finds
//!
//! A `kubernetes_manifest` of a custom resource, in a run that installs the chart which brings its CRD.
//!
//! ## Why it matters at a cold start
//!
//! The provider asks the API server for the kind when it plans. At a cold start the CRD is not there: the plan fails, and with it
//! the whole run, also what would install the CRD. `depends_on` does not help, because it orders creation, not planning.
//!
//! ## Example
//!
//! ```hcl
//! resource "helm_release" "cert_manager" { # brings ClusterIssuer
//!   chart = "cert-manager"
//! }
//! resource "kubernetes_manifest" "issuer" {
//!   manifest   = { apiVersion = "cert-manager.io/v1", kind = "ClusterIssuer" }
//!   depends_on = [helm_release.cert_manager]
//! }
//! ```
//!
//! ## Fix
//!
//! Let Flux apply the object, or a chart; or create it in a second run. `kubectl_manifest` looks the kind up only when it is
//! applied.

use diagnostic::{Finding, LayerAdvice, LayerCost, Remark, Rule, Severity};
use model::{Consequence, LayerDefect};

use crate::context::Context;
use crate::layers::{Judged, findings};

pub(crate) static RULE: Rule = Rule::new(
    "crd-at-plan",
    "a manifest whose kind the same run installs, and that is looked up when the run is planned",
    include_str!("crd_at_plan.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    findings(context, &RULE, |defect| match defect {
        LayerDefect::KindAtPlan { kind, .. } => Some(Judged {
            severity: Severity::Error,
            consequence: Some(Consequence::Terminal { certain: true }),
            cost: LayerCost::FirstPlanFails,
            advice: LayerAdvice::ApplyLater { kind: kind.clone() },
            label: Remark::UsedAtPlan,
            shown: &[Remark::InstalledHere],
        }),
        _ => None,
    })
}
