//! ## What it finds
//!
//! A chart in this repository whose templates ask `.Capabilities.APIVersions.Has` for an API that another component
//! brings, with nothing that makes its release wait for that one.
//!
//! ## Why it matters at a cold start
//!
//! Helm asks once, when it renders. If the CRD is not there yet, the template leaves its objects out, the release is
//! ready, and nothing ever renders it again: no ServiceMonitor, no route, no certificate, and no error. On the running
//! cluster they are there, because the chart was upgraded since.
//!
//! ## Example
//!
//! ```text
//! {{- if .Capabilities.APIVersions.Has "monitoring.coreos.com/v1/ServiceMonitor" }}
//! ```
//!
//! ## Fix
//!
//! Order the release after what brings the API, with a gate; or let a value decide instead of the cluster.

use graph::{Consequence, Judged, Verdict};
use model::Role;

use crate::context::Context;
use crate::finding::{Finding, LocationRole, Severity};
use crate::pairs;
use crate::rules::missing_dependency::{add_tie, tie_place};

/// How the need of a template that asks is told from others.
pub(crate) const WHY: &str = "when its templates are rendered";

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let pairs = pairs::gather(context, |judged| {
        is_asked(context, judged) && judged.verdict < Verdict::BootstrapOnly && judged.verdict > Verdict::Unoffered
    });
    pairs
        .iter()
        .map(|pair| {
            let (consumer, provider) = pair.names(context);
            let mut finding = pair.finding(context, "capability-gated");
            finding.severity = Severity::Warning;
            finding.consequence = Some(Consequence::Silent);
            finding.cost = String::from("rendered without it, ready all the same, and never rendered again");
            finding.message = format!(
                "the chart of {consumer} looks for {} when it is rendered, and nothing has {provider} there before",
                pair.capabilities(context)
            );
            finding.fix = Some(add_tie(context, pair));
            finding.locations.insert(0, tie_place(context, pair, LocationRole::Primary));
            finding
        })
        .collect()
}

/// Whether a need is what a template asks the cluster for.
pub(crate) fn is_asked(context: &Context<'_>, judged: &Judged) -> bool {
    let need = context.need(judged);
    need.why == WHY && context.component(need.of).role == Role::HelmRelease
}
