//! `healthChecks` that name an object which is not there: Flux waits for it until the timeout, at every try.
//!
//! Judges only what nothing but a manifest makes: objects of Flux itself; and workloads of a namespace without charts where the
//! Kustomization applies one of nearly the same name. Everything else a chart or an operator may make.

use std::collections::{BTreeMap, BTreeSet};

use ecow::EcoString;
use model::{ComponentId, HintBudget, MissingCheck, ObjectRef, is_slip};

use crate::bootstrap::ClusterBootstrap;
use crate::content::collector::Collector;
use crate::object::Object;

/// Kinds of Flux that only manifests bring.
const FLUX_KINDS: [&str; 6] =
    ["Kustomization", "HelmRelease", "GitRepository", "OCIRepository", "HelmRepository", "Bucket"];
const WORKLOADS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

pub(crate) fn gather(collector: &mut Collector, bootstrap: &ClusterBootstrap<'_>) {
    let early = bootstrap.objects().iter().map(|it| Object::new(it.node).reference(""));
    let mut there: BTreeSet<ObjectRef> = early.collect();
    let objects = &collector.assembled.objects;
    there.extend(objects.iter().map(|built| Object::new(&built.node).reference(&built.namespace)));
    let cluster = &collector.assembled.cluster;
    there.extend(cluster.components.iter().map(|component| component.object.clone()));
    there.extend(cluster.offers.iter().map(|offer| offer.object.clone()));
    let mut beside = Beside::new(collector);
    let mut missing = Vec::new();
    for (of, kustomization) in &collector.assembled.kustomizations {
        for (object, at) in kustomization.checks.iter().filter(|(object, _)| !there.contains(object)) {
            let (is_flux, is_workload) =
                (FLUX_KINDS.contains(&object.kind.as_str()), WORKLOADS.contains(&object.kind.as_str()));
            if !is_flux && !is_workload || object.name.contains("${") || object.namespace.contains("${") {
                continue;
            }
            let near = beside.near(*of, object);
            if is_flux || (near.is_some() && !beside.charts.contains(&object.namespace)) {
                missing.push(MissingCheck { of: *of, object: object.clone(), at: *at, near });
            }
        }
    }
    collector.cluster().facts.missing_checks = missing;
}

/// What stands beside a health check.
struct Beside {
    /// What each Kustomization applies.
    applied: BTreeMap<ComponentId, Vec<ObjectRef>>,
    /// Namespaces in which a chart may make workloads.
    charts: BTreeSet<EcoString>,
    budget: HintBudget,
}

impl Beside {
    fn new(collector: &Collector) -> Self {
        let mut applied: BTreeMap<ComponentId, Vec<ObjectRef>> = BTreeMap::new();
        for built in &collector.assembled.objects {
            let reference = Object::new(&built.node).reference(&built.namespace);
            applied.entry(built.component).or_default().push(reference);
        }
        let charts = collector.assembled.releases.iter().map(|(_, release)| release.target_namespace.clone()).collect();
        Self { applied, charts, budget: HintBudget::default() }
    }

    /// What the Kustomization itself applies under nearly that name.
    fn near(&mut self, of: ComponentId, missing: &ObjectRef) -> Option<ObjectRef> {
        let own = self.applied.get(&of)?;
        if !self.budget.allows(own.len()) {
            return None;
        }
        let mut beside = own.iter().filter(|it| it.kind == missing.kind && it.namespace == missing.namespace);
        beside.find(|it| is_slip(&missing.name, &it.name)).cloned()
    }
}
