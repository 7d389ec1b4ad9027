//! What looks like a fault and is none.

use std::time::Duration;

use serde_json::{Value, json};

use super::scene::{SOON, Scene};
use super::{Case, Sort, Truth, applications, build, certificates, network, stale};
use crate::{LabError, Object, Until};

/// So long nothing may be told.
const WATCHED: Duration = Duration::from_secs(8);

const fn nothing(name: &'static str, act: super::Act) -> Case {
    Case::new(name, Sort::LookAlike, act).ripe(WATCHED)
}

pub(super) const CASES: &[Case] = &[
    nothing("rollout", rollout),
    nothing("rollout-that-flux-waits-for", flux_waits),
    nothing("rollout-of-the-agent", agent_rollout).of_old_nodes(),
    nothing("scaled-up", scaled_up),
    nothing("scaled-to-none", scaled_to_none),
    nothing("paused-deployment", paused),
    nothing("idle-daemon-set", idle),
    nothing("events-of-yesterday", old_event),
    nothing("finished-job", finished),
    nothing("cron-job-that-failed-once", failed_once),
    nothing("unused-claim", unused_claim),
    nothing("webhook-that-may-fail", lenient_webhook),
    nothing("certificate-that-is-renewed", renewal),
    nothing("pod-left-by-a-shutdown", left_over),
    nothing("new-revision", new_revision),
    nothing("tainted-node", tainted),
];

fn other(scene: &Scene<'_>) -> Object {
    Object::deployment(&scene.home(), &scene.name("other"))
}

fn rollout(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let (patch, back) = build::annotation("ready-after", "6s");
    scene.patch(&other(scene), &patch, back)?;
    Ok(Truth::healthy())
}

/// Kustomizations wait for it, and others for them.
fn flux_waits(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let (home, name) = (scene.home(), scene.name("slow"));
    let app = build::annotated(build::deployment(&home, &name, ("app", &name)), "ready-after", "6s");
    scene.push(&[("slow/it.yaml", app.to_string())])?;
    let (first, second) = (scene.name("goes"), scene.name("waits"));
    let mut it = build::kustomization(&first, "slow", &[]);
    it["spec"]["timeout"] = "5m".into();
    scene.add(&it)?;
    scene.add(&build::kustomization(&second, "infrastructure", &[&first]))?;
    Ok(Truth::healthy())
}

/// One node after the other is without it for a moment.
fn agent_rollout(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let (patch, back) = build::annotation("ready-after", "1s");
    scene.patch(&network::agent(), &patch, back)?;
    Ok(Truth::healthy())
}

fn scaled_up(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let replicas = |count: i64| json!({"spec": {"replicas": count}});
    scene.patch(&other(scene), &replicas(8), replicas(1))?;
    Ok(Truth::healthy())
}

fn scaled_to_none(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let replicas = |count: i64| json!({"spec": {"replicas": count}});
    scene.patch(&other(scene), &replicas(0), replicas(1))?;
    Ok(Truth::healthy())
}

fn paused(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let pause = |value: Value| json!({"spec": {"paused": value}});
    scene.patch(&other(scene), &pause(true.into()), pause(Value::Null))?;
    scene.patch(&other(scene), &json!({"spec": {"replicas": 2}}), json!({"spec": {"replicas": 1}}))?;
    Ok(Truth::healthy())
}

/// No node has its hardware.
fn idle(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let name = scene.name("graphics");
    let mut it = build::daemon_set(&scene.platform(), &name, ("app", &name), "registry.example.org/graphics:1");
    it["spec"]["template"]["spec"]["nodeSelector"] = json!({"graphics": "yes"});
    scene.add(&it)?;
    Ok(Truth::healthy())
}

fn old_event(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let yesterday = build::ago(Duration::from_hours(24));
    scene.add(&stale::event(&scene.nodes()[0], "Rebooted", "Node has been rebooted, boot id: 1-2-3", &yesterday))?;
    Ok(Truth::healthy())
}

fn finished(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let name = scene.name("done");
    scene.add(&applications::a_job(&scene.home(), &name, "none"))?;
    scene.lab.wait_for(&Object::job(&scene.home(), &name), &Until::condition("Complete", "True"), SOON)?;
    Ok(Truth::healthy())
}

/// A run failed, and a later one of the same CronJob completed.
fn failed_once(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let (home, name) = (scene.home(), scene.name("nightly"));
    let owner = scene.add(&json!({"apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": {"name": name, "namespace": home},
        "spec": {"schedule": "0 3 1 1 *", "suspend": true,
            "jobTemplate": {"spec": applications::a_job(&home, &name, "none")["spec"]}}}))?;
    let uid = scene.lab.get(&owner)?.unwrap_or_default()["metadata"]["uid"].clone();
    for (run, act, ends) in [("one", "crash", "Failed"), ("two", "none", "Complete")] {
        let run = format!("{name}-{run}");
        let mut job = applications::a_job(&home, &run, act);
        job["metadata"]["ownerReferences"] = json!([{"apiVersion": "batch/v1", "kind": "CronJob", "name": name,
            "uid": uid, "controller": true}]);
        // Made one after the other, as runs are: their times have no more than seconds.
        scene.add(&job)?;
        scene.lab.wait_for(&Object::job(&home, &run), &Until::condition(ends, "True"), SOON)?;
        std::thread::sleep(Duration::from_millis(1_100));
    }
    Ok(Truth::healthy())
}

fn unused_claim(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.add(&build::claim(&scene.home(), &scene.name("unused"), Some(&scene.name("class"))))?;
    Ok(Truth::healthy())
}

fn lenient_webhook(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let service = (&*scene.platform(), "nothing");
    scene.add(&build::webhooks(scene.lab, &scene.name("lenient"), service, "lenient.example.com", "Ignore"))?;
    Ok(Truth::healthy())
}

fn renewal(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let both = [
        build::condition("Ready", "True", "Ready", "Certificate is up to date and has not expired"),
        build::condition("Issuing", "True", "Renewing", "Renewing certificate as renewal was scheduled"),
    ];
    scene.status(&certificates::the_certificate(scene), &json!({"conditions": both}))?;
    Ok(Truth::healthy())
}

/// The kubelet ended it with its node, and no controller takes it away.
fn left_over(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let (home, name) = (scene.home(), scene.name("left"));
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": home,
            "annotations": {"lab.coldstart.dev/crash": "true"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.example.org/main:1"}]}});
    let pod = scene.add(&pod)?;
    scene.lab.wait_for(&pod, &Until::field("/status/phase", "Failed"), SOON)?;
    let text = "Pod was terminated in response to imminent node shutdown.";
    scene.lab.patch_status(&pod, &json!({"reason": "Terminated", "message": text}))?;
    Ok(Truth::healthy())
}

fn new_revision(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.push(&[("infrastructure/more.yaml", build::config_map(&scene.home(), &scene.name("new")).to_string())])?;
    Ok(Truth::healthy())
}

/// For some pods only, as people set aside nodes.
fn tainted(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let taint = json!({"key": "dedicated", "value": "batch", "effect": "NoSchedule"});
    let node = Object::node(&scene.nodes()[2]);
    scene.patch(&node, &json!({"spec": {"taints": [taint]}}), json!({"spec": {"taints": null}}))?;
    Ok(Truth::healthy())
}
