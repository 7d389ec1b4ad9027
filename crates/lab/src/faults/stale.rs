//! Objects that say that they are ready, from before what they need failed.

use std::time::Duration;

use serde_json::{Value, json};

use super::build::{self, FLUX};
use super::scene::Scene;
use super::{Case, Sort, Truth, api, certificates, network, nodes, platform, secrets};
use crate::{LabError, Object, Process};

pub(super) const CASES: &[Case] = &[
    Case::new("certificate-expired-and-ready", Sort::Stale, certificates::expired),
    Case::new("charts-down-and-release-ready", Sort::Stale, charts_down),
    Case::new("store-refuses-and-secret-ready", Sort::Stale, store),
    Case::new("class-refused-and-gateway-programmed", Sort::Stale, gateway),
    Case::new("cert-manager-gone-and-certificate-ready", Sort::Stale, cert_manager),
    Case::new("sealed-secrets-gone-and-secret-synced", Sort::Stale, sealed),
    Case::new("kustomize-controller-gone-and-ready", Sort::Stale, kustomize_controller),
    Case::new("source-controller-gone-and-ready", Sort::Stale, source_controller),
    Case::new("helm-controller-gone-and-ready", Sort::Stale, helm_controller),
    Case::new("node-rebooted-and-agent-ready", Sort::Stale, rebooted).of_old_nodes(),
    api::NO_CONTROLLERS,
    nodes::SILENT,
];

fn charts_down(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let charts = Object::new("source.toolkit.fluxcd.io/v1", "HelmRepository", &scene.home(), &scene.name("charts"));
    scene.look_again_after(charts.clone());
    scene.cut_off_charts();
    scene.lab.reconcile(&charts)?;
    Ok(Truth::root("HelmRepository", &charts.name, "FLUX-01"))
}

fn store(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let text = "unable to log in: connection refused";
    scene.says(&secrets::the_store(scene), "Ready", "False", "InvalidProviderConfig", text)?;
    Ok(Truth::root("ClusterSecretStore", &scene.name("store"), "SEC-05"))
}

fn gateway(scene: &Scene<'_>) -> Result<Truth, LabError> {
    platform::refuse_class(scene)?;
    Ok(Truth::root("GatewayClass", &scene.name("gateway class"), "GW-01"))
}

/// All pods of a Deployment can't start any more.
fn stops(scene: &Scene<'_>, deployment: &Object) -> Result<Truth, LabError> {
    scene.patch(deployment, &api::recreate(), api::roll())?;
    let (patch, back) = build::annotation("image-pull-backoff", "true");
    scene.patch(deployment, &patch, back)?;
    Ok(Truth::root("Deployment", &deployment.name, None))
}

fn cert_manager(scene: &Scene<'_>) -> Result<Truth, LabError> {
    stops(scene, &Object::deployment(&scene.platform(), "cert-manager"))
}

/// A change that its controller has not seen.
fn sealed(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let truth = stops(scene, &Object::deployment(&scene.platform(), "sealed-secrets-controller"))?;
    let it = Object::new(build::SEALED, "SealedSecret", &scene.home(), &scene.name("sealed one"));
    let data = |value: Value| json!({"spec": {"encryptedData": {"b": value}}});
    let generation = scene.lab.get(&it)?.unwrap_or_default()["metadata"]["generation"].clone();
    let observed = |generation: Value| json!({"observedGeneration": generation});
    scene.status_with(&it, &observed(generation), observed(Value::Null))?;
    scene.patch(&it, &data("AgC".into()), data(Value::Null))?;
    Ok(truth.blocks("SealedSecret", &it.name))
}

/// A controller of Flux that is gone, and an object that was changed since.
fn unseen(
    scene: &Scene<'_>,
    controller: &str,
    process: Process,
    object: &Object,
    change: (Value, Value),
) -> Result<Truth, LabError> {
    scene.stop(process)?;
    let truth = stops(scene, &Object::deployment(FLUX, controller))?;
    scene.patch(object, &change.0, change.1)?;
    Ok(truth.blocks(&object.kind, &object.name))
}

fn interval(to: &str) -> Value {
    json!({"spec": {"interval": to}})
}

fn kustomize_controller(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let [first, ..] = scene.chain();
    let process = Process::KustomizeController;
    unseen(scene, "kustomize-controller", process, &build::the(&first), (interval("2h"), interval("1h")))
}

fn source_controller(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let process = Process::SourceController;
    unseen(scene, "source-controller", process, &build::source(), (interval("2h"), interval("1h")))
}

fn helm_controller(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let release = Object::helm_release(&scene.home(), &scene.name("release"));
    unseen(scene, "helm-controller", Process::HelmController, &release, (interval("2h"), interval("1h")))
}

/// The kubelet reports a boot that is newer than the start of the agent.
fn rebooted(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let node = &scene.nodes()[1];
    scene.add(&event(node, "Rebooted", "Node has been rebooted, boot id: 1-2-3", &build::ago(Duration::ZERO)))?;
    Ok(Truth::root("DaemonSet", &network::agent().name, "CNI-03"))
}

/// A warning about a node.
pub(super) fn event(node: &str, reason: &str, text: &str, at: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": reason, "message": text, "count": 1,
        "metadata": {"name": format!("{node}.{}", reason.to_lowercase()), "namespace": "default"},
        "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": node, "uid": node},
        "firstTimestamp": at, "lastTimestamp": at})
}
