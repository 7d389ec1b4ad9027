//! How much memory and time a large cluster takes to look at: 1,000 nodes and 10,000 pods of 8 KB with managedFields, from a
//! scripted API server in another process.
//!
//! ```text
//! cargo run --release -p coldstart-observe --example large_cluster
//! ```

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that can not be set up fails")]

use std::process::Command;
use std::time::Instant;

use coldstart_observe as observe;
use fixtures::api_server::{ApiServer, Kind, World};
use observe::{Cluster, Limits, Target};
use serde_json::{Value, json};

const NODES: usize = 1_000;
const PODS: usize = 10_000;
const POD_BYTES: usize = 8_300;

fn main() {
    match std::env::args().nth(1) {
        Some(kubeconfig) => look(&kubeconfig),
        None => serve(),
    }
}

/// Looks at a cluster, and tells what it took.
fn look(kubeconfig: &str) {
    let target = Target { kubeconfigs: vec![kubeconfig.into()], must_be_there: true, context: None };
    let started = Instant::now();
    let mut cluster = Cluster::open(&target, None, Limits::default()).unwrap();
    let before = peak_kib();
    cluster.look();
    let looked = (started.elapsed(), peak_kib());
    let facts = cluster.facts();
    assert_eq!((facts.pods.len(), facts.nodes.len(), &facts.pods.gap), (PODS, NODES, &None));
    let read = cluster.session.bytes_read();
    println!("read            {:>8.1} MiB", mib(read));
    println!("looked          {:>8.2} s", looked.0.as_secs_f64());
    println!("peak before     {:>8.1} MiB", before / 1024.0);
    println!("peak after list {:>8.1} MiB", looked.1 / 1024.0);
    println!("peak with facts {:>8.1} MiB", peak_kib() / 1024.0);
    let started = Instant::now();
    let status = health::assess(&facts, None, cluster.now());
    println!("assessed        {:>8.2} s, {} roots", started.elapsed().as_secs_f64(), status.roots.len());
    println!("peak            {:>8.1} MiB", peak_kib() / 1024.0);
}

fn serve() {
    let kinds = vec![Kind::new("", "v1", "nodes", "Node", false), Kind::new("", "v1", "pods", "Pod", true)];
    let server = ApiServer::start(World::new(kinds).with((0..NODES).map(node)).with((0..PODS).map(pod)));
    let home = tempfile::tempdir().unwrap();
    let kubeconfig = home.path().join("config");
    std::fs::write(&kubeconfig, server.kubeconfig()).unwrap();
    let size = pod(1).to_string().len();
    println!("{NODES} nodes, {PODS} pods of {size} bytes");
    let ran = Command::new(std::env::current_exe().unwrap()).arg(&kubeconfig).status().unwrap();
    assert!(ran.success());
}

/// The most memory that this process ever had.
fn peak_kib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / 1024.0 / 1024.0
}

fn node(number: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": format!("node-{number:04}"), "managedFields": managed(2_000),
            "labels": {"kubernetes.io/hostname": format!("node-{number:04}"), "kubernetes.io/os": "linux"}},
        "spec": {"podCIDR": "10.0.0.0/24"},
        "status": {"conditions": [
            {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status",
             "lastHeartbeatTime": "2026-11-19T03:40:00Z", "lastTransitionTime": "2026-11-19T01:00:00Z"}],
            "nodeInfo": {"bootID": format!("boot-{number:04}"), "kubeletVersion": "v1.35.0"}}})
}

/// As large as a usual one: half of it is what managers wrote.
fn pod(number: usize) -> Value {
    let env: Vec<Value> =
        (0..20).map(|at| json!({"name": format!("VARIABLE_{at}"), "value": "x".repeat(60)})).collect();
    let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("app-{:04}-5d8f", number / 3), "controller": true, "uid": "u"});
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": format!("team-{:02}", number % 50), "name": format!("app-{:04}-5d8f-{number:05}", number / 3),
            "uid": format!("4c6f9e8a-0000-4000-8000-{number:012}"), "creationTimestamp": "2026-11-19T01:00:00Z",
            "labels": {"app.kubernetes.io/name": format!("app-{:04}", number / 3), "pod-template-hash": "5d8f"},
            "ownerReferences": [owner]},
        "spec": {"nodeName": format!("node-{:04}", number % NODES), "containers": [
            {"name": "app", "image": format!("registry.example.com/team/app-{:04}:1.2.3", number / 3), "env": env}]},
        "status": {"phase": "Running", "startTime": "2026-11-19T01:00:00Z", "podIP": "10.0.0.1",
            "conditions": [
                {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-19T01:00:10Z"},
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-19T01:00:00Z"}],
            "containerStatuses": [{"name": "app", "ready": true, "restartCount": 0, "started": true,
                "image": format!("registry.example.com/team/app-{:04}:1.2.3", number / 3),
                "imageID": "registry.example.com/team/app@sha256:0000000000000000000000000000000000000000000000000000000000000000",
                "state": {"running": {"startedAt": "2026-11-19T01:00:05Z"}}}]}});
    let missing = POD_BYTES.saturating_sub(pod.to_string().len());
    pod["metadata"]["managedFields"] = managed(missing);
    pod
}

/// What managers wrote, of about this size.
fn managed(bytes: usize) -> Value {
    let field = |at: usize| (format!("f:field-{at:03}"), json!({".": {}, "f:value": {}}));
    let fields: serde_json::Map<String, Value> = (0..bytes / 38).map(field).collect();
    json!([{"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}])
}
