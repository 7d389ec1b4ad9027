//! ## What it finds
//!
//! Directories of Terraform of which each reads the state, or a file, of the next, and the last one of the first.
//!
//! ## Why it matters at a cold start
//!
//! Once all have run, every one finds what it reads. At a cold start there is nothing to read, and none of them can be the first.
//!
//! ## Example
//!
//! ```hcl
//! # network/main.tf
//! data "terraform_remote_state" "cluster" {
//!   backend = "local"
//!   config  = { path = "../cluster/terraform.tfstate" } # which reads ../network/terraform.tfstate
//! }
//! ```
//!
//! ## Fix
//!
//! Move what both need into a run of its own that comes before them, or pass the value as a variable.

use diagnostic::{Finding, LayerAdvice, LayerCost, Remark, Rule, Severity};
use model::{Consequence, LayerDefect};

use crate::context::Context;
use crate::layers::{Judged, findings};

pub(crate) static RULE: Rule = Rule::new(
    "layer-cycle",
    "runs of Terraform that take states or files from each other in a cycle",
    include_str!("layer_cycle.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    findings(context, &RULE, |defect| match defect {
        LayerDefect::Cycle { .. } => Some(Judged {
            severity: Severity::Error,
            consequence: Some(Consequence::Deadlock),
            cost: LayerCost::NoneFirst,
            advice: LayerAdvice::BreakCircle,
            label: Remark::TakenHere,
            shown: &[Remark::TakenHere],
        }),
        _ => None,
    })
}
