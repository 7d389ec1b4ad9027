//! What a Kustomization needs before it can be built: its source, its variables, its keys.

use std::collections::BTreeSet;

use model::{Capability, CapabilityKind, ComponentId, ObjectRef, Phase, Purpose};
use yaml::Node;

use crate::content::collector::{Collector, Needing};
use crate::flux::Kustomization;
use crate::object::owned;

pub(crate) fn read_all(collector: &mut Collector) {
    let kustomizations = std::mem::take(&mut collector.assembled.kustomizations);
    let given = given_sources(&kustomizations, collector);
    for (id, kustomization) in &kustomizations {
        let needing =
            Needing { of: *id, object: &kustomization.object, phase: Phase::Build, soft: false, optional: false };
        if let Some(source) = kustomization.source.as_ref().filter(|source| !given.contains(&source.object)) {
            let name = ecow::eco_format!("{}:{}", source.object.kind, source.object.name);
            let capability = Capability::new(CapabilityKind::Source, source.object.namespace.clone(), name);
            collector.need(&needing, capability, source.at, Purpose::AppliedFiles);
        }
        variables(collector, &needing, kustomization);
        let namespace = &kustomization.object.namespace;
        for (secret, why) in [
            (&kustomization.decryption_secret, Purpose::Decrypt),
            (&kustomization.kube_config_secret, Purpose::Kubeconfig),
        ] {
            if let Some(name) = secret {
                let capability = Capability::new(CapabilityKind::Secret, namespace.clone(), owned(Some(name)));
                collector.need(&needing, capability, name.span, why);
            }
        }
    }
    collector.assembled.kustomizations = kustomizations;
    collector.given = given;
}

/// Sources that starting the cluster makes: the root's own, and where no file declares the root, those of the first
/// Kustomizations below it.
fn given_sources(kustomizations: &[(ComponentId, Kustomization)], collector: &Collector) -> BTreeSet<ObjectRef> {
    let root = kustomizations.first().map(|(id, root)| (*id, root.source.as_ref()));
    let is_first = |id: ComponentId| {
        let parent = collector.assembled.cluster.component(id).parent;
        parent.is_none() || root.is_some_and(|(root, source)| source.is_none() && parent == Some(root))
    };
    let firsts = kustomizations.iter().filter(|(id, _)| is_first(*id));
    firsts
        .filter_map(|(_, first)| Some(first.source.as_ref()?.object.clone()))
        .filter(|source| source.kind != "ExternalArtifact")
        .collect()
}

fn variables(collector: &mut Collector, needing: &Needing<'_>, kustomization: &Kustomization) {
    let from =
        kustomization.post_build.as_ref().map(|post_build| post_build.items_at("substituteFrom")).unwrap_or_default();
    for reference in from {
        let Some(name) = reference.get("name") else { continue };
        let kind = match reference.get("kind").and_then(Node::text) {
            Some("Secret") => CapabilityKind::Secret,
            _ => CapabilityKind::ConfigMap,
        };
        let optional = reference.get("optional").and_then(Node::as_bool).unwrap_or(false);
        if optional && collector.assembled.indifferent.contains(&needing.of) {
            continue;
        }
        let capability = Capability::new(kind, kustomization.object.namespace.clone(), owned(Some(name)));
        collector.need(&Needing { optional, ..needing.clone() }, capability, name.span, Purpose::Variables);
    }
}
