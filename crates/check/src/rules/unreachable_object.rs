//! ## What it finds
//!
//! A Flux Kustomization or HelmRelease in a file below a directory that Flux applies, which no kustomization.yaml lists. A
//! file that a kustomization names in a comment is switched off on purpose and not reported; nor is what lies below a
//! Kustomization that is reported.
//!
//! ## Why it matters at a cold start
//!
//! It looks deployed, and is not. If an older cluster still runs it, the new one will not.
//!
//! ## Example
//!
//! ```yaml
//! # apps/network/kustomization.yaml
//! resources:
//!   - ./ingress/ks.yaml
//! # and beside it, listed nowhere: apps/network/policies/ks.yaml
//! ```
//!
//! ## Fix
//!
//! List the file, or delete it.

use model::Dead;

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};

/// What a Kustomization that nothing applies would apply goes without saying: it lies beside or below its file.
fn is_below_dead(context: &Context<'_>, dead: &Dead) -> bool {
    let Some(place) = context.directory(dead.at) else { return false };
    let is_above = |above: &Dead| {
        let directory = context.directory(above.at).filter(|directory| !directory.is_empty());
        above.object.kind == "Kustomization"
            && directory.is_some_and(|above| place.strip_prefix(above).is_some_and(|rest| rest.starts_with('/')))
    };
    context.cluster.dead.iter().any(is_above)
}

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    context
        .cluster
        .dead
        .iter()
        .filter(|dead| !is_below_dead(context, dead))
        .map(|dead| Finding {
            rule: "unreachable-object",
            severity: Severity::Info,
            message: format!("{} is in a file that nothing applies", dead.object),
            cluster: context.cluster.name.clone(),
            component: dead.object.clone(),
            provider: None,
            capability: None,
            verdict: None,
            consequence: None,
            cost: "it is not there at all".to_owned(),
            locations: vec![Location {
                span: dead.at,
                role: LocationRole::Primary,
                label: "no kustomization lists this file".to_owned(),
            }],
            fix: Some("list the file in a kustomization.yaml, or delete it".to_owned()),
            notes: Vec::new(),
            also: Vec::new(),
            each: Vec::new(),
        })
        .collect()
}
