//! ## What it finds
//!
//! A `provider` block of Terraform or OpenTofu whose configuration depends on a resource of the same run: the kubeconfig of the
//! cluster that the run creates.
//!
//! ## Why it matters at a cold start
//!
//! On an existing cluster the values are in the state, and every plan works. At a cold start the first plan is made without them; where
//! the configuration is the path of a file that the run writes (`local_file`), the path is known and the file does not exist.
//! Resources that only write are planned anyway. What asks the API server when the run is planned (`kubernetes_manifest`, a data
//! source, a provider that must be configured by then) fails, and nothing is created. It is so again when the cluster
//! is replaced.
//!
//! ## Example
//!
//! ```hcl
//! provider "kubernetes" {
//!   host = module.cluster.kubeconfig.host
//! }
//! data "kubernetes_namespace" "apps" { # asked before there is a cluster
//!   metadata { name = "apps" }
//! }
//! ```
//!
//! ## Fix
//!
//! Split the run in two: one creates the cluster and keeps its kubeconfig in an output, the other reads it with
//! `terraform_remote_state`. Where only resources that write use the provider, it can stay; nothing that reads may be added.

use diagnostic::{Finding, LayerAdvice, LayerCost, Remark, Rule, Severity};
use model::{Consequence, LayerDefect};

use crate::context::Context;
use crate::layers::{Judged, findings};

pub(crate) static RULE: Rule = Rule::new(
    "provider-from-resource",
    "a provider that is configured with what its own run creates",
    include_str!("provider_from_resource.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    findings(context, &RULE, |defect| match defect {
        LayerDefect::ProviderFromResource { reader, is_file, .. } => {
            let (severity, consequence, cost) = match (reader, is_file) {
                (Some(_), _) => {
                    (Severity::Error, Some(Consequence::Terminal { certain: true }), LayerCost::FirstPlanFails)
                }
                (None, true) => (Severity::Info, None, LayerCost::FileNotThereYet),
                (None, false) => (Severity::Info, None, LayerCost::NothingAskedYet),
            };
            let advice = LayerAdvice::SplitRun { reader: reader.clone() };
            let shown = &[Remark::MadeHere, Remark::UsedAtPlan];
            Some(Judged { severity, consequence, cost, advice, label: Remark::ConfiguredByIt, shown })
        }
        _ => None,
    })
}
