//! The agent that gives pods a network, and DNS.

use serde_json::{Value, json};

use super::build::SYSTEM;
use super::scene::Scene;
use super::{Case, Sort, Truth, api, build};
use crate::{LabError, Object};

pub(super) const DNS: &[Case] = &[
    Case::new("coredns-gone", Sort::Fault, dns_gone),
    Case::new("coredns-scaled-to-none", Sort::Fault, dns_scaled),
    Case::new("coredns-crashes", Sort::Fault, dns_crashes),
];

pub(super) const CASES: &[Case] = &[
    Case::new("agent-wanted-nowhere", Sort::Fault, wanted_nowhere),
    Case::new("agent-missing-on-one-node", Sort::Fault, missing).of_old_nodes(),
    Case::new("agent-crashes-on-one-node", Sort::Fault, crashes).of_old_nodes(),
];

pub(super) fn agent() -> Object {
    Object::daemon_set(SYSTEM, "cilium")
}

fn dns() -> Object {
    Object::deployment(SYSTEM, "coredns")
}

fn dns_gone(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.remove(&dns())?;
    Ok(Truth::root("Service", "kube-dns", "DNS-02"))
}

fn dns_scaled(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.patch(&dns(), &json!({"spec": {"replicas": 0}}), json!({"spec": {"replicas": 1}}))?;
    Ok(Truth::root("Service", "kube-dns", "DNS-02"))
}

pub(super) fn dns_crashes(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.patch(&dns(), &api::recreate(), api::roll())?;
    let (patch, back) = build::annotation("crash", "true");
    scene.patch(&dns(), &patch, back)?;
    Ok(Truth::root("Deployment", "coredns", None).blocks("Service", "kube-dns"))
}

fn wanted_nowhere(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let select = |value: Value| json!({"spec": {"template": {"spec": {"nodeSelector": {"network": value}}}}});
    scene.patch(&agent(), &select("none".into()), select(Value::Null))?;
    Ok(Truth::root("DaemonSet", "cilium", None))
}

fn missing(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let other_than = json!([{"key": "kubernetes.io/hostname", "operator": "NotIn", "values": [scene.nodes()[2]]}]);
    let terms = json!({"nodeSelectorTerms": [{"matchExpressions": other_than}]});
    let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}});
    let patch = |affinity: Value| json!({"spec": {"template": {"spec": {"affinity": affinity}}}});
    scene.patch(&agent(), &patch(affinity), patch(Value::Null))?;
    Ok(Truth::root("DaemonSet", "cilium", None))
}

fn crashes(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let (patch, back) = build::annotation("refuse-on-node", &scene.nodes()[0]);
    scene.patch(&agent(), &patch, back)?;
    Ok(Truth::root("DaemonSet", "cilium", None))
}
