//! What Kustomizations tell of files that are elsewhere: the objects that they check and patch.
//!
//! Knows no file of another repository. Only what nothing else of the cluster brings is taken to come from there.

use std::collections::BTreeSet;

use model::{BlindSpot, Capability, CapabilityKind, ComponentId, Gate, ObjectRef, Unseen, WhyUnseen};
use source::Span;
use yaml::Node;

use crate::content::collector::Collector;
use crate::flux::Kustomization;

/// Offers the kinds that Kustomizations from elsewhere bring by all appearances: guesses, which order and never lock.
pub(crate) fn offer_all(collector: &mut Collector) {
    let spots = collector.cluster().blind.iter();
    // What is at a path of variables may as well be in this repository, where no patch of it tells what it holds.
    let is_elsewhere = |spot: &&BlindSpot| {
        matches!(spot.what, Unseen::AppliedBy { .. }) && !matches!(spot.why, WhyUnseen::PathOfVariables)
    };
    let elsewhere = spots.filter(is_elsewhere);
    let elsewhere: BTreeSet<ComponentId> = elsewhere.filter_map(|spot| spot.component).collect();
    let kustomizations = std::mem::take(&mut collector.assembled.kustomizations);
    for (id, kustomization) in kustomizations.iter().filter(|(id, _)| elsewhere.contains(id)) {
        for (group, at) in groups(kustomization) {
            let begin = format!("{group}/");
            let mut offers = collector.cluster().offers.iter();
            let is_known =
                offers.any(|it| it.capability.kind == CapabilityKind::Crd && it.capability.name.starts_with(&begin));
            if !is_known {
                let capability = Capability::cluster(CapabilityKind::Crd, format!("{group}/*"));
                collector.guess(*id, capability, &kustomization.object, at);
            }
        }
    }
    collector.assembled.kustomizations = kustomizations;
}

/// The API groups whose CRDs a Kustomization waits for, and those of the custom resources that it patches.
fn groups(kustomization: &Kustomization) -> Vec<(String, Span)> {
    let listed: &[ObjectRef] = if let Gate::Listed(listed) = &kustomization.gate { listed } else { &[] };
    let checked = listed.iter().chain(kustomization.ignored_checks.iter().map(|(object, _)| object));
    let crds = checked.filter(|object| object.kind == "CustomResourceDefinition");
    let crds = crds.filter_map(|crd| Some((crd.name.split_once('.')?.1.to_owned(), kustomization.gate_at)));
    let patched = kustomization.overlay.patches.iter().filter_map(|patch| patch.at(&["target", "group"]));
    let patched = patched.filter_map(|group| Some((Node::text(group)?.to_owned(), group.span)));
    crds.chain(patched.filter(|(group, _)| is_of_custom_resources(group))).collect()
}

/// Whether CRDs serve a group: those of Kubernetes itself have no dot, or end as its own do; Flux is there before.
fn is_of_custom_resources(group: &str) -> bool {
    group.contains('.') && !group.ends_with(".k8s.io") && !group.ends_with(".fluxcd.io")
}
