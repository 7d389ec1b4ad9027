//! `coldstart status` with a real API server and real Flux, under exactly the ClusterRole that ships: a healthy cluster has no root,
//! and each of a few faults has the right one.

#![cfg(feature = "live")]
#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod story;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lab::faults::{self, Case, Named, Scene, Told};
use lab::{Lab, Object, Process};
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

    fn report(&self) -> Value {
        self.status(&["--format", "json"]).json()
    }

    /// Until everything that is true is told, and nothing else. What takes its time to show in a cluster takes its time here.
    #[track_caller]
    fn finds(&self, scene: &Scene<'_>, case: &Case) {
        let truth = case.act(scene).unwrap();
        let started = Instant::now();
        loop {
            let report = self.report();
            let differences = truth.differences(&told(&report));
            if differences.is_empty() {
                break;
            }
            assert!(started.elapsed() < SOON + case.ripe, "{}: {differences:#?}\n{report:#}", case.name);
            std::thread::sleep(Duration::from_millis(300));
        }
        scene.restore().unwrap();
        self.finds_nothing();
    }

    #[track_caller]
    fn finds_nothing(&self) {
        let started = Instant::now();
        loop {
            let report = self.report();
            if report["outcome"] == "healthy" {
                return;
            }
            assert!(started.elapsed() < SOON, "{report:#}");
            std::thread::sleep(Duration::from_millis(300));
        }
    }
}

/// The roots of a report, as cases know them.
fn told(report: &Value) -> Vec<Told> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let named = |value: &Value| Named { kind: text(&value["kind"]), name: text(&value["name"]) };
    let root = |root: &Value| Told {
        object: named(&root["object"]),
        id: root["id"].as_str().map(str::to_owned),
        blocks: root["blocks"].as_array().unwrap().iter().map(|blocked| named(&blocked["object"])).collect(),
    };
    report["roots"].as_array().unwrap().iter().map(root).collect()
}

/// Some of the cases of `cargo xtask evaluate faults`, which has them all.
const CASES: [&str; 12] = [
    "wrong-dependency",
    "suspended-source",
    "crd-missing",
    "sealing-key-lost",
    "secret-of-a-certificate",
    "certificate-expired-and-ready",
    "cloud-controller-crashes",
    "webhook-server-has-no-image",
    "coredns-crashes",
    "issuer-and-failing-app",
    "cron-job-that-failed-once",
    // Its pods must have run for a minute: by now they nearly have.
    "csi-node-lacks-driver",
];

#[test]
fn the_root_of_each_fault_is_found() {
    let options = Scene::options("status").without(Process::HelmController);
    let Some(lab) = lab::or_skip_with(options) else { return };
    let looker = Looker::new(&lab);
    let scene = Scene::healthy(&lab, 20).unwrap();

    the_role_is_enough_and_nothing_fails(&looker);
    for name in CASES {
        looker.finds(&scene, &faults::named(name).unwrap());
    }
    an_object_is_followed_to_its_root(&scene, &looker);
    a_node_that_is_not_ready_yet(&lab, &looker);
    an_api_server_that_is_away(&lab, &looker);
}

fn the_role_is_enough_and_nothing_fails(looker: &Looker) {
    looker.finds_nothing();
    let told = looker.status(&["--format", "json", "-v"]).json();
    let forbidden = told["not_seen"].as_array().unwrap().iter().filter(|gap| gap.to_string().contains("may not"));
    assert_eq!(forbidden.collect::<Vec<_>>(), Vec::<&Value>::new(), "the ClusterRole lacks a right");
    looker.status(&["--wait-for", "gitops", "--timeout", "15s"]).exits(0);
}

fn an_object_is_followed_to_its_root(scene: &Scene<'_>, looker: &Looker) {
    let name = scene.name("imageless");
    let truth = faults::named("image-missing").unwrap().act(scene).unwrap();
    let started = Instant::now();
    while !truth.differences(&told(&looker.report())).is_empty() {
        assert!(started.elapsed() < SOON, "{:#}", looker.report());
        std::thread::sleep(Duration::from_millis(300));
    }
    looker.status(&[&format!("Deployment/{name}")]).exits(1).says("ImagePullBackOff");
    scene.restore().unwrap();
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
        (&json!("progressing"), &json!(3), &json!(4))
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

const BINDING: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: looker}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: coldstart-status}
subjects: [{kind: ServiceAccount, name: looker, namespace: default}]
";
