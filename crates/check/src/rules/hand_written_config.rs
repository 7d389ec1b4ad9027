//! ## What it finds
//!
//! A YAML or JSON file in the `data` of a `kubernetes_secret` that is a heredoc with values put into it.
//!
//! ## Why it matters at a cold start
//!
//! A value with a quote, a colon or a line break makes it another file, or none, and the plan does not show it. At a cold start
//! tokens and passwords are new, so the first one that needs quotes breaks what reads the file: a storage driver that does not
//! start, for instance.
//!
//! ## Example
//!
//! ```hcl
//! data = {
//!   "config.yaml" = <<-EOF
//!     token: ${token}
//!   EOF
//! }
//! ```
//!
//! ## Fix
//!
//! Let a function write it, which quotes what needs quotes:
//!
//! ```hcl
//! data = {
//!   "config.yaml" = yamlencode({ token = token })
//! }
//! ```

use diagnostic::{Finding, LayerAdvice, LayerCost, Remark, Rule, Severity};
use model::LayerDefect;

use crate::context::Context;
use crate::layers::{Judged, findings};

pub(crate) static RULE: Rule = Rule::new(
    "hand-written-config",
    "a file in a Secret that is written by hand around values",
    include_str!("hand_written_config.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    findings(context, &RULE, |defect| match defect {
        LayerDefect::HandWritten { is_json, .. } => Some(Judged {
            severity: Severity::Info,
            consequence: None,
            cost: LayerCost::OtherFile,
            advice: LayerAdvice::Encode { is_json: *is_json },
            label: Remark::WrittenByHand,
            shown: &[],
        }),
        _ => None,
    })
}
