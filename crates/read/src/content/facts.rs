//! What rules ask beside needs and offers: versions, what is pruned, what is kept.

use std::collections::BTreeMap;

use catalogue::{Catalogue, Status};
use ecow::EcoString;
use model::{Chart, ComponentId, HealthExpression, ObjectRef};
use source::Span;
use yaml::Node;

use crate::bootstrap::ClusterBootstrap;
use crate::content::collector::Collector;
use crate::flux::{KUSTOMIZE_GROUP, SOURCE_GROUP, flux_controllers, flux_version};
use crate::object::{Object, mentions};
use crate::repository::Repository;

const PRUNE_SWITCH: &str = "kustomize.toolkit.fluxcd.io/prune";

pub(crate) fn gather(collector: &mut Collector, repository: &Repository, bootstrap: &ClusterBootstrap<'_>) {
    let objects = std::mem::take(&mut collector.assembled.objects);
    let values = bootstrap.value_files(repository);
    let applied = bootstrap.objects().iter().map(|object| object.node);
    let nodes: Vec<&Node> = objects.iter().map(|built| &built.node).chain(applied).chain(values).collect();
    collector.cluster().facts.flux = flux_version(&nodes, &collector.assembled.cluster.blind);
    collector.cluster().facts.flux_controllers = flux_controllers(&nodes);
    if nodes.iter().any(|node| adds_variables(node)) {
        collector.cluster().facts.undefined.clear();
        collector.cluster().facts.unsubstituted.clear();
    }
    let ids: BTreeMap<ObjectRef, ComponentId> =
        collector.assembled.kustomizations.iter().map(|(id, it)| (it.object.clone(), *id)).collect();
    for built in &objects {
        let object = Object::new(&built.node);
        if is_kept(&built.node) {
            let reference = object.reference(&built.namespace);
            collector.cluster().facts.kept.insert(reference);
        }
        if object.is(KUSTOMIZE_GROUP, "Kustomization")
            && let Some(prune) = object.spec("prune").filter(|prune| prune.as_bool() == Some(true))
            && let Some(id) = ids.get(&object.reference(&built.namespace))
        {
            collector.cluster().facts.prunes.insert(*id, prune.span);
        }
    }
    collector.assembled.objects = objects;
}

/// What the catalogue knows of the statuses of kinds.
pub(crate) fn expressions(catalogue: &Catalogue) -> BTreeMap<EcoString, HealthExpression> {
    let statuses = catalogue.components().iter().flat_map(|component| &component.statuses);
    let one = |status: &Status| {
        let group = status.kind.split('/').next().unwrap_or_default();
        let api_version = format!("{group}/{}", status.version).into();
        (status.kind.as_str().into(), HealthExpression { api_version, current: status.current.as_str().into() })
    };
    statuses.map(one).collect()
}

/// Whether an object may give Kustomizations variables that no file shows: an admission policy or webhook that rewrites
/// them as they are made.
pub(crate) fn adds_variables(node: &Node) -> bool {
    let object = Object::new(node);
    match object.kind() {
        "MutatingAdmissionPolicy" | "MutatingWebhookConfiguration" | "MutatingPolicy" | "ClusterPolicy" | "Policy" => {
            mentions(node, KUSTOMIZE_GROUP) || mentions(node, "postBuild")
        }
        "HelmRelease" => mentions(node, "kustomize-mutating-webhook"),
        _ => false,
    }
}

/// Whether a label or annotation takes the object out of pruning.
fn is_kept(node: &Node) -> bool {
    ["labels", "annotations"].iter().any(|field| {
        let switch = node.at(&["metadata", field]).and_then(|map| map.get(PRUNE_SWITCH));
        switch.and_then(Node::text) == Some("disabled")
    })
}

/// The version of a release's chart, written out on the release or on its source.
pub(crate) fn version_of(
    collector: &Collector,
    source: Option<&ObjectRef>,
    on_release: Option<&Node>,
) -> Option<(EcoString, Span)> {
    let exact = |node: &Node| {
        let text = node.text()?;
        let is_exact = text.trim_start_matches(['v', '=']).split('.').count() >= 3
            && !text.contains(['x', 'X', '*', '<', '>', '^', '~', '|', ' ', '$']);
        is_exact.then(|| (EcoString::from(text), node.span))
    };
    if let Some(version) = on_release {
        return exact(version);
    }
    let source = source?;
    let built = collector.assembled.objects.iter().find(|built| {
        let object = Object::new(&built.node);
        object.group() == SOURCE_GROUP && object.kind() == source.kind && object.reference(&built.namespace) == *source
    })?;
    let at: &[&str] = if source.kind == "HelmChart" { &["spec", "version"] } else { &["spec", "ref", "tag"] };
    built.node.at(at).and_then(exact)
}

/// Whether the bootstrap installs a release of this name at this place too.
pub(crate) fn is_adopted(collector: &Collector, release: &EcoString, namespace: &EcoString) -> bool {
    let charts = &collector.assembled.cluster.facts.charts;
    charts
        .iter()
        .any(|chart| chart.release.0 == *release && (chart.release.1 == *namespace || chart.release.1.is_empty()))
}

pub(crate) fn note_chart(collector: &mut Collector, chart: Chart) {
    collector.cluster().facts.charts.push(chart);
}
