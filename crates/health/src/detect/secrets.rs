//! Where Secrets come from: sealing keys, SealedSecrets, stores, ExternalSecrets.

use std::time::Duration;

use crate::detect::Found;
use crate::detect::gitops::edges_of_message;
use crate::facts::{Condition, ObjectKey, SealedSecret, Truth, condition};
use crate::known;
use crate::status::{Because, LayerName, Problem, State, What};
use crate::symptom::Symptom;
use crate::view::{View, key};

const LAYER: LayerName = LayerName::Secrets;
const KEY_LABEL: &str = "sealedsecrets.bitnami.com/sealed-secrets-key";
const STARTING: Duration = Duration::from_mins(1);
const NO_KEY: &str = "no key could decrypt";

pub(super) fn detect(view: &View<'_>, found: &mut Found) {
    sealed(view, found);
    stores(view, found);
    external(view, found);
}

/// The sealing keys of a cluster, which are no single object.
fn sealing_key(view: &View<'_>) -> ObjectKey {
    let namespace = controllers(view).next().map(|key| key.namespace).unwrap_or_default();
    let newest = keys(view).max_by_key(|it| it.meta.created);
    match newest {
        Some(secret) => secret.meta.key("", "Secret"),
        None => ObjectKey::new("", "Secret", &namespace, "sealed-secrets-key"),
    }
}

fn keys<'a>(view: &View<'a>) -> impl Iterator<Item = &'a crate::facts::Secret> {
    view.facts.secrets.iter().filter(|it| it.meta.labels.get(KEY_LABEL).is_some())
}

fn controllers<'a>(view: &'a View<'_>) -> impl Iterator<Item = ObjectKey> + 'a {
    view.workloads().iter().filter(|it| known::is_sealed_secrets(&it.meta)).map(|it| key(it))
}

fn sealed(view: &View<'_>, found: &mut Found) {
    let all = &view.facts.sealed_secrets;
    if all.is_empty() {
        return;
    }
    found.needs(LAYER, all);
    let key_object = sealing_key(view);
    let has_keys = keys(view).next().is_some();
    if view.facts.secrets.is_whole() {
        let count = keys(view).count();
        found.count(LAYER, What::SealingKeys, count, count.max(1));
        if !has_keys {
            let symptom = Symptom::new(LAYER, key_object.clone(), Problem::NoSealingKey)
                .shows("metadata.labels", KEY_LABEL, view.facts.secrets.seen)
                .edges(controllers(view).map(|key| (key, Because::Makes)));
            found.add(symptom);
        }
    }
    let failing: Vec<(&SealedSecret, &Condition)> = all
        .iter()
        .filter_map(|it| Some((it, condition(&it.conditions, "Synced").filter(|it| it.status == Truth::False)?)))
        .collect();
    let unopened = failing.iter().filter(|(_, it)| it.message.contains(NO_KEY)).count();
    // All of them, and more than one: it is the key, not what was sealed.
    let is_key = has_keys && unopened == all.len() && unopened > 1;
    if is_key {
        let created = keys(view).filter_map(|it| it.meta.created).max();
        let mut symptom = Symptom::new(LAYER, key_object.clone(), Problem::SealingKeyOpensNothing { sealed: unopened })
            .shows(
                "metadata.creationTimestamp",
                created.map(|at| ecow::eco_format!("{at}")).unwrap_or_default(),
                created,
            );
        for (one, synced) in failing.iter().take(3) {
            symptom = symptom.shows_of(
                one.meta.key("bitnami.com", "SealedSecret"),
                "status.conditions",
                synced.message.clone(),
                synced.since,
            );
        }
        found.add(symptom);
    }
    let mut good = 0;
    for one in all {
        let object = one.meta.key("bitnami.com", "SealedSecret");
        let synced = condition(&one.conditions, "Synced");
        let is_stale = one.observed_generation.is_some() && one.observed_generation != one.meta.generation;
        match synced {
            Some(it) if it.status == Truth::True && !is_stale => good += 1,
            Some(it) if it.status != Truth::True => {
                let symptom = Symptom::new(LAYER, object, Problem::CannotUnseal { message: it.message.clone() })
                    .shows_condition(it)
                    .edge(key_object.clone(), Because::Names);
                found.add(symptom);
            }
            _ => {
                // A change that its controller has not seen yet: as long as that one lives, it will.
                let is_young = synced.is_some() || !view.is_older(one.meta.created, STARTING);
                let observed = one.observed_generation.unwrap_or_default();
                let problem = Problem::NotReconciled { generation: one.meta.generation.unwrap_or_default(), observed };
                let symptom = Symptom::new(LAYER, object, problem)
                    .shows("status.conditions", "", one.meta.created)
                    .edges(controllers(view).map(|key| (key, Because::Controller)))
                    .edge(key_object.clone(), Because::Names)
                    .progressing_if(is_young);
                found.add(symptom);
            }
        }
    }
    found.count(LAYER, What::SealedSecrets, good, all.len());
}

fn stores(view: &View<'_>, found: &mut Found) {
    let (mut good, mut of) = (0, 0);
    for store in view.facts.secret_stores.iter().chain(&view.facts.cluster_secret_stores) {
        of += 1;
        let kind = if store.cluster { "ClusterSecretStore" } else { "SecretStore" };
        let object = store.meta.key("external-secrets.io", kind);
        let ready = condition(&store.conditions, "Ready");
        if ready.is_some_and(|it| it.status == Truth::True) {
            good += 1;
            continue;
        }
        let edges = found_edges(view, found, ready, &store.meta.namespace);
        let symptom = reported(view, edges, object, ready, store.meta.created);
        found.add(symptom.edges(sealed_vaults(view, ready)));
    }
    found.count(LAYER, What::SecretStores, good, of);
}

fn found_edges(
    view: &View<'_>,
    found: &mut Found,
    ready: Option<&Condition>,
    namespace: &str,
) -> Vec<(ObjectKey, Because)> {
    ready.map(|it| edges_of_message(view, found, &it.message, namespace)).unwrap_or_default()
}

/// Whatever says by `Ready` that it is not.
pub(super) fn reported(
    view: &View<'_>,
    edges: Vec<(ObjectKey, Because)>,
    object: ObjectKey,
    ready: Option<&Condition>,
    created: Option<crate::Time>,
) -> Symptom {
    let layer = known::layer_of_kind(&object).unwrap_or(LAYER);
    match ready {
        Some(ready) => {
            let problem = Problem::NotReady { reason: ready.reason.clone(), message: ready.message.clone() };
            Symptom::new(layer, object, problem).shows_condition(ready).edges(edges)
        }
        None => Symptom::new(layer, object, Problem::NotReconciled { generation: 0, observed: 0 })
            .shows("status.conditions", "", created)
            .edges(edges)
            .progressing_if(!view.is_older(created, STARTING)),
    }
}

/// Pods of Vault that say that it is sealed, where a store says so too.
fn sealed_vaults(view: &View<'_>, ready: Option<&Condition>) -> Vec<(ObjectKey, Because)> {
    if !ready.is_some_and(|it| it.message.contains("Vault is sealed") || it.message.contains("503")) {
        return Vec::new();
    }
    let sealed = view.facts.pods.iter().filter(|pod| pod.meta.labels.is("vault-sealed", "true"));
    sealed.map(|pod| (pod.meta.key("", "Pod"), Because::Backend)).collect()
}

fn external(view: &View<'_>, found: &mut Found) {
    let all = &view.facts.external_secrets;
    let mut good = 0;
    for one in all {
        let ready = condition(&one.conditions, "Ready");
        if ready.is_some_and(|it| it.status == Truth::True) {
            good += 1;
            continue;
        }
        let object = one.meta.key("external-secrets.io", "ExternalSecret");
        let mut edges = found_edges(view, found, ready, &one.meta.namespace);
        if let Some(store) = &one.store {
            found.named(view, store, LAYER);
            edges.push((store.clone(), Because::Names));
        }
        found.add(
            reported(view, edges, object, ready, one.meta.created)
                .state(State::Failed)
                .progressing_if(ready.is_none() && !view.is_older(one.meta.created, STARTING)),
        );
    }
    found.count(LAYER, What::ExternalSecrets, good, all.len());
}
