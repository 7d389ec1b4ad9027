//! ## What it finds
//!
//! What a cluster can't live without a minute (the pod network, cluster DNS, the storage driver, the sealing controller),
//! applied by a Kustomization with `prune: true` and without the mark that keeps it from being pruned. One finding for a
//! cluster.
//!
//! ## Why it matters at a cold start
//!
//! One commit that drops a line from a kustomization.yaml (a bad merge, a directory that was moved in two steps) makes Flux
//! delete the HelmRelease, and helm uninstalls the network that Flux itself talks over. Nothing repairs that from inside:
//! the next thing is a cold start.
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

use model::{CapabilityKind, ComponentId, Offer, Stage};

use crate::context::Context;
use crate::finding::{Also, Finding, LocationRole, Severity};
use crate::words::quoted;

/// The catalogue's name of the controller that opens SealedSecrets.
const SEALING: &str = "sealed-secrets";

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut exposed: BTreeMap<ComponentId, &'static str> = BTreeMap::new();
    for offer in &context.cluster.offers {
        if let Some(what) = vital(context, offer).filter(|_| is_exposed(context, offer)) {
            exposed.entry(offer.by).or_insert(what);
        }
    }
    let mut exposed: Vec<(ComponentId, &'static str)> = exposed.into_iter().collect();
    exposed.sort_by_key(|(id, what)| (rank(what), *id));
    exposed.first().map(|first| finding(context, *first, &exposed)).into_iter().collect()
}

/// What an offer is to the whole cluster, if it is that.
fn vital(context: &Context<'_>, offer: &Offer) -> Option<&'static str> {
    match offer.capability.kind {
        CapabilityKind::PodNetwork => Some("the pod network"),
        CapabilityKind::ClusterDns => Some("cluster DNS"),
        CapabilityKind::CsiDriver if is_used(context, offer.by) => Some("storage"),
        _ if context.component(offer.by).known_as.as_deref() == Some(SEALING) => Some("the sealing controller"),
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

fn rank(what: &str) -> usize {
    ["the pod network", "cluster DNS", "storage", "the sealing controller"]
        .iter()
        .position(|known| *known == what)
        .unwrap_or(usize::MAX)
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

fn finding(context: &Context<'_>, first: (ComponentId, &str), all: &[(ComponentId, &'static str)]) -> Finding {
    let (id, what) = first;
    let component = context.component(id);
    let others: Vec<String> =
        all.iter().skip(1).map(|(id, what)| format!("{} ({what})", quoted(context.component(*id)))).collect();
    let more = if others.is_empty() { String::new() } else { format!(", and so would {}", others.join(", ")) };
    let message = format!("one commit that drops {} would tear down {what}{more}", quoted(component));
    let cost = match what {
        "storage" => "every volume that hangs on it is cut off until it is back",
        "the sealing controller" => "no SealedSecret is opened until it is back",
        _ => "nothing repairs it from inside: the next thing is a cold start",
    };
    let prune_at = |id: ComponentId| context.cluster.facts.prunes.get(&context.applier(id)).copied();
    let mut finding =
        Finding::new("critical-prune", Severity::Info, &context.cluster.name, &component.object, message, cost);
    if let Some(at) = prune_at(id) {
        finding = finding.with(LocationRole::Primary, at, "deletes what leaves the build");
    }
    finding = finding.with(LocationRole::Related, component.at, format!("{what} is this one's"));
    finding.fix = Some(format!(
        "annotate {} with `kustomize.toolkit.fluxcd.io/prune: disabled`{}",
        component.object,
        if all.len() > 1 { ", and the others alike" } else { "" }
    ));
    finding.also = all
        .iter()
        .skip(1)
        .map(|(id, _)| Also {
            component: context.component(*id).object.clone(),
            provider: None,
            at: prune_at(*id).unwrap_or(context.component(*id).at),
        })
        .collect();
    finding
}
