//! ## What it finds
//!
//! A Flux Kustomization or HelmRelease in a file below a directory that Flux applies, which no kustomization.yaml lists. A
//! file that a kustomization names in a comment is switched off on purpose and not reported.
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

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    context
        .cluster
        .dead
        .iter()
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
        })
        .collect()
}
