//! `healthChecks` that name an object which is not there: Flux waits for it until the timeout, at every try.
//!
//! Judges only what nothing but a manifest makes: objects of Flux itself; and workloads of a namespace without charts where the
//! Kustomization applies one of nearly the same name. Everything else a chart or an operator may make.

use std::collections::BTreeSet;

use model::{ComponentId, MissingCheck, ObjectRef, edits};

use crate::bootstrap::ClusterBootstrap;
use crate::content::collector::Collector;
use crate::object::Object;

/// Kinds of Flux that only manifests bring.
const FLUX_KINDS: [&str; 6] =
    ["Kustomization", "HelmRelease", "GitRepository", "OCIRepository", "HelmRepository", "Bucket"];
const WORKLOADS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];
/// Of so many letters one may be wrong.
const LETTERS_PER_SLIP: usize = 6;

pub(crate) fn gather(collector: &mut Collector, bootstrap: &ClusterBootstrap<'_>) {
    let early = bootstrap.objects().iter().map(|it| Object::new(it.node).reference(""));
    let mut there: BTreeSet<ObjectRef> = early.collect();
    let objects = &collector.assembled.objects;
    there.extend(objects.iter().map(|built| Object::new(&built.node).reference(&built.namespace)));
    let cluster = &collector.assembled.cluster;
    there.extend(cluster.components.iter().map(|component| component.object.clone()));
    there.extend(cluster.offers.iter().map(|offer| offer.object.clone()));
    let mut missing = Vec::new();
    for (of, kustomization) in &collector.assembled.kustomizations {
        for (object, at) in kustomization.checks.iter().filter(|(object, _)| !there.contains(object)) {
            let near = near(collector, *of, object);
            let is_judged = FLUX_KINDS.contains(&object.kind.as_str())
                || (WORKLOADS.contains(&object.kind.as_str()) && near.is_some() && !has_charts(collector, object));
            if is_judged && !object.name.contains("${") && !object.namespace.contains("${") {
                missing.push(MissingCheck { of: *of, object: object.clone(), at: *at, near });
            }
        }
    }
    collector.cluster().facts.missing_checks = missing;
}

/// What the Kustomization itself applies under nearly that name.
fn near(collector: &Collector, of: ComponentId, missing: &ObjectRef) -> Option<ObjectRef> {
    let own = collector.assembled.objects.iter().filter(|built| built.component == of);
    let references = own.map(|built| Object::new(&built.node).reference(&built.namespace));
    let mut beside = references.filter(|it| it.kind == missing.kind && it.namespace == missing.namespace);
    // Names that are counted through differ by a digit, and not by mistake.
    let letters = |name: &str| name.replace(|c: char| c.is_ascii_digit(), "");
    beside.find(|it| {
        letters(&it.name) != letters(&missing.name)
            && edits(&it.name, &missing.name) * LETTERS_PER_SLIP <= missing.name.len()
    })
}

/// Whether a chart may make workloads in that namespace.
fn has_charts(collector: &Collector, missing: &ObjectRef) -> bool {
    let releases = collector.assembled.releases.iter();
    releases.map(|(_, release)| &release.target_namespace).any(|namespace| *namespace == missing.namespace)
}
