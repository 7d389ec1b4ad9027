//! ## What it finds
//!
//! A component with a webhook that fails closed, and others that apply objects it intercepts, without a dependency
//! between them. One finding per owner of a webhook, with the number of components concerned.
//!
//! ## Why it matters at a cold start
//!
//! From the moment such a webhook is registered until its pods answer, every object it intercepts is rejected: that
//! apply fails as a whole, and Flux retries only after `retryInterval`. On a running cluster the pods are always up.
//!
//! ## Example
//!
//! `kyverno` registers a webhook for everything; `app`, in another Kustomization, is applied in the same minute.
//!
//! ## Fix
//!
//! Make the components that must not be rejected depend on the owner, or let the webhook fail open
//! (`failurePolicy: Ignore`) for what it need not check.
//!
//! A component that provides what the owner is built from (its variables, its source) starts before it in any case, and
//! is not reported. Where the dependency on the CRD of the same component is missing too, `missing-dependency` reports
//! both, and this rule reports nothing.

use std::collections::{BTreeMap, BTreeSet};

use diagnostic::{Explains, Finding, OrderAdvice, OrderFault, Rule, Severity, Symptom};
use model::{ComponentId, Verdict};

use crate::advice::{not_awaited, order};
use crate::context::Context;
use crate::dependents::{also, dependents};
use crate::pairs::{Pair, sort_worst_first};
use crate::races::{is_only_webhooks, races};

pub(crate) static RULE: Rule = Rule::new(
    "webhook-race",
    "a webhook that rejects what is applied before it answers",
    include_str!("webhook_race.rs"),
)
.explains(&[Explains::new(Symptom::WebhookDown, 4), Explains::new(Symptom::InstallFailed, 6)])
.may_be_brought()
.speaks_for_several()
.is_about_everything();

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut owners: BTreeMap<ComponentId, Vec<Pair<'_>>> = BTreeMap::new();
    for pair in races(context).iter().filter(|pair| is_only_webhooks(context, pair)) {
        owners.entry(pair.provider).or_default().push(pair.clone());
    }
    owners.retain(|owner, pairs| {
        // What waits for the owner of a webhook must not be waited for by it.
        let before = context.tied_above(*owner);
        pairs.retain(|pair| !before.contains(&pair.consumer) && !comes_first(context, pair));
        !pairs.is_empty()
    });
    for pairs in owners.values_mut() {
        sort_worst_first(context, pairs);
    }
    owners.values().map(|pairs| finding(context, pairs)).collect()
}

/// Whether the owner of the webhook can't even be built without something that the consumer alone brings: then that is always
/// first, and a tie back would close a circle.
fn comes_first(context: &Context<'_>, pair: &Pair<'_>) -> bool {
    let offers = &context.cluster.offers;
    let is_of_consumer = |offer: &usize| context.above(offers[*offer].by).any(|at| at == pair.consumer);
    let owners = pair.judged.iter().filter_map(|judged| judged.offer).map(|offer| offers[offer].by);
    let built: BTreeSet<ComponentId> = owners.flat_map(|owner| context.above(owner)).collect();
    let mut needs = built.iter().flat_map(|of| context.index().built_with(*of));
    needs.any(|need| {
        let from = context.analysis.links.offers_for(*need);
        !from.is_empty() && from.iter().all(is_of_consumer)
    })
}

/// One finding for all of them.
fn finding(context: &Context<'_>, pairs: &[Pair<'_>]) -> Finding {
    let pair = &pairs[0];
    let (component, provider) = pair.objects(context);
    let is_of_everything = pair.judged.iter().any(|judged| context.need(judged).capability.name == "*");
    let statement = OrderFault::WebhookMayRefuse { component, count: pairs.len(), provider, is_of_everything };
    let fix = order(context, pair, OrderAdvice::Add);
    let mut finding = pair
        .finding(context, &RULE, statement, not_awaited(context, pair))
        .with_verdict(Verdict::Unordered)
        .with_fix(fix);
    // One line for all of them is worth its place; one for each, to programs too, would not be.
    finding.severity = finding.severity.max(Severity::Info);
    finding.notes = dependents(context, pairs).into_iter().collect();
    finding.also = also(context, pairs);
    finding
}
