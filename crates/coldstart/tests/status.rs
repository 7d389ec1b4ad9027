//! `coldstart status` with a scripted API server: what is told of a small cluster, and of all the ways not to see one.

#![cfg(feature = "live")]
#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod story;

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use fixtures::api_server::{ApiServer, Kind, Reply, Step, World, kubeconfig};
use serde_json::{Value, json};
use story::{Ran, command, run};
use tempfile::TempDir;

const FLUX: &str = "kustomize.toolkit.fluxcd.io";
const SOURCE: &str = "source.toolkit.fluxcd.io";
const SECRET_VALUE: &str = "aHVudGVyMg==";

fn kinds() -> Vec<Kind> {
    let of = |group: &str, version: &str, plural: &str, kind: &str, namespaced| {
        Kind::new(group, version, plural, kind, namespaced)
    };
    vec![
        of("", "v1", "nodes", "Node", false),
        of("", "v1", "namespaces", "Namespace", false),
        of("", "v1", "pods", "Pod", true),
        of("", "v1", "services", "Service", true),
        of("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true),
        of("", "v1", "persistentvolumes", "PersistentVolume", false),
        of("", "v1", "secrets", "Secret", true),
        of("", "v1", "configmaps", "ConfigMap", true),
        of("", "v1", "events", "Event", true),
        of("apps", "v1", "deployments", "Deployment", true),
        of("apps", "v1", "daemonsets", "DaemonSet", true),
        of("apps", "v1", "statefulsets", "StatefulSet", true),
        of("apps", "v1", "replicasets", "ReplicaSet", true),
        of("batch", "v1", "jobs", "Job", true),
        of("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", true),
        of("coordination.k8s.io", "v1", "leases", "Lease", true),
        of("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false),
        of("apiregistration.k8s.io", "v1", "apiservices", "APIService", false),
        of("certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", false),
        of(
            "admissionregistration.k8s.io",
            "v1",
            "validatingwebhookconfigurations",
            "ValidatingWebhookConfiguration",
            false,
        ),
        of(
            "admissionregistration.k8s.io",
            "v1",
            "mutatingwebhookconfigurations",
            "MutatingWebhookConfiguration",
            false,
        ),
        of("storage.k8s.io", "v1", "storageclasses", "StorageClass", false),
        of("storage.k8s.io", "v1", "csinodes", "CSINode", false),
        of("storage.k8s.io", "v1", "csidrivers", "CSIDriver", false),
        of("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", false),
        of(SOURCE, "v1", "gitrepositories", "GitRepository", true),
        of(FLUX, "v1", "kustomizations", "Kustomization", true),
    ]
}

fn ready(status: &str, reason: &str, message: &str) -> Value {
    json!([{"type": "Ready", "status": status, "reason": reason, "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1}])
}

fn deployment(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"namespace": namespace, "name": name, "generation": 1, "labels": {"k8s-app": name}},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"k8s-app": name}},
            "template": {"metadata": {"labels": {"k8s-app": name}}, "spec": {"containers": [{"name": name, "image": name}]}}},
        "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
            "conditions": [
                {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"},
                {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]}})
}

fn kustomization(name: &str, depends_on: &[&str], conditions: &Value) -> Value {
    let depends_on: Vec<Value> = depends_on.iter().map(|name| json!({"name": name})).collect();
    json!({"apiVersion": format!("{FLUX}/v1"), "kind": "Kustomization",
        "metadata": {"namespace": "flux-system", "name": name, "generation": 1},
        "spec": {"interval": "10m", "path": "./apps", "prune": true, "dependsOn": depends_on,
            "sourceRef": {"kind": "GitRepository", "name": "flux-system"}},
        "status": {"observedGeneration": 1, "lastAppliedRevision": "main@sha1:0123", "conditions": conditions}})
}

fn git_repository() -> Value {
    json!({"apiVersion": format!("{SOURCE}/v1"), "kind": "GitRepository",
        "metadata": {"namespace": "flux-system", "name": "flux-system", "generation": 1},
        "spec": {"interval": "1m", "url": "https://me:hunter2@git.example.invalid/home.git"},
        "status": {"observedGeneration": 1, "artifact": {"revision": "main@sha1:0123"},
            "conditions": ready("True", "Succeeded", "stored artifact from https://me:hunter2@git.example.invalid/home.git")}})
}

/// One node, DNS, and Flux with a Kustomization.
fn world() -> World {
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1"},
        "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady",
            "lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
            "nodeInfo": {"bootID": "one"}}});
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "apps", "name": "token"},
        "data": {"password": SECRET_VALUE}});
    let controllers = ["source-controller", "kustomize-controller"].map(|name| deployment("flux-system", name));
    World::new(kinds())
        .with([node, secret, git_repository(), kustomization("apps", &[], &ready("True", "Succeeded", "Applied"))])
        .with(controllers)
}

struct Desk {
    home: TempDir,
}

impl Desk {
    fn new(kubeconfig: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("config"), kubeconfig).unwrap();
        Self { home }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn command(&self, words: &[&str]) -> std::process::Command {
        let mut command = command(&["status"]);
        command.args(words).env("KUBECONFIG", self.path("config")).env("HOME", self.home.path());
        command.env_remove("KUBERNETES_SERVICE_HOST");
        command
    }

    #[track_caller]
    fn status(&self, words: &[&str]) -> Ran {
        run(&mut self.command(words))
    }
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// A dependency that does not exist.
fn broken() -> World {
    let waits = ready("False", "DependencyNotReady", "dependency 'flux-system/databse' is not ready");
    world().with([kustomization("apps", &["databse"], &waits)])
}

#[test]
fn a_dependency_that_does_not_exist_is_the_root() {
    let server = ApiServer::start(broken());
    let desk = Desk::new(&server.kubeconfig());
    let told = desk.status(&["--format", "json"]).exits(1).json();
    let roots = told["roots"].as_array().unwrap();
    assert_eq!(roots.len(), 1, "{roots:#?}");
    assert!(roots[0].to_string().contains("databse"), "{roots:#?}");
    desk.status(&[]).exits(1).says("databse");
    desk.status(&["--format", "markdown"]).exits(1).says("databse");
    desk.status(&["apps"]).exits(1).says("databse");
    desk.status(&["Kustomization/flux-system/apps"]).exits(1).says("databse");
    desk.status(&["appz"]).exits(2).says("nothing that fails is called `appz`: did you mean `apps`?");
}

#[test]
fn only_get_is_ever_asked_and_no_secret_is_read_or_told() {
    let server = ApiServer::scripted(broken(), |request| {
        assert_eq!(request.method, "GET", "{}", request.target);
        None
    });
    let desk = Desk::new(&server.kubeconfig());
    let record = desk.path("recording.json");
    desk.status(&["--record", record.to_str().unwrap()]).exits(1).never_says(SECRET_VALUE);
    let recorded = text(&record);
    assert!(recorded.contains("token"), "the name of the Secret is there");
    for secret in [SECRET_VALUE, "hunter2", "nobody-asks"] {
        assert!(!recorded.contains(secret), "{secret}");
    }
    let mode = std::fs::metadata(&record).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(server.requests().iter().all(|target| !target.contains("watch=1")), "a status alone watches nothing");
}

#[test]
fn a_recording_is_judged_as_the_cluster_was() {
    let server = ApiServer::start(broken());
    let desk = Desk::new(&server.kubeconfig());
    let record = desk.path("recording.json");
    let record = record.to_str().unwrap();
    for format in ["text", "json", "markdown"] {
        let live = desk.status(&["--record", record, "--format", format]).exits(1);
        let again = desk.status(&["--from", record, "--format", format]).exits(1);
        assert_eq!(live.stdout.replace("me:hunter2", "***"), again.stdout, "{format}");
    }
    drop(server);
    desk.status(&["--from", record]).exits(1).says("databse");
}

#[test]
fn what_is_no_recording_is_told() {
    let desk = Desk::new("{}");
    let path = desk.path("recording.json");
    std::fs::write(&path, "{\"at\": 1}").unwrap();
    desk.status(&["--from", path.to_str().unwrap()]).exits(2).says("is not a recording of `coldstart status --record`");
    std::fs::write(&path, "{\"at\": \"2026-01-01T00:00:00Z\", \"facts\": {\"version\": 999}}").unwrap();
    desk.status(&["--from", path.to_str().unwrap()]).exits(2).says("was recorded by another version");
    desk.status(&["--from", "absent.json"]).exits(2).says("cannot read absent.json");
}

#[test]
fn without_a_kubeconfig_it_says_where_it_looked() {
    let desk = Desk::new("{}");
    let absent = desk.path("absent");
    run(desk.command(&[]).env("KUBECONFIG", &absent))
        .exits(2)
        .says("no kubeconfig found")
        .says(absent.to_str().unwrap())
        .says("next: export KUBECONFIG=FILE");
    desk.status(&["--kubeconfig", absent.to_str().unwrap()]).exits(2).says("cannot read the kubeconfig");
}

#[test]
fn a_context_that_is_not_there_is_told_with_the_one_that_was_meant() {
    let desk = Desk::new(&kubeconfig("http://127.0.0.1:1"));
    desk.status(&["--context", "scriptd"])
        .exits(2)
        .says("has no context called `scriptd`: did you mean `scripted`?")
        .says("there is: scripted");
}

#[test]
fn refused_and_silent_are_told_apart() {
    let refused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let desk = Desk::new(&kubeconfig(&format!("http://{refused}")));
    let told = desk.status(&["--format", "json"]).exits(5).json();
    let because = |told: &Value| told["roots"][0]["problem"].to_string();
    assert!(because(&told).contains("refused"), "{told:#}");
    assert_eq!(told["layers"][0]["state"], "failed");
}

#[test]
fn refused_credentials_are_about_access() {
    let server = ApiServer::scripted(world(), |_| Some(Reply::status(401, "Unauthorized", "who?")));
    let desk = Desk::new(&server.kubeconfig());
    desk.status(&[])
        .exits(2)
        .says("does not accept the credentials of context `scripted` (401)")
        .says("nothing was seen of the cluster");
    let server = ApiServer::scripted(world(), |_| Some(Reply::text(200, "<html>hello</html>")));
    let desk = Desk::new(&server.kubeconfig());
    desk.status(&[]).exits(2).says("is not a Kubernetes API server");
}

#[test]
fn missing_rights_are_told_as_unseen_and_never_as_a_cause() {
    let forbidden = ["/api/v1/secrets", "/api/v1/pods", "/apis/apps/v1/deployments"];
    let server = ApiServer::scripted(world(), move |request| {
        forbidden.contains(&request.path.as_str()).then(|| Reply::status(403, "Forbidden", "no"))
    });
    let desk = Desk::new(&server.kubeconfig());
    let ran = desk.status(&["--format", "json", "-v"]);
    let told = ran.json();
    assert_eq!(told["roots"], json!([]), "{told:#}");
    for kind in ["secrets", "pods", "deployments"] {
        assert!(told["not_seen"].to_string().contains(kind), "{kind} in {:#}", told["not_seen"]);
    }
}

#[test]
fn a_cluster_without_flux_has_no_gitops() {
    let mut without = world();
    without.unserve(FLUX);
    without.unserve(SOURCE);
    without.remove("deployments", "flux-system", "source-controller");
    without.remove("deployments", "flux-system", "kustomize-controller");
    let server = ApiServer::start(without);
    let desk = Desk::new(&server.kubeconfig());
    let told = run(&mut desk.command(&["--format", "json"])).json();
    let layers = told["layers"].as_array().unwrap();
    let gitops = layers.iter().find(|layer| layer["name"] == "gitops").unwrap();
    assert_eq!(gitops["state"], "absent", "{gitops:#}");
    assert_eq!(told["roots"], json!([]), "{told:#}");
}

#[test]
fn trouble_on_the_way_does_not_change_what_is_told() {
    let plain = ApiServer::start(broken());
    let roots = |server: &ApiServer| {
        let desk = Desk::new(&server.kubeconfig());
        desk.status(&["--format", "json"]).exits(1).json()["roots"].clone()
    };
    let wanted = roots(&plain);
    let troubled = ApiServer::scripted(broken(), |request| match (request.path.as_str(), request.before) {
        ("/api/v1/pods", 0) => Some(Reply::status(429, "TooManyRequests", "later").with("Retry-After", "1")),
        ("/api/v1/nodes", 0) => Some(Reply::status(500, "InternalError", "etcd")),
        ("/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations", 0) => {
            Some(Reply::json(&json!({})).broken(1, Step::Cut))
        }
        _ => None,
    });
    assert_eq!(roots(&troubled).to_string(), wanted.to_string());
}

#[test]
fn it_waits_for_a_layer() {
    let server = ApiServer::start(broken());
    let desk = Desk::new(&server.kubeconfig());
    let started = Instant::now();
    desk.status(&["--wait-for", "gitops", "--timeout", "1s"]).exits(1);
    assert!(started.elapsed() >= Duration::from_secs(1));

    let mut waits = desk.command(&["--wait-for", "gitops", "--timeout", "15s"]).stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    server.put(kustomization("apps", &[], &ready("True", "Succeeded", "Applied")));
    let ended = waits.wait().unwrap();
    assert_eq!(ended.code(), Some(0));
}

#[test]
fn it_shows_changes_until_it_is_stopped() {
    let server = ApiServer::start(world());
    let desk = Desk::new(&server.kubeconfig());
    let mut watches = desk.command(&["--watch"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = watches.stdout.take().unwrap();
    let (send, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (mut buffer, mut all) = ([0_u8; 4096], String::new());
        while let Ok(read) = std::io::Read::read(&mut stdout, &mut buffer) {
            if read == 0 {
                return;
            }
            all.push_str(&String::from_utf8_lossy(&buffer[..read]));
            let _ = send.send(all.clone());
        }
    });
    let first = heard.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(!first.contains("databse"));
    std::thread::sleep(Duration::from_millis(500));
    let waits = ready("False", "DependencyNotReady", "dependency 'flux-system/databse' is not ready");
    server.put(kustomization("apps", &["databse"], &waits));
    let started = Instant::now();
    let shown = loop {
        let left = Duration::from_secs(10).saturating_sub(started.elapsed());
        if heard.recv_timeout(left).unwrap().contains("databse") {
            break started.elapsed();
        }
    };
    watches.kill().unwrap();
    watches.wait().unwrap();
    assert!(shown < Duration::from_secs(2), "{shown:?}");
}

#[test]
fn the_rights_that_it_needs_are_printed_and_shipped() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/status-clusterrole.yaml");
    let printed = run(&mut command(&["status", "--rights"])).exits(0).stdout;
    assert_eq!(printed, text(&shipped), "write it with `coldstart status --rights`");
    for line in printed.lines().filter(|line| line.contains("verbs:")) {
        assert!(line.contains("verbs: [get, list, watch]") || line.contains("verbs: [get]"), "{line}");
    }
}
