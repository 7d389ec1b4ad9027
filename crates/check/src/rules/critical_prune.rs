//! ## What it finds
//!
//! A component that the whole cluster depends on (the pod network, cluster DNS, the storage driver, the sealing
//! controller), applied by a Kustomization with `prune: true` and without the annotation that protects it from pruning.
//! One finding per cluster.
//!
//! ## Why it matters at a cold start
//!
//! One commit that removes a line from a kustomization.yaml (a bad merge, a directory that was moved in two steps)
//! makes Flux delete the HelmRelease, and Helm uninstalls the network that Flux itself uses. The cluster can't repair
//! that: it needs a cold start.
//!
//! ## Example
//!
//! ```yaml
//! # kube-system/cilium/ks.yaml
//! spec:
//!   prune: true
//! ```
//!
//! ## Fix
//!
//! On the HelmRelease (or the workload, where there is none):
//!
//! ```yaml
//! metadata:
//!   annotations:
//!     kustomize.toolkit.fluxcd.io/prune: disabled
//! ```
//!
//! or `prune: false` on its Kustomization. `deletionPolicy: Orphan` alone helps only where the Kustomization itself is
//! removed.

use std::collections::BTreeMap;

use diagnostic::{
    Advice, Also, Cost, EvidenceRole, Finding, Fix, Goal, InstallFault, Label, Location, Remark, Rule, Severity, Vital,
};
use model::{CapabilityKind, ComponentId, Offer, Stage};

use crate::context::Context;

pub(crate) static RULE: Rule =
    Rule::new("critical-prune", "a vital component that one commit can delete", include_str!("critical_prune.rs"));

/// The catalogue's name of the controller that opens SealedSecrets.
const SEALING: &str = "sealed-secrets";

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut exposed: BTreeMap<ComponentId, Vital> = BTreeMap::new();
    for offer in &context.cluster.offers {
        if let Some(what) = vital(context, offer).filter(|_| is_exposed(context, offer)) {
            exposed.entry(offer.by).or_insert(what);
        }
    }
    let mut exposed: Vec<(Vital, ComponentId)> = exposed.into_iter().map(|(id, what)| (what, id)).collect();
    exposed.sort_unstable();
    finding(context, &exposed).into_iter().collect()
}

/// What an offer is to the whole cluster, if it is that.
fn vital(context: &Context<'_>, offer: &Offer) -> Option<Vital> {
    match offer.capability.kind {
        CapabilityKind::PodNetwork => Some(Vital::PodNetwork),
        CapabilityKind::ClusterDns => Some(Vital::ClusterDns),
        CapabilityKind::CsiDriver if is_used(context, offer.by) => Some(Vital::Storage),
        _ if context.component(offer.by).known_as.as_deref() == Some(SEALING) => Some(Vital::SealingController),
        _ => None,
    }
}

/// Whether volumes of others hang on it: a driver that nobody uses is not vital.
fn is_used(context: &Context<'_>, by: ComponentId) -> bool {
    let of_others = |need: &model::Need| need.of != by;
    let is_storage = |kind| matches!(kind, CapabilityKind::StorageClass | CapabilityKind::CsiDriver);
    let judged = context.analysis.judged.iter().filter(|judged| {
        let need = context.need(judged);
        is_storage(need.capability.kind) && of_others(need)
    });
    judged.filter_map(|judged| judged.offer).any(|offer| {
        let offered_by = context.cluster.offers[offer].by;
        offered_by == by || context.applier(offered_by) == context.applier(by)
    })
}

/// Applied by Flux, by a Kustomization that prunes, and not marked to be kept.
fn is_exposed(context: &Context<'_>, offer: &Offer) -> bool {
    let facts = &context.cluster.facts;
    context.component(offer.by).stage == Stage::GitOps
        && !context.is_asleep(offer.by)
        && facts.prunes.contains_key(&context.applier(offer.by))
        && !facts.kept.contains(&offer.object)
        && !facts.kept.contains(&context.component(offer.by).object)
}

/// One finding for all, about the most vital.
fn finding(context: &Context<'_>, exposed: &[(Vital, ComponentId)]) -> Option<Finding> {
    let ((vital, id), others) = exposed.split_first()?;
    let component = context.component(*id);
    let object = |id: ComponentId| context.component(id).object.clone();
    let prune_at = |id: ComponentId| {
        let at = context.cluster.facts.prunes.get(&context.applier(id)).copied();
        at.unwrap_or(context.component(id).at)
    };
    let statement = InstallFault::Unprotected {
        component: component.object.clone(),
        vital: *vital,
        others: others.iter().map(|(vital, id)| (object(*id), *vital)).collect(),
    };
    let advice = Advice::KeepFromPruning { object: component.object.clone(), has_others: !others.is_empty() };
    let primary = Location::new(prune_at(*id), Remark::DeletesWhatLeaves);
    let mut finding = Finding::new(&RULE, Severity::Info, &context.cluster.name, &component.object, statement, primary)
        .with_cost(Cost::Lost(*vital))
        .with_evidence(EvidenceRole::Related, component.at, Label::VitalIsHere(*vital))
        .with_fix(Fix::by_hand(advice, Goal::Gone));
    let also = |(vital, id): &(Vital, ComponentId)| Also {
        component: object(*id),
        provider: None,
        at: prune_at(*id).into(),
        severity: Severity::Info,
        cost: Some(Cost::Lost(*vital)),
        consequence: None,
    };
    finding.also = others.iter().map(also).collect();
    Some(finding)
}
