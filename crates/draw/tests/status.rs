//! What people and programs read of a cluster whose DNS is down, with a hostile name and a list that may not be read.

use coldstart_draw as draw;
use health::facts::*;
use health::{Facts, Status, Time, assess};
use serde_json::json;

const NOW: &str = "2026-11-19T12:00:00Z";

fn now() -> Time {
    Time::parse(NOW).expect("a time")
}

fn read<T: Fact>(api_version: &str, kind: &str, object: &serde_json::Value) -> T {
    T::parse(&serde_json::to_vec(object).expect("bytes"), &Kind::of(api_version, kind)).expect("an object")
}

fn status() -> Status {
    let api =
        Api { server: "https://10.0.0.1:6443".into(), answer: Answer::Version("v1.35.0".into()), ..Api::default() };
    let mut facts = Facts::new(api);
    facts.seen = Some(now());
    let deployment = json!({
        "metadata": {"name": "coredns", "namespace": "kube-system", "generation": 1, "labels": {"k8s-app": "kube-dns"},
            "creationTimestamp": "2026-11-01T00:00:00Z"},
        "spec": {"replicas": 1, "template": {"metadata": {"labels": {"k8s-app": "kube-dns"}}}},
        "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1},
    });
    let set = json!({
        "metadata": {"name": "coredns-1", "namespace": "kube-system",
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "coredns", "controller": true}]},
    });
    let pod = json!({
        "metadata": {"name": "coredns-1-a", "namespace": "kube-system", "labels": {"k8s-app": "kube-dns"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "coredns-1", "controller": true}]},
        "spec": {"nodeName": "w1"},
        "status": {"phase": "Running",
            "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": "2026-11-19T10:55:00Z"}],
            "containerStatuses": [{"name": "coredns", "image": "coredns", "ready": false, "restartCount": 9,
                "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                "lastState": {"terminated": {"exitCode": 1, "reason": "Error",
                    "message": "plugin/loop: Loop (127.0.0.1:1 -> :53) detected for zone \".\"\u{1b}[2J"}}}]},
    });
    let service = json!({
        "metadata": {"name": "kube-dns", "namespace": "kube-system", "labels": {"k8s-app": "kube-dns"}},
        "spec": {"clusterIP": "10.96.0.10", "selector": {"k8s-app": "kube-dns"}},
    });
    let source = json!({
        "metadata": {"name": "home\u{1b}[31m|<b>", "namespace": "flux-system", "generation": 1},
        "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "False", "reason": "GitOperationFailed",
            "message": "dial tcp: lookup git.example.org on 10.96.0.10:53: i/o timeout",
            "lastTransitionTime": "2026-11-19T11:00:00Z"}]},
    });
    facts.deployments = Listed::whole(now(), vec![read("apps/v1", "Deployment", &deployment)]);
    facts.replica_sets = Listed::whole(now(), vec![read("apps/v1", "ReplicaSet", &set)]);
    facts.pods = Listed::whole(now(), vec![read("v1", "Pod", &pod)]);
    facts.services = Listed::whole(now(), vec![read("v1", "Service", &service)]);
    facts.endpoints = Listed::whole(now(), Vec::new());
    facts.git_repositories = Listed::whole(now(), vec![read("source.toolkit.fluxcd.io/v1", "GitRepository", &source)]);
    let why = Why::Forbidden { verb: "list".into(), group: "".into(), resource: "nodes".into(), namespace: None };
    facts.nodes = Listed::missing(Some(now()), why);
    for list in [&mut facts.daemon_sets, &mut facts.stateful_sets, &mut facts.jobs] {
        *list = Listed::whole(now(), Vec::new());
    }
    assess(&facts, None, now())
}

#[test]
fn one_screen() {
    insta::assert_snapshot!(draw::status::text(&status(), false, false));
}

#[test]
fn markdown_for_an_issue() {
    insta::assert_snapshot!(draw::status::markdown(&status()));
}

#[test]
fn json_for_programs() {
    insta::assert_snapshot!(draw::status::json(&status()));
}

#[test]
fn from_a_symptom_to_its_root() {
    let object = draw::status::object_of("GitRepository/flux-system/home\u{1b}[31m|<b>", None).expect("an object");
    insta::assert_snapshot!(draw::status::trace(&status(), &object, false).expect("it fails"));
    let fine = draw::status::object_of("Deployment/default/web", None).expect("an object");
    assert_eq!(draw::status::trace(&status(), &fine, false), None);
}

#[test]
fn no_name_moves_the_cursor() {
    let status = status();
    for text in [draw::status::text(&status, true, false), draw::status::markdown(&status), draw::status::json(&status)]
    {
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}
