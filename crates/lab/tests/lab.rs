//! The lab itself, held against what it promises. Each test has a lab of its own and tells several short stories, because
//! starting one is what costs. Three at once is what a small machine carries.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use coldstart_lab::{self as lab, Lab, Object, Options, Process, Until};

const SOON: Duration = Duration::from_secs(40);

#[test]
fn pods_do_what_their_annotations_say() {
    let Some(lab) = lab::or_skip_with(Options::named("pods").without_flux()) else { return };
    lab.add_five_nodes().unwrap();

    a_plain_deployment_is_ready_at_once_and_a_slow_one_after_its_delay(&lab);
    a_crashing_pod_is_told_from_one_that_is_not_ready(&lab);
    a_daemon_that_refuses_on_one_node_misses_only_there(&lab);
    jobs_complete_and_claims_get_volumes(&lab);
    the_api_server_comes_back_on_its_port(&lab);
}

fn a_plain_deployment_is_ready_at_once_and_a_slow_one_after_its_delay(lab: &Lab) {
    lab.apply(&deployment("plain", "none: none")).unwrap();
    lab.apply(&deployment("slow", "lab.coldstart.dev/ready-after: 4s")).unwrap();
    let start = lab.now();
    lab.wait_for(&Object::deployment("default", "plain"), &Until::ready(), SOON).unwrap();
    assert_eq!(ready_replicas(lab, "slow"), 0);
    lab.wait_for(&Object::deployment("default", "slow"), &Until::ready(), SOON).unwrap();
    let took = lab.now().saturating_sub(start);
    assert!(took >= Duration::from_millis(3_500), "ready after {took:?} already");
}

fn a_crashing_pod_is_told_from_one_that_is_not_ready(lab: &Lab) {
    lab.apply(&deployment("crash", "lab.coldstart.dev/crash: 'true'")).unwrap();
    lab.apply(&deployment("no-image", "lab.coldstart.dev/image-pull-backoff: 'true'")).unwrap();
    lab.apply(&deployment("unready", "lab.coldstart.dev/never-ready: 'true'")).unwrap();
    for (app, reason) in [("crash", "CrashLoopBackOff"), ("no-image", "ImagePullBackOff")] {
        let waiting = Until::field("/status/containerStatuses/0/state/waiting/reason", reason);
        lab.wait_for(&pod_of(lab, app), &waiting, SOON).unwrap();
    }
    let late =
        lab.wait_for(&Object::deployment("default", "crash"), &Until::ready(), Duration::from_secs(1)).unwrap_err();
    assert!(late.last_reason.starts_with("0 of 2 ready; "), "{late}");

    // Readiness follows the annotation, both ways.
    let pod = pod_of(lab, "unready");
    lab.wait_for(&pod, &Until::reason("Ready", "ContainersNotReady"), SOON).unwrap();
    lab.annotate(&pod, "lab.coldstart.dev/never-ready", None).unwrap();
    lab.wait_for(&pod, &Until::condition("Ready", "True"), SOON).unwrap();
    lab.annotate(&pod, "lab.coldstart.dev/never-ready", Some("true")).unwrap();
    lab.wait_for(&pod, &Until::condition("Ready", "False"), SOON).unwrap();
    let about = lab.events_of(&pod).unwrap();
    assert!(about.iter().any(|event| event.reason == "Unhealthy" && event.is_warning()), "{about:?}");
}

fn a_daemon_that_refuses_on_one_node_misses_only_there(lab: &Lab) {
    lab.apply(&daemon("agent", "lab.coldstart.dev/refuse-on-node: worker-2")).unwrap();
    let agent = Object::daemon_set("default", "agent");
    // Control planes take no ordinary pods, so there are two.
    lab.wait_for(&agent, &Until::field("/status/numberReady", 1), SOON).unwrap();
    let status = &lab.get(&agent).unwrap().unwrap()["status"];
    assert_eq!((&status["desiredNumberScheduled"], &status["numberUnavailable"]), (&2.into(), &1.into()));
}

fn jobs_complete_and_claims_get_volumes(lab: &Lab) {
    lab.apply(JOB_AND_CLAIM).unwrap();
    lab.wait_for(&Object::job("default", "once"), &Until::condition("Complete", "True"), SOON).unwrap();
    lab.wait_for(&Object::job("default", "fails"), &Until::condition("Failed", "True"), SOON).unwrap();
    let claim = Object::new("v1", "PersistentVolumeClaim", "default", "data");
    lab.wait_for(&claim, &Until::field("/status/phase", "Bound"), SOON).unwrap();
}

fn the_api_server_comes_back_on_its_port(lab: &Lab) {
    lab.stop_api_server().unwrap();
    assert!(!lab.is_running(Process::ApiServer));
    assert!(lab.get(&Object::deployment("default", "plain")).is_err());
    lab.start_api_server().unwrap();
    assert_eq!(ready_replicas(lab, "plain"), 2);
    lab.apply(&deployment("after", "none: none")).unwrap();
    lab.wait_for(&Object::deployment("default", "after"), &Until::ready(), SOON).unwrap();
}

#[test]
fn flux_reconciles_what_our_servers_serve() {
    let Some(lab) = lab::or_skip("flux") else { return };
    lab.add_node("worker-1", &["worker"], &[], &[]).unwrap();
    let recording = lab.record();

    kustomizations_converge_in_their_order(&lab, &recording);
    a_git_server_that_is_cut_off_is_a_failed_fetch(&lab, &recording);
    releases_come_from_a_repository_and_from_a_registry(&lab);
    a_failed_attempt_is_on_the_recording_and_in_the_log(&lab, &recording);
}

/// The recording watches the API server by itself, and on a busy machine a moment later than who asks it.
fn on_record<T>(look: impl Fn() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        match look() {
            Some(found) => return found,
            None => assert!(started.elapsed() < SOON, "not on the recording after {SOON:?}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn kustomizations_converge_in_their_order(lab: &Lab, recording: &lab::Recording) {
    let tree = tempfile::tempdir().unwrap();
    write(tree.path(), "first/app.yaml", &deployment("first", "lab.coldstart.dev/ready-after: 2s"));
    write(tree.path(), "second/app.yaml", &deployment("second", "none: none"));
    let revision = lab.git().push(tree.path()).unwrap();
    lab.apply(&git_repository(lab)).unwrap();
    lab.apply(&kustomization("second", "first")).unwrap();
    lab.apply(&kustomization("first", "")).unwrap();
    let (first, second) =
        (Object::kustomization("flux-system", "first"), Object::kustomization("flux-system", "second"));
    let done = lab.wait_for(&second, &Until::ready(), SOON).unwrap();
    assert_eq!(done["status"]["lastAppliedRevision"], format!("main@sha1:{revision}"));

    let (first_ready, second_ready) =
        (on_record(|| recording.first_ready(&first)), on_record(|| recording.first_ready(&second)));
    assert!(first_ready < second_ready, "{first_ready:?} {second_ready:?}");
    assert_eq!(recording.failures(&first), []);
    assert_eq!(recording.failures(&second), []);
    let history = recording.ready_history(&second);
    assert!(history.iter().any(|(_, ready)| ready.reason == "DependencyNotReady"), "{history:?}");
}

fn a_git_server_that_is_cut_off_is_a_failed_fetch(lab: &Lab, recording: &lab::Recording) {
    let source = Object::git_repository("flux-system", "cluster");
    lab.git().cut_off();
    lab.reconcile(&source).unwrap();
    lab.wait_for(&source, &Until::condition("Ready", "False"), SOON).unwrap();
    assert_eq!(on_record(|| recording.failures(&source).pop()).reason, "GitOperationFailed");
    lab.git().restore();
    lab.reconcile(&source).unwrap();
    lab.wait_for(&source, &Until::ready(), SOON).unwrap();
}

fn releases_come_from_a_repository_and_from_a_registry(lab: &Lab) {
    let chart = tempfile::tempdir().unwrap();
    write(chart.path(), "Chart.yaml", "apiVersion: v2\nname: app\nversion: 0.0.0\n");
    write(chart.path(), "templates/app.yaml", &deployment("{{ .Release.Name }}", "none: none"));
    lab.charts().add(chart.path(), "app", "1.2.3").unwrap();
    lab.apply(&releases(lab)).unwrap();
    for name in ["over-http", "over-oci", "from-registry"] {
        lab.wait_for(&Object::helm_release("default", name), &Until::ready(), SOON).unwrap();
        assert_eq!(ready_replicas(lab, name), 2, "{name}");
    }
}

fn a_failed_attempt_is_on_the_recording_and_in_the_log(lab: &Lab, recording: &lab::Recording) {
    let tree = tempfile::tempdir().unwrap();
    write(tree.path(), "broken/object.yaml", "apiVersion: nobody.example.org/v1\nkind: Thing\nmetadata: {name: a}\n");
    lab.git().push(tree.path()).unwrap();
    lab.apply(&kustomization("broken", "")).unwrap();
    lab.reconcile(&Object::git_repository("flux-system", "cluster")).unwrap();
    let broken = Object::kustomization("flux-system", "broken");
    let failed = Until::new("failed with no matches for kind", |object| {
        let ready = object.and_then(|object| lab::condition(object, "Ready")).ok_or("no Ready condition")?;
        if ready.message.contains("no matches for kind") { Ok(()) } else { Err(ready.message) }
    });
    lab.wait_for(&broken, &failed, SOON).unwrap();
    on_record(|| recording.failures(&broken).into_iter().find(|it| it.message.contains("no matches for kind")));
    let logged = lab.logged_errors(Process::KustomizeController);
    assert!(logged.iter().any(|error| error.name == "broken" && error.error.contains("Thing")), "{logged:?}");

    let kept = tempfile::tempdir().unwrap();
    lab.collect_logs(kept.path()).unwrap();
    for file in
        ["kube-apiserver.log", "kustomize-controller.log", "events.txt", "Kustomization.json", "HelmRelease.json"]
    {
        assert!(fs::metadata(kept.path().join(file)).unwrap().len() > 0, "{file} is empty");
    }
}

#[test]
fn the_controller_unseals_what_kubeseal_sealed() {
    let options = Options::named("sealed-secrets").without_flux().with(Process::SealedSecrets);
    let Some(lab) = lab::or_skip_with(options) else { return };
    let secret = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"login","namespace":"default"},
        "stringData":{"password":"hunter2"}}"#;
    let sealed = lab.seal(secret).unwrap();
    assert!(!sealed.contains("hunter2") && sealed.contains("encryptedData"), "{sealed}");
    lab.apply(&sealed).unwrap();
    let unsealed = lab.wait_for(&Object::secret("default", "login"), &Until::exists(), SOON).unwrap();
    assert_eq!(unsealed["data"]["password"], "aHVudGVyMg==");
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn ready_replicas(lab: &Lab, name: &str) -> i64 {
    let found = lab.get(&Object::deployment("default", name)).unwrap().unwrap();
    found["status"]["readyReplicas"].as_i64().unwrap_or(0)
}

fn pod_of(lab: &Lab, app: &str) -> Object {
    let replicas = Until::field("/status/replicas", 2);
    lab.wait_for(&Object::deployment("default", app), &replicas, SOON).unwrap();
    let pods = lab.list("v1", "Pod", Some("default")).unwrap();
    let pod = pods.iter().find(|pod| pod["metadata"]["labels"]["app"] == app).unwrap();
    Object::of(pod).unwrap()
}

fn deployment(name: &str, annotation: &str) -> String {
    format!(
        r#"---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: "{name}", namespace: default}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: "{name}"}}}}
  template:
    metadata:
      labels: {{app: "{name}"}}
      annotations: {{{annotation}}}
    spec:
      containers: [{{name: main, image: "example.org/main:1"}}]
"#
    )
}

fn daemon(name: &str, annotation: &str) -> String {
    deployment(name, annotation).replace("kind: Deployment", "kind: DaemonSet").replace("  replicas: 2\n", "")
}

const JOB_AND_CLAIM: &str = "
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: default}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: example.org/main:1}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: fails, namespace: default}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {lab.coldstart.dev/crash: 'true'}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: example.org/main:1}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
";

fn git_repository(lab: &Lab) -> String {
    format!(
        "
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: cluster, namespace: flux-system}}
spec:
  interval: 1h
  url: {}
  ref: {{branch: main}}
",
        lab.git().url()
    )
}

fn kustomization(name: &str, depends_on: &str) -> String {
    let depends_on = if depends_on.is_empty() { String::new() } else { format!("{{name: {depends_on}}}") };
    format!(
        "
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: {name}, namespace: flux-system}}
spec:
  interval: 1h
  retryInterval: 1s
  timeout: 30s
  path: ./{name}
  prune: false
  wait: true
  dependsOn: [{depends_on}]
  sourceRef: {{kind: GitRepository, name: cluster}}
"
    )
}

fn releases(lab: &Lab) -> String {
    let (http, oci, app) = (lab.charts().url(), lab.charts().oci_url(), lab.charts().oci_url_of("app"));
    format!(
        "
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {{name: http, namespace: default}}
spec: {{interval: 1h, url: '{http}'}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {{name: oci, namespace: default}}
spec: {{interval: 1h, type: oci, insecure: true, url: '{oci}'}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {{name: app, namespace: default}}
spec:
  interval: 1h
  insecure: true
  url: {app}
  ref: {{semver: '>=1.0.0'}}
  layerSelector: {{mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip, operation: copy}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: over-http, namespace: default}}
spec:
  interval: 1h
  chart: {{spec: {{chart: app, version: 1.2.3, sourceRef: {{kind: HelmRepository, name: http}}}}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: over-oci, namespace: default}}
spec:
  interval: 1h
  chart: {{spec: {{chart: app, version: 1.2.3, sourceRef: {{kind: HelmRepository, name: oci}}}}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: from-registry, namespace: default}}
spec:
  interval: 1h
  chartRef: {{kind: OCIRepository, name: app}}
"
    )
}
