//! Claims, classes, drivers and attachments.

use std::time::Duration;

use serde_json::json;

use super::scene::Scene;
use super::{Case, Sort, Truth, build};
use crate::{LabError, Object};

const BINDING: Duration = Duration::from_secs(90);
const REGISTERING: Duration = Duration::from_mins(1);

pub(super) const CASES: &[Case] = &[
    Case::new("csi-node-lacks-driver", Sort::Fault, unregistered).ripe(REGISTERING),
    Case::new("csi-plugin-wanted-nowhere", Sort::Fault, wanted_nowhere),
    Case::new("csi-plugin-has-no-image", Sort::Fault, no_image),
    Case::new("claim-pending", Sort::Fault, pending).ripe(BINDING),
    Case::new("class-missing", Sort::Fault, no_class).ripe(BINDING),
    Case::new("no-default-class", Sort::Fault, no_default).ripe(BINDING),
    Case::new("attach-fails", Sort::Fault, attach).ripe(BINDING),
];

fn csi_node(scene: &Scene<'_>, index: usize) -> Object {
    Object::cluster_wide(build::STORAGE, "CSINode", &scene.nodes()[index])
}

/// The plugin runs there, and the kubelet does not know its driver.
pub(super) fn unregistered(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let node = csi_node(scene, 1);
    let back = json!({"spec": {"drivers": [{"name": scene.driver(), "nodeID": node.name}]}});
    scene.patch(&node, &json!({"spec": {"drivers": []}}), back)?;
    Ok(Truth::root("CSIDriver", &scene.driver(), None))
}

fn plugin(scene: &Scene<'_>) -> Object {
    Object::daemon_set(&scene.platform(), &scene.name("driver"))
}

fn wanted_nowhere(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let select = |value: serde_json::Value| json!({"spec": {"template": {"spec": {"nodeSelector": {"disk": value}}}}});
    scene.patch(&plugin(scene), &select("none".into()), select(json!(null)))?;
    Ok(Truth::root("DaemonSet", &scene.name("driver"), None).blocks("CSIDriver", &scene.driver()))
}

fn no_image(scene: &Scene<'_>) -> Result<Truth, LabError> {
    for index in 0..3 {
        let node = csi_node(scene, index);
        let back = json!({"spec": {"drivers": [{"name": scene.driver(), "nodeID": node.name}]}});
        scene.patch(&node, &json!({"spec": {"drivers": []}}), back)?;
    }
    let all = json!({"spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": "100%"}}}});
    let one = json!({"spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 1}}}});
    scene.patch(&plugin(scene), &all, one)?;
    let (patch, back) = build::annotation("image-pull-backoff", "true");
    scene.patch(&plugin(scene), &patch, back)?;
    Ok(Truth::root("DaemonSet", &scene.name("driver"), None).blocks("CSIDriver", &scene.driver()))
}

/// A claim, and an application that can't start without it.
fn claims(scene: &Scene<'_>, class: Option<&str>) -> Result<(), LabError> {
    let (home, claim, app) = (scene.home(), scene.name("waiting claim"), scene.name("waiting app"));
    scene.add(&build::claim(&home, &claim, class))?;
    scene.add(&build::mounts(build::deployment(&home, &app, ("app", &app)), &claim))?;
    Ok(())
}

fn pending(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let class = scene.name("slow class");
    scene.add(&build::storage_class(&class, "nothing.example.org", "Immediate"))?;
    claims(scene, Some(&class))?;
    let truth = Truth::root("PersistentVolumeClaim", &scene.name("waiting claim"), None);
    Ok(truth.blocks("Deployment", &scene.name("waiting app")))
}

fn no_class(scene: &Scene<'_>) -> Result<Truth, LabError> {
    claims(scene, Some(&scene.name("no class")))?;
    let truth = Truth::root("StorageClass", &scene.name("no class"), None);
    let truth = truth.blocks("PersistentVolumeClaim", &scene.name("waiting claim"));
    Ok(truth.blocks("Deployment", &scene.name("waiting app")))
}

fn no_default(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let mark = |value| json!({"metadata": {"annotations": {"storageclass.kubernetes.io/is-default-class": value}}});
    scene.patch(&Object::cluster_wide(build::STORAGE, "StorageClass", "lab"), &mark("false"), mark("true"))?;
    claims(scene, None)?;
    let truth = Truth::root("PersistentVolumeClaim", &scene.name("waiting claim"), None);
    Ok(truth.blocks("Deployment", &scene.name("waiting app")))
}

fn attach(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let name = scene.name("attachment");
    scene.add(&json!({"apiVersion": build::STORAGE, "kind": "VolumeAttachment", "metadata": {"name": name},
        "spec": {"attacher": scene.driver(), "nodeName": scene.nodes()[0],
            "source": {"persistentVolumeName": scene.name("volume")}},
        "status": {"attached": false, "attachError": {"message": "rpc error: code = Internal desc = 500 no such disk",
            "time": build::ago(Duration::from_mins(10))}}}))?;
    Ok(Truth::root("VolumeAttachment", &name, None))
}
