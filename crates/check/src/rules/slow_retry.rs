//! ## What it finds
//!
//! Kustomizations with a long `interval` and no `retryInterval`.
//!
//! ## Why it matters at a cold start
//!
//! A Kustomization that failed once is tried again after `retryInterval`, which defaults to `interval`. A repository that
//! reconciles every hour to be kind to the API server also waits an hour after every lost race.
//!
//! ## Example
//!
//! ```yaml
//! spec:
//!   interval: 12h
//! ```
//!
//! ## Fix
//!
//! ```yaml
//! spec:
//!   interval: 12h
//!   retryInterval: 2m
//! ```
//!
//! One finding stands for all Kustomizations of a cluster; a patch in the one that applies them mends all at once.

use graph::Consequence;
use model::{ComponentId, Retry, Role, say_seconds};

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::words::quoted;

/// Shorter than this nobody minds.
const LONG_SECONDS: u64 = 1800;

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let seconds = |id: ComponentId| match context.component(id).patience {
        model::Patience { retry: Retry::Every(seconds), retry_field: "interval", .. } => Some(seconds),
        _ => None,
    };
    let mut slow: Vec<(u64, ComponentId)> = context
        .cluster
        .ids()
        .filter(|id| {
            context.component(*id).role == Role::Kustomization
                && !context.component(*id).at.is_generated()
                && !context.is_asleep(*id)
        })
        .filter_map(|id| Some((seconds(id).filter(|seconds| *seconds >= LONG_SECONDS)?, id)))
        .collect();
    slow.sort_by_key(|(seconds, id)| (std::cmp::Reverse(*seconds), *id));
    let Some((seconds, worst)) = slow.first().copied() else { return Vec::new() };
    let component = context.component(worst);
    let message = match slow.len() {
        1 => format!("{} tries again only after {}", quoted(component), say_seconds(seconds)),
        many => format!(
            "{many} Kustomizations try again only after their interval, {} up to {}",
            quoted(component),
            say_seconds(seconds)
        ),
    };
    vec![Finding {
        rule: "slow-retry",
        severity: Severity::Info,
        message,
        cluster: context.cluster.name.clone(),
        component: component.object.clone(),
        provider: None,
        capability: None,
        verdict: None,
        consequence: Some(Consequence::Slow { seconds }),
        cost: format!("every failed try costs {} (interval; no retryInterval)", say_seconds(seconds)),
        locations: vec![Location {
            span: component.patience.retry_at,
            role: LocationRole::Primary,
            label: "no retryInterval: this is it".to_owned(),
        }],
        fix: Some("set `retryInterval: 2m`, or patch it into all of them where they are applied".to_owned()),
        notes: Vec::new(),
        also: Vec::new(),
        each: Vec::new(),
    }]
}
