//! ## What it finds
//!
//! Kustomizations with a long `interval` and no `retryInterval`.
//!
//! ## Why it matters at a cold start
//!
//! Flux retries a failed Kustomization after `retryInterval`, which defaults to `interval`. A repository that
//! reconciles every hour to spare the API server also waits an hour after every lost race.
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
//! One finding stands for all Kustomizations of a cluster; one patch in the Kustomization that applies them fixes all
//! of them.

use diagnostic::{Advice, Cost, Finding, Fix, GateFault, Goal, Location, Remark, Rule, Severity};
use model::{ComponentId, Consequence, Retry, RetryField, Role};

use crate::context::Context;

pub(crate) static RULE: Rule =
    Rule::new("slow-retry", "a failure that Flux retries only after a long time", include_str!("slow_retry.rs"));

/// Shorter than this nobody minds.
const LONG_SECONDS: u64 = 1800;

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let seconds = |id: ComponentId| match context.component(id).patience {
        model::Patience { retry: Retry::Every(seconds), retry_field: Some(RetryField::Interval), .. } => Some(seconds),
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
    let statement = GateFault::RetriesLate { component: component.object.clone(), seconds, count: slow.len() };
    let primary = Location::new(component.patience.retry_at, Remark::NoRetryInterval);
    let components = slow.iter().map(|(_, id)| context.component(*id).object.clone()).collect();
    let finding = Finding::new(&RULE, Severity::Info, &context.cluster.name, &component.object, statement, primary)
        .with_consequence(Consequence::Slow { seconds })
        .with_cost(Cost::EachTry { seconds })
        .with_fix(Fix::by_hand(Advice::SetRetryInterval { components }, Goal::Gone));
    vec![finding]
}
