//! What the gates of a cluster prove about single objects.

use std::collections::BTreeMap;

use model::{Arrival, Capability, CapabilityKind, Cluster, Component, ComponentId, Gate, ObjectRef, Offer};

/// Kinds whose health is that of their pods.
const WORKLOADS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

/// How far a gate that was passed proves that an offer is there. Best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Proof {
    Nothing,
    /// It waits for an object whose status never tells.
    Blind,
    /// It waits for an object that has no status at first, which counts as healthy: it may open before the controller has
    /// said a word. Workloads beside it mostly hold the gate for long enough; on a busy machine they did not.
    Early,
    Full,
}

pub(crate) struct Gates<'a> {
    cluster: &'a Cluster,
    /// Which components' gates name an object.
    listed: BTreeMap<&'a ObjectRef, Vec<ComponentId>>,
    /// Which components would name an object, were their list not switched off.
    ignored: BTreeMap<&'a ObjectRef, Vec<ComponentId>>,
}

impl<'a> Gates<'a> {
    pub(crate) fn new(cluster: &'a Cluster) -> Self {
        Self { cluster, listed: listed(cluster), ignored: ignored(cluster) }
    }

    /// Components whose gates name the object.
    pub(crate) fn naming(&self, object: &ObjectRef) -> &[ComponentId] {
        self.listed.get(object).map(Vec::as_slice).unwrap_or_default()
    }

    /// Components whose gates name the workload behind a Service: what an operator makes has the same name mostly.
    pub(crate) fn serving(&self, capability: &Capability) -> impl Iterator<Item = ComponentId> {
        let kinds = WORKLOADS.iter().filter(|_| capability.kind == CapabilityKind::Service);
        let workloads = kinds.map(|kind| ObjectRef::new(*kind, capability.namespace.clone(), capability.name.clone()));
        workloads.flat_map(|workload| self.naming(&workload).to_vec())
    }

    /// Components that look as if their gates named the object.
    pub(crate) fn ignoring(&self, object: &ObjectRef) -> &[ComponentId] {
        self.ignored.get(object).map(Vec::as_slice).unwrap_or_default()
    }

    /// What a gate that looks at the object of an offer proves of it.
    pub(crate) fn proof(&self, gate: ComponentId, offer: &Offer) -> Proof {
        let expressions = &self.cluster.component(gate).expressions;
        let has_expression = || expressions.contains(&offer.object.kind) || expressions.contains("");
        match offer.arrival {
            Arrival::Healthy if self.is_hollow(gate, offer) => Proof::Nothing,
            Arrival::Applied | Arrival::Installed | Arrival::Healthy => Proof::Full,
            _ if has_expression() => Proof::Full,
            Arrival::Unreported => Proof::Blind,
            Arrival::Reported => Proof::Early,
        }
    }

    /// Whether a gate looks at a release that is ready before its workloads are: `disableWait`. One that names a workload looks at that.
    fn is_hollow(&self, gate: ComponentId, offer: &Offer) -> bool {
        let by = self.cluster.component(offer.by);
        let names_workload = || match &self.cluster.component(gate).gate {
            Gate::Listed(objects) => objects.iter().any(|object| is_workload_of(object, by)),
            _ => false,
        };
        gate != offer.by
            && by.behaviour.is_release()
            && by.object == offer.object
            && by.gate != Gate::Healthy
            && !names_workload()
    }
}

/// Objects that gates name. A workload that a chart makes stands for the chart's release.
fn listed(cluster: &Cluster) -> BTreeMap<&ObjectRef, Vec<ComponentId>> {
    let mut listed: BTreeMap<&ObjectRef, Vec<ComponentId>> = BTreeMap::new();
    let releases: Vec<&Component> =
        cluster.components.iter().filter(|component| component.behaviour.is_release()).collect();
    for id in cluster.ids() {
        if let Gate::Listed(objects) = &cluster.component(id).gate {
            for object in objects {
                listed.entry(object).or_default().push(id);
                for release in releases.iter().filter(|release| is_workload_of(object, release)) {
                    listed.entry(&release.object).or_default().push(id);
                }
            }
        }
    }
    listed
}

/// Charts name their workloads after the release, with more before or behind it.
fn is_workload_of(object: &ObjectRef, release: &Component) -> bool {
    let name = &release.object.name;
    WORKLOADS.contains(&object.kind.as_str())
        && object.namespace == *release.target_namespace.as_ref().unwrap_or(&release.object.namespace)
        && (object.name.contains(name.as_str()) || name.contains(object.name.as_str()))
}

fn ignored(cluster: &Cluster) -> BTreeMap<&ObjectRef, Vec<ComponentId>> {
    let mut ignored: BTreeMap<&ObjectRef, Vec<ComponentId>> = BTreeMap::new();
    for id in cluster.ids() {
        for (object, _) in &cluster.component(id).ignored_checks {
            ignored.entry(object).or_default().push(id);
        }
    }
    ignored
}
