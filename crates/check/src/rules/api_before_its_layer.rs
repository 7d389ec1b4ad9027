//! ## What it finds
//!
//! Six kinds of Terraform that asks too early:
//!
//! - a run that starts GitOps, or comes before it, and uses a provider of a service that only GitOps brings (Vault, authentik,
//!   PowerDNS, Gitea, Harbor);
//! - such a run that reads, when it is planned, a Secret or ConfigMap in a namespace that only GitOps brings;
//! - a step that speaks to the API server of the cluster that its own run creates, and depends on no part of that;
//! - an object in a namespace that another resource of the run creates, and that does not depend on it;
//! - a step that waits for an object that only GitOps brings, before GitOps is started;
//! - a provider of such a service at an address of this machine (`localhost`), where no script runs `kubectl port-forward`.
//!
//! ## Why it matters at a cold start
//!
//! On a running cluster all of these answer. At a cold start the first two fail when the run is planned, so GitOps is never
//! started: a deadlock between two tools, which no graph of either one shows. The third starts in the first second, before there
//! is a machine, and ends the run. The fourth is created at the same time as its namespace, and fails if it is first. The fifth waits in
//! vain, every time. The last works only where a person started the port-forward in another terminal.
//!
//! ## Example
//!
//! ```hcl
//! resource "vault_kv_secret_v2" "admin" { # Vault is a HelmRelease in this repository
//!   mount = "kv"
//! }
//! resource "flux_bootstrap_git" "this" {
//!   depends_on = [vault_kv_secret_v2.admin]
//! }
//! ```
//!
//! ## Fix
//!
//! Move what needs the service into a run after GitOps, or into one that Flux applies (tofu-controller, a Job). Give a step that
//! needs the cluster a `depends_on` on it.

use diagnostic::{Finding, LayerAdvice, LayerCost, Remark, Rule, Severity};
use model::{Consequence, LayerDefect};

use crate::context::Context;
use crate::layers::{Judged, findings};

pub(crate) static RULE: Rule = Rule::new(
    "api-before-its-layer",
    "a run of Terraform that needs a service before anything brings it",
    include_str!("api_before_its_layer.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    findings(context, &RULE, |defect| match defect {
        LayerDefect::ServiceFromGitOps { start, at_plan, .. } => {
            let (severity, consequence, cost) = match at_plan {
                true => (Severity::Error, Consequence::Deadlock, LayerCost::FirstPlanFails),
                false => (Severity::Warning, Consequence::Terminal { certain: false }, LayerCost::RunFails),
            };
            let advice = LayerAdvice::MoveAfterGitOps { start: start.clone() };
            let shown = &[Remark::GitOpsStartsHere, Remark::ComesOnlyHere];
            Some(Judged { severity, consequence: Some(consequence), cost, advice, label: Remark::NeededHere, shown })
        }
        LayerDefect::ObjectFromGitOps { start, .. } => Some(Judged {
            severity: Severity::Error,
            consequence: Some(Consequence::Deadlock),
            cost: LayerCost::FirstPlanFails,
            advice: LayerAdvice::MoveAfterGitOps { start: start.clone() },
            label: Remark::UsedAtPlan,
            shown: &[Remark::GitOpsStartsHere, Remark::ComesOnlyHere],
        }),
        LayerDefect::AwaitsGitOps { start, .. } => Some(Judged {
            severity: Severity::Error,
            consequence: Some(Consequence::Terminal { certain: true }),
            cost: LayerCost::WaitsInVain,
            advice: LayerAdvice::MoveAfterGitOps { start: start.clone() },
            label: Remark::WaitsHere,
            shown: &[Remark::GitOpsStartsHere, Remark::ComesOnlyHere],
        }),
        LayerDefect::NotForwarded { address, .. } => Some(Judged {
            severity: Severity::Warning,
            consequence: Some(Consequence::Terminal { certain: false }),
            cost: LayerCost::RunFails,
            advice: LayerAdvice::Forward { address: address.clone() },
            label: Remark::NeededHere,
            shown: &[Remark::ComesOnlyHere],
        }),
        LayerDefect::NamespaceOfSameRun { by, .. } => Some(Judged {
            severity: Severity::Warning,
            consequence: Some(Consequence::Terminal { certain: false }),
            cost: LayerCost::RunFails,
            advice: LayerAdvice::DependOnNamespace { by: by.clone() },
            label: Remark::NeededHere,
            shown: &[Remark::MadeHere],
        }),
        LayerDefect::ApiOfSameRun { maker } => Some(Judged {
            severity: Severity::Warning,
            consequence: Some(Consequence::Terminal { certain: false }),
            cost: LayerCost::RunFails,
            advice: LayerAdvice::DependOnCluster { maker: maker.clone() },
            label: Remark::SpeaksHere,
            shown: &[Remark::MadeHere],
        }),
        _ => None,
    })
}
