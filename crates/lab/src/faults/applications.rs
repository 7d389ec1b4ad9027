//! Workloads and their pods.

use std::time::Duration;

use serde_json::{Value, json};

use super::scene::{SOON, Scene};
use super::{Case, Sort, Truth, build};
use crate::{LabError, Object, Until};

pub(super) const CASES: &[Case] = &[
    Case::new("image-missing", Sort::Fault, no_image),
    Case::new("app-crashes", Sort::Fault, crash),
    Case::new("account-missing", Sort::Fault, no_account),
    Case::new("no-node-fits", Sort::Fault, unschedulable).ripe(Duration::from_secs(30)),
    Case::new("job-failed", Sort::Fault, job),
    Case::new("config-map-missing", Sort::Fault, no_config_map),
    Case::new("registry-throttles", Sort::Fault, registry),
];

/// An application of its own in the namespace of applications.
fn app(scene: &Scene<'_>, part: &str) -> Value {
    let name = scene.name(part);
    build::deployment(&scene.home(), &name, ("app", &name))
}

pub(super) fn no_image(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.add(&build::annotated(app(scene, "imageless"), "image-pull-backoff", "true"))?;
    Ok(Truth::root("Deployment", &scene.name("imageless"), None))
}

/// A rollout that fails: the pods of before go on.
fn crash(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let (patch, back) = build::annotation("crash", "true");
    scene.patch(&Object::deployment(&scene.home(), &scene.name("other")), &patch, back)?;
    Ok(Truth::root("Deployment", &scene.name("other"), None))
}

fn no_account(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let mut it = app(scene, "stateless");
    it["spec"]["template"]["spec"]["serviceAccountName"] = scene.name("no account").into();
    scene.add(&it)?;
    Ok(Truth::root("Deployment", &scene.name("stateless"), None))
}

fn unschedulable(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let mut it = app(scene, "picky");
    it["spec"]["template"]["spec"]["nodeSelector"] = json!({"disk": "gold"});
    scene.add(&it)?;
    Ok(Truth::root("Deployment", &scene.name("picky"), None))
}

fn job(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.add(&a_job(&scene.home(), &scene.name("job"), "crash"))?;
    Ok(Truth::root("Job", &scene.name("job"), None))
}

/// A Job that runs once, and does what the annotation says.
pub(super) fn a_job(namespace: &str, name: &str, annotation: &str) -> Value {
    let key = format!("lab.coldstart.dev/{annotation}");
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": namespace},
        "spec": {"backoffLimit": 0, "template": {"metadata": {"annotations": {key: "true"}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.example.org/main:1"}]}}}})
}

fn no_config_map(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let missing = scene.name("no settings");
    let mut it = app(scene, "unconfigured");
    it["spec"]["template"]["spec"]["containers"][0]["envFrom"] = json!([{"configMapRef": {"name": missing}}]);
    waits(scene, "unconfigured", it, "CreateContainerConfigError", &format!("configmap \"{missing}\" not found"))?;
    Ok(Truth::root("ConfigMap", &missing, None).blocks("Deployment", &scene.name("unconfigured")))
}

/// An application whose pod waits for a Secret that does not exist.
pub(super) fn needs_secret(scene: &Scene<'_>, part: &str, secret: &str) -> Result<(), LabError> {
    let mut it = app(scene, part);
    it["spec"]["template"]["spec"]["containers"][0]["envFrom"] = json!([{"secretRef": {"name": secret}}]);
    waits(scene, part, it, "CreateContainerConfigError", &format!("secret \"{secret}\" not found"))
}

fn registry(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let text = "failed to pull image: 429 Too Many Requests - toomanyrequests: rate limit exceeded";
    for part in ["pulls one", "pulls two"] {
        waits(scene, part, app(scene, part), "ImagePullBackOff", text)?;
    }
    let truth = Truth::root("Registry", "registry.example.org", "IMG-01");
    Ok(truth.blocks("Deployment", &scene.name("pulls one")).blocks("Deployment", &scene.name("pulls two")))
}

/// An application whose pod has a container that waits, as a kubelet would report it.
fn waits(scene: &Scene<'_>, part: &str, app: Value, reason: &str, text: &str) -> Result<(), LabError> {
    scene.add(&build::annotated(app, "never-ready", "true"))?;
    for pod in pods(scene, "app", &scene.name(part))? {
        let started = Until::reason("Ready", "ContainersNotReady");
        scene.lab.wait_for(&pod, &started, SOON)?;
        scene.lab.patch_status(&pod, &waiting(reason, text))?;
    }
    Ok(())
}

/// The status of a pod whose container waits.
pub(super) fn waiting(reason: &str, text: &str) -> Value {
    json!({"phase": "Pending", "containerStatuses": [{"name": "main", "image": "registry.example.org/main:1", "imageID": "",
        "ready": false, "started": false, "restartCount": 0, "state": {"waiting": {"reason": reason, "message": text}}}]})
}

/// The pods with a label, once there are any.
pub(super) fn pods(scene: &Scene<'_>, label: &str, value: &str) -> Result<Vec<Object>, LabError> {
    let started = std::time::Instant::now();
    loop {
        let all = scene.lab.list("v1", "Pod", None)?;
        let has = |pod: &&Value| pod["metadata"]["labels"][label] == value;
        let found: Vec<Object> = all.iter().filter(has).filter_map(the_pod).collect();
        if !found.is_empty() || started.elapsed() > SOON {
            return Ok(found);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn the_pod(pod: &Value) -> Option<Object> {
    let text = |key: &str| pod["metadata"][key].as_str();
    Some(Object::pod(text("namespace")?, text("name")?))
}
