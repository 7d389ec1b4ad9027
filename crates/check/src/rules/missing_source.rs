//! ## What it finds
//!
//! A Kustomization or HelmRelease whose source (HelmRepository, OCIRepository, GitRepository, Bucket, ExternalArtifact)
//! nobody defines.
//!
//! ## Why it matters at a cold start
//!
//! It never gets an artifact. On a running cluster the old source object may still be there, left behind by a commit that
//! removed it.
//!
//! ## Example
//!
//! ```yaml
//! chart:
//!   spec:
//!     chart: app-template
//!     sourceRef: {kind: HelmRepository, name: bjw-s, namespace: flux-system}
//! ```
//!
//! ## Fix
//!
//! Define the source, or correct its kind, name or namespace.

use graph::{Consequence, Verdict};
use model::CapabilityKind;

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::words::quoted;

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let unoffered = context.judged().filter(|judged| judged.verdict == Verdict::Unoffered);
    let sources =
        unoffered.map(|judged| context.need(judged)).filter(|need| need.capability.kind == CapabilityKind::Source);
    // What could not be seen might define it.
    let may_define = |blind: &model::BlindSpot| blind.component.is_some() && blind.why != model::FLUX_ITSELF;
    let blind = context.cluster.blind.iter().any(may_define);
    sources
        .map(|need| {
            let component = context.component(need.of);
            let (kind, name) = need.capability.name.split_once(':').unwrap_or(("source", &need.capability.name));
            Finding {
                rule: "missing-source",
                severity: if blind { Severity::Info } else { Severity::Warning },
                message: format!(
                    "{} takes its objects from {kind} `{}/{name}`, which nobody defines",
                    quoted(component),
                    need.capability.namespace
                ),
                cluster: context.cluster.name.clone(),
                component: component.object.clone(),
                provider: None,
                capability: Some(need.capability.to_string()),
                verdict: Some(Verdict::Unoffered),
                consequence: Some(Consequence::Deadlock),
                cost: "never gets anything to apply".to_owned(),
                locations: vec![Location {
                    span: need.at,
                    role: LocationRole::Primary,
                    label: format!("no {kind} of this name was read"),
                }],
                fix: Some(format!(
                    "define {kind} `{name}` in namespace `{}`, or correct the reference",
                    need.capability.namespace
                )),
                notes: if blind {
                    vec!["part of this cluster could not be seen, and may define it".to_owned()]
                } else {
                    Vec::new()
                },
                also: Vec::new(),
                each: Vec::new(),
            }
        })
        .collect()
}
