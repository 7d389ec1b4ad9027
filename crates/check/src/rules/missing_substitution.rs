//! ## What it finds
//!
//! `postBuild.substituteFrom` that names a ConfigMap or Secret nobody makes; and an `optional` one that is made, but with
//! no order.
//!
//! ## Why it matters at a cold start
//!
//! Without the object the build fails, and is tried again only after `retryInterval`. With `optional: true` it does not
//! fail: everything is built without the variables, and nothing says so. (An optional one that nobody makes is fine, as long
//! as there are other variables; `undefined-variable` tells where there are none.)
//!
//! ## Example
//!
//! ```yaml
//! postBuild:
//!   substituteFrom:
//!     - kind: Secret
//!       name: cluster-secrets
//! ```
//!
//! ## Fix
//!
//! Make the object in a Kustomization that this one depends on, or seed it in the bootstrap: a directory named
//! `bootstrap`, or a script that applies it, is read too.

use graph::{Consequence, Judged, Verdict};
use model::{CapabilityKind, Phase, Role, say_seconds};

use crate::context::Context;
use crate::finding::{Finding, LocationRole, Severity};
use crate::words::quoted;

const RULE: &str = "missing-substitution";

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    context
        .judged()
        .filter(|judged| is_variables(context, judged))
        .filter_map(|judged| finding(context, judged))
        .collect()
}

pub(crate) fn is_variables(context: &Context<'_>, judged: &Judged) -> bool {
    let need = context.need(judged);
    need.phase == Phase::Build
        && matches!(need.capability.kind, CapabilityKind::Secret | CapabilityKind::ConfigMap)
        && context.component(need.of).role == Role::Kustomization
        && need.why == "for its variables"
}

fn finding(context: &Context<'_>, judged: &Judged) -> Option<Finding> {
    let need = context.need(judged);
    let component = context.component(need.of);
    let model::Retry::Every(retry) = component.patience.retry else { return None };
    let (severity, message, cost) = match (judged.verdict, judged.consequence) {
        // One that nobody makes is fine. One that it makes itself is not there at first, and is from the second time on.
        (Verdict::Unoffered | Verdict::BootstrapOnly, _) if need.optional => return None,
        (Verdict::Unoffered, _) => (
            Severity::Info,
            format!("{} takes variables from {}, which nothing here makes", quoted(component), need.capability),
            format!("never built unless something outside makes it; tried again every {}", say_seconds(retry)),
        ),
        (Verdict::BootstrapOnly, _)
            if judged.offer.is_some_and(|offer| context.cluster.offers[offer].by == need.of) =>
        {
            (
                Severity::Info,
                format!("{} takes variables from {}, which it makes itself", quoted(component), need.capability),
                "never built unless something outside makes it first".to_owned(),
            )
        }
        (_, Consequence::Silent) => (
            Severity::Warning,
            format!(
                "{} takes optional variables from {}, and nothing orders it after what makes it",
                quoted(component),
                need.capability
            ),
            "built without the variables, and nothing says so".to_owned(),
        ),
        _ => return None,
    };
    let provider = judged.offer.map(|offer| context.applier(context.cluster.offers[offer].by));
    let consequence = match judged.verdict {
        Verdict::Unoffered => Consequence::Slow { seconds: retry },
        _ => judged.consequence,
    };
    let fix =
        format!("make {} in a Kustomization that this one depends on, or seed it in the bootstrap", need.capability);
    let finding = Finding::new(RULE, severity, &context.cluster.name, &component.object, message, cost);
    Some(Finding {
        provider: provider
            .map(|provider| context.component(provider).object.clone())
            .filter(|provider| *provider != component.object),
        capability: Some(need.capability.to_string()),
        verdict: Some(judged.verdict),
        consequence: Some(consequence),
        fix: Some(fix),
        ..finding.with(LocationRole::Primary, need.at, "needed before anything can be built")
    })
}
