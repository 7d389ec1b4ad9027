//! ## What it finds
//!
//! A Secret or ConfigMap that a HelmRelease takes values from, or that a plain workload's pods need to start, and that
//! nothing in the repository makes: no manifest, no generator, no ExternalSecret, SealedSecret or Certificate, no operator
//! by its naming convention.
//!
//! ## Why it matters at a cold start
//!
//! Somebody made it by hand once. On the new cluster it is not there.
//!
//! ## Example
//!
//! ```yaml
//! valuesFrom:
//!   - kind: Secret
//!     name: echo-values
//! ```
//!
//! ## Fix
//!
//! Put what makes it into the repository (an ExternalSecret, a SealedSecret, a SOPS file), or seed it in the bootstrap.

use graph::{Consequence, Verdict};
use model::{CapabilityKind, Phase, Role};

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::words::quoted;

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let unoffered =
        context.judged().filter(|judged| judged.verdict == Verdict::Unoffered).map(|judged| context.need(judged));
    let wanted = unoffered.filter(|need| {
        matches!(need.capability.kind, CapabilityKind::Secret | CapabilityKind::ConfigMap) && !need.optional
    });
    wanted
        .filter_map(|need| {
            let component = context.component(need.of);
            let (severity, cost) = match (component.role, need.phase) {
                (Role::HelmRelease, Phase::Build) => {
                    (Severity::Warning, "never installed unless something outside makes it")
                }
                (_, Phase::Ready) => (Severity::Info, "its pods never start unless something outside makes it"),
                _ => return None,
            };
            Some(Finding {
                rule: "missing-secret",
                severity,
                message: format!(
                    "{} needs {} {}, and nothing here makes it",
                    quoted(component),
                    need.capability,
                    need.why
                ),
                cluster: context.cluster.name.clone(),
                component: component.object.clone(),
                provider: None,
                capability: Some(need.capability.to_string()),
                verdict: Some(Verdict::Unoffered),
                consequence: Some(Consequence::Terminal { certain: false }),
                cost: cost.to_owned(),
                locations: vec![Location {
                    span: need.at,
                    role: LocationRole::Primary,
                    label: "nothing that was read makes it".to_owned(),
                }],
                fix: Some(format!("add what makes {} to the repository, or seed it in the bootstrap", need.capability)),
                notes: Vec::new(),
            })
        })
        .collect()
}
