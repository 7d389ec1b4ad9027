//! ## What it finds
//!
//! A component with a webhook that fails closed, and others that apply objects it is asked about, with no order between
//! them. One finding for each owner of a webhook, with the number of those concerned.
//!
//! ## Why it matters at a cold start
//!
//! From the moment such a webhook is registered until its pods answer, every object it is asked about is refused: nothing
//! of that apply goes through, and it is tried again only after `retryInterval`. On the running cluster the pods are
//! always there.
//!
//! ## Example
//!
//! `kyverno` registers a webhook for everything; `app`, in another Kustomization, is applied in the same minute.
//!
//! ## Fix
//!
//! Order those that must not be refused after the owner, or let the webhook fail open (`failurePolicy: Ignore`) for what it
//! need not guard.
//!
//! Whoever brings what the owner is built from (its variables, its source) comes before it in any case, and is not told. Where the
//! CRD of the same component is not ordered either, `missing-dependency` says it all, and this rule is silent.

use std::collections::{BTreeMap, BTreeSet};

use graph::Verdict;
use model::{CapabilityKind, ComponentId, Phase};

use crate::context::Context;
use crate::finding::{Finding, LocationRole, Severity};
use crate::pairs::Pair;
use crate::rules::missing_dependency::{add_tie, races, tie_place};
use crate::rules::ungated_dependency::{also, dependents};
use crate::words::and_more;

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut owners: BTreeMap<ComponentId, Vec<Pair<'_>>> = BTreeMap::new();
    for pair in races(context) {
        // What waits for the owner of a webhook must not be waited for by it.
        let is_before = || context.is_tied(pair.provider, pair.consumer) || comes_first(context, pair);
        if is_only_webhooks(context, pair) && !is_before() {
            owners.entry(pair.provider).or_default().push(pair.clone());
        }
    }
    for pairs in owners.values_mut() {
        pairs.sort_by_key(|pair| (std::cmp::Reverse(pair.severity), context.component(pair.consumer).object.clone()));
    }
    owners.values().map(|pairs| finding(context, pairs)).collect()
}

/// Whether all that is not ordered between the two is that a webhook answers.
pub(crate) fn is_only_webhooks(context: &Context<'_>, pair: &Pair<'_>) -> bool {
    pair.judged.iter().all(|judged| context.need(judged).capability.kind == CapabilityKind::Webhook)
}

/// Whether the owner of the webhook can't even be built without something that the consumer alone brings: then that is always
/// first, and a tie back would close a circle.
fn comes_first(context: &Context<'_>, pair: &Pair<'_>) -> bool {
    let offers = &context.cluster.offers;
    let is_of_consumer = |offer: &usize| context.above(offers[*offer].by).any(|at| at == pair.consumer);
    let owners = pair.judged.iter().filter_map(|judged| judged.offer).map(|offer| offers[offer].by);
    let built: BTreeSet<ComponentId> = owners.flat_map(|owner| context.above(owner)).collect();
    context.cluster.needs.iter().enumerate().any(|(index, need)| {
        let from = context.analysis.links.offers_for(index);
        let is_hard = need.phase == Phase::Build && !need.optional && built.contains(&need.of);
        is_hard && !from.is_empty() && from.iter().all(is_of_consumer)
    })
}

/// One finding for all of them.
fn finding(context: &Context<'_>, pairs: &[Pair<'_>]) -> Finding {
    let mut finding = of_one(context, &pairs[0], pairs.len());
    // One line for all of them is worth its place; one for each, to programs too, would not be.
    finding.severity = finding.severity.max(Severity::Info);
    finding.notes = dependents(context, pairs);
    finding.also = also(context, pairs);
    finding
}

/// What is to be said of one pair, in a message that counts so many.
fn of_one(context: &Context<'_>, pair: &Pair<'_>, count: usize) -> Finding {
    let (consumer, provider) = pair.names(context);
    let mut finding = pair.finding(context, "webhook-race");
    let is_everything = pair.judged.iter().any(|judged| context.need(judged).capability.name == "*");
    let asked = if is_everything { ", which is asked about everything," } else { "" };
    finding.message = format!(
        "{consumer}{} may be refused while the webhook of {provider}{asked} does not answer",
        and_more(1, count)
    );
    finding.verdict = Some(Verdict::Unordered);
    finding.fix = Some(add_tie(context, pair));
    finding.locations.insert(0, tie_place(context, pair, LocationRole::Primary));
    finding
}
