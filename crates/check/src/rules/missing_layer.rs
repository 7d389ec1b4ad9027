//! ## What it finds
//!
//! A script that runs `terraform` or `tofu` in a directory of the repository that does not exist, often the entry of a list that a
//! loop goes through and that was not changed when the directory was removed. And a provider that reads a file in the directory of
//! another run which writes a file of another name there (`kubeconfig.yaml` beside `kubeconfig`).
//!
//! ## Why it matters at a cold start
//!
//! The bootstrap of a cluster that is up is not run, so it does not show. At a cold start the script ends there, in the middle of
//! its checks or of the boot; without `set -e` it goes on in the directory that it was in before. A run whose provider finds no file
//! fails when it is planned, whatever was applied before it.
//!
//! ## Example
//!
//! ```sh
//! for layer in 00-auth 01-infrastructure 03-configuration; do   # 03-configuration was removed
//!   cd "$ROOT/terraform/$layer" && terraform validate
//! done
//! ```
//!
//! ## Fix
//!
//! Read the file that is written. Remove the entry, or add the directory. A loop over the directories that exist (`for layer in terraform/*/`) can't get out of
//! step.

use diagnostic::{Finding, LayerAdvice, LayerCost, Remark, Rule, Severity};
use model::{Consequence, LayerDefect};

use crate::context::Context;
use crate::layers::{Judged, findings};

pub(crate) static RULE: Rule = Rule::new(
    "missing-layer",
    "a directory or a file of another run of Terraform that does not exist",
    include_str!("missing_layer.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    findings(context, &RULE, |defect| match defect {
        LayerDefect::MissingDirectory { directory } => Some(Judged {
            severity: Severity::Error,
            consequence: Some(Consequence::Terminal { certain: true }),
            cost: LayerCost::ScriptEnds,
            advice: LayerAdvice::CorrectDirectory { directory: directory.clone() },
            label: Remark::EnteredHere,
            shown: &[],
        }),
        LayerDefect::MissingFile { instead, .. } => Some(Judged {
            severity: Severity::Warning,
            consequence: Some(Consequence::Terminal { certain: true }),
            cost: LayerCost::FileNeverThere,
            advice: LayerAdvice::ReadFile { file: instead.clone() },
            label: Remark::NeededHere,
            shown: &[Remark::MadeHere],
        }),
        _ => None,
    })
}
