//! ## What it finds
//!
//! A secret store (ClusterSecretStore, SecretStore) and ExternalSecrets that use it, with no order between the
//! Kustomizations that apply them. One finding for each store, with the number of those that use it.
//!
//! ## Why it matters at a cold start
//!
//! The store is ready when its operator runs, its credentials are there and its backend answers: late. An ExternalSecret
//! that asks before that fails and asks again after growing pauses; whatever mounts its Secret hangs until then, and a
//! HelmRelease may have run out of patience. Where the store's own kinds come with it, the apply fails altogether.
//!
//! ## Example
//!
//! ```yaml
//! # apps/sonarr/ks.yaml applies an ExternalSecret with secretStoreRef: onepassword
//! spec:
//!   dependsOn: []     # the ClusterSecretStore is applied by external-secrets-stores
//! ```
//!
//! ## Fix
//!
//! ```yaml
//! spec:
//!   dependsOn:
//!     - name: external-secrets-stores
//!       namespace: external-secrets
//! ```
//!
//! and `wait: true` on the one that applies the store. Where forty applications use one store, a component that both
//! applies the ExternalSecret and adds the `dependsOn` writes it once.

use std::collections::BTreeMap;

use model::{CapabilityKind, ComponentId};

use crate::context::Context;
use crate::finding::{Finding, LocationRole, Severity};
use crate::pairs::Pair;
use crate::rules::missing_dependency::{add_tie, races, tie_place};
use crate::rules::ungated_dependency::{also, dependents};
use crate::words::{agree, and_more};

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut stores: BTreeMap<ComponentId, Vec<Pair<'_>>> = BTreeMap::new();
    for pair in races(context).iter().filter(|pair| is_about_store(context, pair)) {
        stores.entry(pair.provider).or_default().push(pair.clone());
    }
    for pairs in stores.values_mut() {
        pairs.sort_by_key(|pair| (std::cmp::Reverse(pair.severity), context.component(pair.consumer).object.clone()));
    }
    let findings = stores.values().map(|pairs| finding(context, pairs));
    findings.filter(|finding| finding.severity > Severity::Pedantic).collect()
}

/// Whether a pair is about a store that the provider applies.
pub(crate) fn is_about_store(context: &Context<'_>, pair: &Pair<'_>) -> bool {
    pair.judged.iter().any(|judged| context.need(judged).capability.kind == CapabilityKind::SecretStore)
}

/// One finding for all of them.
fn finding(context: &Context<'_>, pairs: &[Pair<'_>]) -> Finding {
    let mut finding = of_one(context, &pairs[0], pairs.len());
    finding.notes = dependents(context, pairs);
    finding.also = also(context, pairs);
    if context.each {
        finding.each = pairs.iter().map(|pair| of_one(context, pair, 1)).collect();
    }
    finding
}

/// What is to be said of one pair, in a message that counts so many.
fn of_one(context: &Context<'_>, pair: &Pair<'_>, count: usize) -> Finding {
    let (consumer, provider) = pair.names(context);
    let mut finding = pair.finding(context, "late-store");
    let store = pair
        .judged
        .iter()
        .map(|judged| &context.need(judged).capability)
        .find(|capability| capability.kind == CapabilityKind::SecretStore);
    let store = store.map_or_else(|| "its secret store".to_owned(), ToString::to_string);
    finding.message = format!(
        "{consumer}{} {} {store}, and nothing orders {} after {provider}",
        and_more(1, count),
        agree(count, "needs", "need"),
        agree(count, "it", "them"),
    );
    finding.capability = Some(store);
    finding.fix = Some(add_tie(context, pair));
    finding.locations.insert(0, tie_place(context, pair, LocationRole::Primary));
    finding
}
