//! ## What it finds
//!
//! A chart in this repository whose templates check with `.Capabilities.APIVersions.Has` for an API that another
//! component installs, while nothing makes its release wait for that component.
//!
//! ## Why it matters at a cold start
//!
//! Helm checks once, when it renders the chart. If the CRD is not installed yet, the template leaves its objects out,
//! the release becomes ready, and Helm does not render it again until the next upgrade: no ServiceMonitor, no route, no
//! certificate, and no error. On a running cluster they exist, because the chart was upgraded since.
//!
//! ## Example
//!
//! ```text
//! {{- if .Capabilities.APIVersions.Has "monitoring.coreos.com/v1/ServiceMonitor" }}
//! ```
//!
//! ## Fix
//!
//! Make the release depend on what installs the API, with `wait: true` there; or switch the objects on with a value
//! instead.

use diagnostic::{Cost, Explains, Finding, OrderAdvice, OrderFault, Rule, Severity, Symptom};
use model::{Consequence, Verdict};

use crate::advice::{not_awaited, order};
use crate::context::Context;
use crate::needs::is_asked;
use crate::pairs::{self, Pair};
use crate::remedy;

pub(crate) static RULE: Rule = Rule::new(
    "capability-gated",
    "a chart that checks for an API before it is installed",
    include_str!("capability_gated.rs"),
)
.explains(&[Explains::new(Symptom::LeftOut, 1)]);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut pairs = pairs::gather(context, |judged| {
        is_asked(context, judged) && judged.verdict < Verdict::BootstrapOnly && judged.verdict > Verdict::Unoffered
    });
    remedy::find_ways(context, &mut pairs);
    pairs.iter().map(|pair| finding(context, pair)).collect()
}

fn finding(context: &Context<'_>, pair: &Pair<'_>) -> Finding {
    let (release, provider) = pair.objects(context);
    let statement = OrderFault::AsksTooEarly { release, provider, needed: pair.needed(context) };
    let fix = order(context, pair, OrderAdvice::Add);
    let mut finding = pair
        .finding(context, &RULE, statement, not_awaited(context, pair))
        .with_consequence(Consequence::Silent)
        .with_cost(Cost::RenderedWithout)
        .with_fix(fix);
    finding.severity = Severity::Warning;
    finding
}
