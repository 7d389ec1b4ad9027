//! Nodes. For some, kwok is stopped and only their leases are renewed: the kubelets that are meant to live.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::json;

use super::build::SYSTEM;
use super::scene::Scene;
use super::{Case, Sort, Truth, applications, build};
use crate::{LabError, Object, Process};

pub(super) const CASES: &[Case] = &[
    Case::new("node-uninitialized", Sort::Fault, uninitialized),
    Case::new("cloud-controller-crashes", Sort::Consequence, cloud_controller),
    Case::new("node-cordoned", Sort::Fault, cordoned).ripe(Duration::from_secs(30)),
    Case::new("node-down", Sort::Fault, down).ripe(Duration::from_mins(1)).of_old_nodes().while_waiting(all_but_one),
    Case::new("nodes-wait-for-their-network", Sort::Consequence, no_network).of_old_nodes().while_waiting(all),
];

fn node(scene: &Scene<'_>, index: usize) -> Object {
    Object::node(&scene.nodes()[index])
}

fn taint(scene: &Scene<'_>, index: usize) -> Result<(), LabError> {
    let taint = json!({"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule",
        "timeAdded": build::ago(Duration::from_hours(1))});
    scene.patch(&node(scene, index), &json!({"spec": {"taints": [taint]}}), json!({"spec": {"taints": null}}))
}

fn uninitialized(scene: &Scene<'_>) -> Result<Truth, LabError> {
    taint(scene, 1)?;
    Ok(Truth::root("Node", &scene.nodes()[1], "CCM-01"))
}

/// Nodes are below what initializes them.
fn cloud_controller(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let name = format!("{}-cloud-controller-manager", scene.name("cloud"));
    scene.add(&build::annotated(build::deployment(SYSTEM, &name, ("app", &name)), "crash", "true"))?;
    taint(scene, 0)?;
    taint(scene, 2)?;
    let truth = Truth::root("Deployment", &name, "CCM-01");
    Ok(truth.blocks("Node", &scene.nodes()[0]).blocks("Node", &scene.nodes()[2]))
}

pub(super) fn cordoned(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let cordon = |is: bool| json!({"spec": {"unschedulable": is}});
    scene.patch(&node(scene, 2), &cordon(true), cordon(false))?;
    let (home, name) = (scene.home(), scene.name("faithful"));
    let mut it = build::deployment(&home, &name, ("app", &name));
    it["spec"]["template"]["spec"]["nodeSelector"] = json!({"kubernetes.io/hostname": scene.nodes()[2]});
    scene.add(&it)?;
    Ok(Truth::root("Node", &scene.nodes()[2], "NODE-03").blocks("Deployment", &name))
}

/// Nothing is heard of one node any more. What runs there is not called failed at once.
fn down(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.stop(Process::Kwok)?;
    Ok(Truth::root("Node", &scene.nodes()[0], None))
}

/// One node is silent, and the controller that would say so is gone, too.
pub(super) const SILENT: Case = Case::new("node-silent-and-ready", Sort::Stale, silent)
    .ripe(Duration::from_secs(75))
    .of_old_nodes()
    .while_waiting(all_but_one);

fn silent(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.stop(Process::ControllerManager)?;
    scene.stop(Process::Kwok)?;
    let truth = Truth::root("Node", &scene.nodes()[0], None);
    Ok(truth.and(Truth::root("Lease", "kube-controller-manager", None)))
}

/// Nodes are below their network, and wait for its agent.
fn no_network(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.stop(Process::Kwok)?;
    let text = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network \
                plugin returns error: cni plugin not initialized";
    for pod in applications::pods(scene, "k8s-app", "cilium")? {
        let mut status = applications::waiting("ImagePullBackOff", "Back-off pulling image: not found");
        status["conditions"] = json!([build::condition("Ready", "False", "ContainersNotReady", "")]);
        scene.status(&pod, &status)?;
    }
    let mut truth = Truth::root("DaemonSet", "cilium", None);
    for name in scene.nodes() {
        scene.says(&Object::node(&name), "Ready", "False", "KubeletNotReady", text)?;
        truth = truth.blocks("Node", &name);
    }
    Ok(truth)
}

fn renew(scene: &Scene<'_>, namespace: &str, name: &str) -> Result<(), LabError> {
    let lease = Object::new("coordination.k8s.io/v1", "Lease", namespace, name);
    let now = format!("{:.6}", Timestamp::now());
    scene.lab.patch(&lease, &json!({"spec": {"renewTime": now}}))
}

fn all(scene: &Scene<'_>) -> Result<(), LabError> {
    scene.nodes().iter().try_for_each(|name| renew(scene, "kube-node-lease", name))
}

fn all_but_one(scene: &Scene<'_>) -> Result<(), LabError> {
    scene.nodes()[1..].iter().try_for_each(|name| renew(scene, "kube-node-lease", name))
}
