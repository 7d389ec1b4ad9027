//! What a pod template needs, in plain workloads.

use model::{Capability, CapabilityKind, ComponentId, ObjectRef, Phase, Purpose};
use source::Span;
use yaml::Node;

use crate::content::collector::{Collector, Needing};
use crate::content::{hosts, values};

/// Reads a Deployment, StatefulSet, DaemonSet, Job, CronJob or Pod. `chart_at` is where the chart that renders it is named:
/// its programs make objects under names of the chart's own, so such a name counts only when somebody is known to make it.
pub(crate) fn read(collector: &mut Collector, of: ComponentId, own: &ObjectRef, node: &Node, chart_at: Option<Span>) {
    let spec =
        [&["spec", "template", "spec"] as &[&str], &["spec", "jobTemplate", "spec", "template", "spec"], &["spec"]]
            .iter()
            .find_map(|path| node.at(path).filter(|spec| spec.get("containers").is_some()));
    // Nobody waits for the pods of what runs by the clock.
    let phase = if own.kind == "CronJob" { Phase::Run } else { Phase::Ready };
    let needing = Needing { of, object: own, phase, soft: false, optional: false };
    if let Some(spec) = spec {
        for (kind, reference, optional) in references(spec) {
            let needing = Needing { optional, ..needing.clone() };
            let capability = Capability::new(kind, own.namespace.clone(), reference.text().unwrap_or_default());
            if chart_at == Some(reference.span) && !collector.is_offered(&capability) {
                continue;
            }
            collector.need(&needing, capability, reference.span, Purpose::StartPods);
        }
    }
    values::scan(collector, of, own, node, phase);
    hosts::collect(collector, of, own, node, Phase::Run);
}

/// Secrets and ConfigMaps that containers and volumes name. A pod starts without its `imagePullSecrets`, so those are none.
fn references(spec: &Node) -> Vec<(CapabilityKind, &Node, bool)> {
    let mut found = Vec::new();
    for container in ["initContainers", "containers"].iter().flat_map(|list| spec.items_at(list)) {
        for env in container.items_at("env") {
            let from = env.get("valueFrom");
            push(&mut found, CapabilityKind::Secret, from.and_then(|from| from.get("secretKeyRef")), "name");
            push(&mut found, CapabilityKind::ConfigMap, from.and_then(|from| from.get("configMapKeyRef")), "name");
        }
        for from in container.items_at("envFrom") {
            push(&mut found, CapabilityKind::Secret, from.get("secretRef"), "name");
            push(&mut found, CapabilityKind::ConfigMap, from.get("configMapRef"), "name");
        }
    }
    for volume in spec.items_at("volumes") {
        push(&mut found, CapabilityKind::Secret, volume.get("secret"), "secretName");
        push(&mut found, CapabilityKind::ConfigMap, volume.get("configMap"), "name");
        for source in volume.get("projected").map(|projected| projected.items_at("sources")).unwrap_or_default() {
            push(&mut found, CapabilityKind::Secret, source.get("secret"), "name");
            push(&mut found, CapabilityKind::ConfigMap, source.get("configMap"), "name");
        }
    }
    found
}

fn push<'a>(
    found: &mut Vec<(CapabilityKind, &'a Node, bool)>,
    kind: CapabilityKind,
    reference: Option<&'a Node>,
    field: &str,
) {
    let Some(reference) = reference else { return };
    let optional = reference.get("optional").and_then(Node::as_bool).unwrap_or(false);
    if let Some(name) = reference.get(field) {
        found.push((kind, name, optional));
    }
}
