//! `coldstart status` with a real API server and real Flux, under exactly the ClusterRole that ships: a healthy cluster has no root,
//! and each of a few faults has the right one.

#![cfg(feature = "live")]
#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod story;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lab::{Lab, Object, Options, Process, Until};
use serde_json::{Value, json};
use story::{Ran, command, run};
use tempfile::TempDir;

const SOON: Duration = Duration::from_mins(1);
const WHO: &str = "system:serviceaccount:default:looker";
const ROLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/status-clusterrole.yaml");

/// Who looks at the lab, with no more rights than ship.
struct Looker {
    home: TempDir,
}

impl Looker {
    fn new(lab: &Lab) -> Self {
        lab.apply(&fs::read_to_string(ROLE).unwrap()).unwrap();
        lab.apply(BINDING).unwrap();
        let mut config: Value = serde_json::from_str(&fs::read_to_string(lab.kubeconfig()).unwrap()).unwrap();
        config["users"][0]["user"]["as"] = WHO.into();
        let looker = Self { home: tempfile::tempdir().unwrap() };
        fs::write(looker.kubeconfig(), config.to_string()).unwrap();
        looker
    }

    fn kubeconfig(&self) -> PathBuf {
        self.home.path().join("config")
    }

    #[track_caller]
    fn status(&self, words: &[&str]) -> Ran {
        run(command(&["status"]).args(words).env("KUBECONFIG", self.kubeconfig()))
    }

    fn roots(&self) -> Vec<Value> {
        self.status(&["--format", "json"]).json()["roots"].as_array().unwrap().clone()
    }

    /// Until there is one root and it is the right one. What takes its time to show in a cluster takes its time here.
    #[track_caller]
    fn finds(&self, what: &str, is_right: impl Fn(&Value) -> bool) {
        let started = Instant::now();
        loop {
            let roots = self.roots();
            match &roots[..] {
                [root] if is_right(root) => return,
                _ => assert!(started.elapsed() < SOON, "{what} is not the one root: {roots:#?}"),
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    #[track_caller]
    fn finds_nothing(&self) {
        let started = Instant::now();
        loop {
            let roots = self.roots();
            if roots.is_empty() {
                return;
            }
            assert!(started.elapsed() < SOON, "{roots:#?}");
            std::thread::sleep(Duration::from_millis(500));
        }
    }
}

#[test]
fn the_root_of_each_fault_is_found() {
    let options = Options::named("status").without(Process::HelmController);
    let Some(lab) = lab::or_skip_with(options) else { return };
    lab.add_node("worker-1", &["worker"], &[], &[]).unwrap();
    let looker = Looker::new(&lab);
    a_healthy_cluster(&lab);

    the_role_is_enough_and_nothing_fails(&looker);
    a_dependency_with_a_wrong_name(&lab, &looker);
    a_source_that_is_suspended(&lab, &looker);
    a_crd_that_is_missing(&lab, &looker);
    a_node_that_is_not_ready_yet(&lab, &looker);
    an_api_server_that_is_away(&lab, &looker);
}

fn a_healthy_cluster(lab: &Lab) {
    let tree = tempfile::tempdir().unwrap();
    write(tree.path(), "first/app.yaml", &deployment("default", "first", "first"));
    write(tree.path(), "second/app.yaml", &deployment("default", "second", "second"));
    write(tree.path(), "widgets/widget.yaml", WIDGET);
    lab.git().push(tree.path()).unwrap();
    for name in ["source-controller", "kustomize-controller"] {
        lab.apply(&deployment("flux-system", name, name)).unwrap();
    }
    lab.apply(&deployment("kube-system", "coredns", "kube-dns")).unwrap();
    lab.apply(DNS).unwrap();
    lab.apply(&source(lab, "cluster", false)).unwrap();
    lab.apply(&kustomization("first", "cluster", "")).unwrap();
    lab.apply(&kustomization("second", "cluster", "first")).unwrap();
    lab.wait_for(&Object::kustomization("flux-system", "second"), &Until::ready(), SOON).unwrap();
    for name in ["source-controller", "kustomize-controller"] {
        lab.wait_for(&Object::deployment("flux-system", name), &Until::ready(), SOON).unwrap();
    }
    lab.wait_for(&Object::deployment("kube-system", "coredns"), &Until::ready(), SOON).unwrap();
}

fn the_role_is_enough_and_nothing_fails(looker: &Looker) {
    looker.finds_nothing();
    let told = looker.status(&["--format", "json", "-v"]).json();
    let forbidden = told["not_seen"].as_array().unwrap().iter().filter(|gap| gap.to_string().contains("may not"));
    assert_eq!(forbidden.collect::<Vec<_>>(), Vec::<&Value>::new(), "the ClusterRole lacks a right");
    looker.status(&["--wait-for", "gitops", "--timeout", "15s"]).exits(0);
}

fn a_dependency_with_a_wrong_name(lab: &Lab, looker: &Looker) {
    lab.apply(&kustomization("second", "cluster", "frist")).unwrap();
    looker.finds("the wrong name in `second`", |root| {
        is(root, "Kustomization", "second") && root["id"] == "FLUX-03" && root["problem"]["on"]["name"] == "frist"
    });
    looker.status(&["Kustomization/second"]).exits(1).says("frist");
    lab.apply(&kustomization("second", "cluster", "first")).unwrap();
    looker.finds_nothing();
}

fn a_source_that_is_suspended(lab: &Lab, looker: &Looker) {
    lab.apply(&source(lab, "late", true)).unwrap();
    lab.apply(&kustomization("second", "late", "first")).unwrap();
    looker.finds("the suspended source", |root| {
        is(root, "GitRepository", "late") && root["problem"]["problem"] == "suspended" && blocks(root, "second")
    });
    lab.apply(&kustomization("second", "cluster", "first")).unwrap();
    lab.delete(&Object::git_repository("flux-system", "late")).unwrap();
    looker.finds_nothing();
}

fn a_crd_that_is_missing(lab: &Lab, looker: &Looker) {
    lab.apply(&kustomization("widgets", "cluster", "")).unwrap();
    looker.finds("the CRD of Widget", |root| {
        root["object"].to_string().to_lowercase().contains("widget") && root["id"] == "FLUX-05"
    });
    lab.delete(&Object::kustomization("flux-system", "widgets")).unwrap();
    looker.finds_nothing();
}

fn a_node_that_is_not_ready_yet(lab: &Lab, looker: &Looker) {
    lab.add_node("worker-2", &["worker"], &[], &[]).unwrap();
    looker.finds_nothing();
    lab.kill(Process::Kwok).unwrap();
    let condition = json!({"type": "Ready", "status": "False", "reason": "KubeletNotReady",
        "message": "container runtime is down", "lastHeartbeatTime": "2026-01-01T00:00:00Z",
        "lastTransitionTime": "2026-01-01T00:00:00Z"});
    lab.patch_status(&Object::node("worker-2"), &json!({"conditions": [condition]})).unwrap();
    // Of a node that was added a moment ago that is no fault: it is still coming up.
    let told = looker.status(&["--format", "json"]).exits(4).json();
    let nodes = told["layers"].as_array().unwrap().iter().find(|layer| layer["name"] == "nodes").unwrap().clone();
    assert_eq!(
        (&nodes["state"], &nodes["counts"][0]["good"], &nodes["counts"][0]["of"]),
        (&json!("progressing"), &json!(1), &json!(2))
    );
    assert_eq!(told["roots"], json!([]), "{told:#}");
    lab.start_process(Process::Kwok).unwrap();
}

fn an_api_server_that_is_away(lab: &Lab, looker: &Looker) {
    lab.stop_api_server().unwrap();
    let told = looker.status(&["--format", "json"]).exits(5).json();
    assert_eq!(told["layers"][0]["state"], "failed");
    assert_eq!(told["roots"].as_array().unwrap().len(), 1, "{told:#}");
    lab.start_api_server().unwrap();
}

fn is(root: &Value, kind: &str, name: &str) -> bool {
    root["object"]["kind"] == kind && root["object"]["name"] == name
}

fn blocks(root: &Value, name: &str) -> bool {
    root["blocks"].as_array().is_some_and(|all| all.iter().any(|it| it["object"]["name"] == name))
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn source(lab: &Lab, name: &str, suspend: bool) -> String {
    format!(
        "
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: {name}, namespace: flux-system}}
spec:
  interval: 1h
  suspend: {suspend}
  url: {}
  ref: {{branch: main}}
",
        lab.git().url()
    )
}

fn kustomization(name: &str, source: &str, depends_on: &str) -> String {
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
  prune: true
  wait: true
  dependsOn: [{depends_on}]
  sourceRef: {{kind: GitRepository, name: {source}}}
"
    )
}

fn deployment(namespace: &str, name: &str, app: &str) -> String {
    format!(
        r#"---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: "{name}", namespace: {namespace}, labels: {{k8s-app: "{app}"}}}}
spec:
  replicas: 1
  selector: {{matchLabels: {{k8s-app: "{app}"}}}}
  template:
    metadata: {{labels: {{k8s-app: "{app}"}}}}
    spec:
      containers: [{{name: main, image: "example.org/main:1"}}]
"#
    )
}

const DNS: &str = "
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system, labels: {k8s-app: kube-dns}}
spec:
  selector: {k8s-app: kube-dns}
  ports: [{name: dns, port: 53, protocol: UDP}]
";

const WIDGET: &str = "
apiVersion: example.com/v1
kind: Widget
metadata: {name: one, namespace: default}
";

const BINDING: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: looker}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: coldstart-status}
subjects: [{kind: ServiceAccount, name: looker, namespace: default}]
";
