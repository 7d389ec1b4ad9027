//! ## What it finds
//!
//! A secret store (ClusterSecretStore, SecretStore) and ExternalSecrets that use it, while the Kustomizations that
//! apply them do not depend on each other. One finding per store, with the number of components that use it.
//!
//! ## Why it matters at a cold start
//!
//! The store is ready when its operator runs, its credentials exist and its backend answers, which is late. An
//! ExternalSecret that is reconciled before that fails and is retried with backoff; pods that mount its Secret can't
//! start until then, and a HelmRelease may reach its timeout. Where the CRDs come from the same component as the store,
//! the apply fails as a whole.
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
//! and `wait: true` on the one that applies the store. Where forty applications use one store, a kustomize component
//! that both applies the ExternalSecret and adds the `dependsOn` needs it only once.

use std::collections::BTreeMap;

use diagnostic::{Explains, Finding, OrderAdvice, OrderFault, Rule, Severity, Symptom};
use model::{CapabilityKind, ComponentId};

use crate::advice::{not_awaited, order};
use crate::context::Context;
use crate::dependents::{also, dependents};
use crate::pairs::{Pair, sort_worst_first};
use crate::races::{is_about_store, races};

pub(crate) static RULE: Rule =
    Rule::new("late-store", "a secret store that its users do not wait for", include_str!("late_store.rs"))
        .explains(&[Explains::new(Symptom::NotHealthy, 1)])
        .may_be_brought()
        .speaks_for_several();

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut stores: BTreeMap<ComponentId, Vec<Pair<'_>>> = BTreeMap::new();
    for pair in races(context).iter().filter(|pair| is_about_store(context, pair)) {
        stores.entry(pair.provider).or_default().push(pair.clone());
    }
    for pairs in stores.values_mut() {
        sort_worst_first(context, pairs);
    }
    let findings = stores.values().map(|pairs| finding(context, pairs));
    findings.filter(|finding| finding.severity > Severity::Pedantic).collect()
}

/// One finding for all of them.
fn finding(context: &Context<'_>, pairs: &[Pair<'_>]) -> Finding {
    let mut finding = of_one(context, &pairs[0], pairs.len());
    finding.notes = dependents(context, pairs).into_iter().collect();
    finding.also = also(context, pairs);
    if context.each {
        finding.each = pairs.iter().map(|pair| of_one(context, pair, 1)).collect();
    }
    finding
}

/// What is to be said of one pair, in a statement that counts so many.
fn of_one(context: &Context<'_>, pair: &Pair<'_>, count: usize) -> Finding {
    let (component, provider) = pair.objects(context);
    let mut needed = pair.judged.iter().map(|judged| &context.need(judged).capability);
    let store = needed.find(|capability| capability.kind == CapabilityKind::SecretStore);
    let store = store.unwrap_or(&context.need(pair.judged[0]).capability).clone();
    let statement = OrderFault::StoreNotAwaited { component, count, store: store.clone(), provider };
    let fix = order(context, pair, OrderAdvice::Add);
    pair.finding(context, &RULE, statement, not_awaited(context, pair)).with_subject(store).with_fix(fix)
}
