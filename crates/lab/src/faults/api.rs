//! What the API server asks others for: webhooks, aggregated APIs; and Kubernetes' own controllers.

use std::time::Duration;

use serde_json::json;

use super::scene::Scene;
use super::{Case, Sort, Truth, build};
use crate::{LabError, Object, Process};

const LAPSED: Duration = Duration::from_secs(75);
const STARTING: Duration = Duration::from_mins(2);

pub(super) const CASES: &[Case] = &[
    Case::new("webhook-without-endpoints", Sort::Fault, no_webhook),
    Case::new("webhook-server-has-no-image", Sort::Consequence, webhook_image),
    Case::new("api-service-dead", Sort::Fault, dead_api).ripe(STARTING),
    Case::new("aggregated-api-crashes", Sort::Consequence, crashing_api).ripe(STARTING),
    Case::new("scheduler-gone", Sort::Fault, no_scheduler).ripe(STARTING),
];

const HOOKS: &str = "cert-manager-webhook";

/// A Kustomization whose object the webhook is asked about.
fn asks(scene: &Scene<'_>) -> Result<(), LabError> {
    let gadget = json!({"apiVersion": "gadgets.example.com/v1", "kind": "Gadget",
        "metadata": {"name": "it", "namespace": scene.home()}});
    scene.push(&[("gadgets/it.yaml", gadget.to_string())])?;
    scene.add(&build::kustomization(&scene.name("gadgets"), "gadgets", &[]))?;
    Ok(())
}

pub(super) fn no_webhook(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.remove(&Object::deployment(&scene.platform(), HOOKS))?;
    asks(scene)?;
    let truth = Truth::root("ValidatingWebhookConfiguration", HOOKS, None);
    Ok(truth.blocks("Kustomization", &scene.name("gadgets")))
}

/// Webhooks are below what serves them.
pub(super) fn webhook_image(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let server = Object::deployment(&scene.platform(), HOOKS);
    scene.patch(&server, &recreate(), roll())?;
    let (patch, back) = build::annotation("image-pull-backoff", "true");
    scene.patch(&server, &patch, back)?;
    asks(scene)?;
    let truth = Truth::root("Deployment", HOOKS, None).blocks("ValidatingWebhookConfiguration", HOOKS);
    Ok(truth.blocks("Kustomization", &scene.name("gadgets")))
}

/// All pods of before end before new ones start.
pub(super) fn recreate() -> serde_json::Value {
    json!({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}})
}

pub(super) fn roll() -> serde_json::Value {
    json!({"spec": {"strategy": {"type": "RollingUpdate"}}})
}

const GROUP: &str = "figures.example.com";

fn api_service(namespace: &str, service: &str) -> serde_json::Value {
    json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": format!("v1.{GROUP}")},
        "spec": {"group": GROUP, "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100,
            "insecureSkipTLSVerify": true, "service": {"namespace": namespace, "name": service}}})
}

fn dead_api(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.add(&api_service(&scene.platform(), &scene.name("no figures")))?;
    Ok(Truth::root("Service", &scene.name("no figures"), None).blocks("APIService", &format!("v1.{GROUP}")))
}

fn crashing_api(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let (platform, name) = (scene.platform(), scene.name("figures"));
    let server = build::deployment(&platform, &name, ("app", &name));
    scene.add(&build::annotated(server, "crash", "true"))?;
    scene.add(&build::service(&platform, &name, ("app", &name)))?;
    scene.add(&api_service(&platform, &name))?;
    Ok(Truth::root("Deployment", &name, None).blocks("APIService", &format!("v1.{GROUP}")))
}

fn no_scheduler(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.stop(Process::Scheduler)?;
    let (home, name) = (scene.home(), scene.name("unplaced"));
    scene.add(&build::deployment(&home, &name, ("app", &name)))?;
    Ok(Truth::root("Lease", "kube-scheduler", None).blocks("Deployment", &name))
}

/// The numbers of a Deployment are from before.
pub(super) const NO_CONTROLLERS: Case = Case::new("controller-manager-gone", Sort::Stale, no_controllers).ripe(LAPSED);

fn no_controllers(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.stop(Process::ControllerManager)?;
    let other = Object::deployment(&scene.home(), &scene.name("other"));
    scene.patch(&other, &json!({"spec": {"replicas": 2}}), json!({"spec": {"replicas": 1}}))?;
    Ok(Truth::root("Lease", "kube-controller-manager", None).blocks("Deployment", &other.name))
}
