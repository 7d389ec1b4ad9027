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
//! Where the CRD of the same component is not ordered either, `missing-dependency` says it all, and this rule is silent.

use std::collections::BTreeMap;

use graph::Verdict;
use model::{CapabilityKind, ComponentId};

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
        if is_only_webhooks(context, pair) && !context.is_tied(pair.provider, pair.consumer) {
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
