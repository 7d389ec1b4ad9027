//! A cluster as facts: what each kind is read as, and why one was not seen.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

use coldstart_observe as observe;
use fixtures::api_server::{ApiServer, Kind, Reply, World};
use health::facts::{Answer, Why};
use observe::{Cluster, Limits, Target, wanted};
use serde_json::json;

/// Everything that is looked at, but cert-manager.
fn kinds() -> Vec<Kind> {
    let all = wanted();
    let all = all.iter().filter(|one| one.group != "cert-manager.io");
    let kind = |plural: &str| match plural {
        "pods" => "Pod".to_owned(),
        "nodes" => "Node".to_owned(),
        "secrets" => "Secret".to_owned(),
        other => other.to_owned(),
    };
    all.map(|one| {
        let version = one.versions.first().copied().unwrap_or("v1");
        Kind::new(one.group, version, one.plural, &kind(one.plural), one.plural != "nodes")
    })
    .collect()
}

fn look(server: &ApiServer, namespace: Option<&str>) -> Cluster {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("config");
    std::fs::write(&path, server.kubeconfig()).unwrap();
    let target = Target { kubeconfigs: vec![path], must_be_there: true, context: None };
    let mut cluster = Cluster::open(&target, namespace.map(str::to_owned), Limits::default()).unwrap();
    cluster.look();
    cluster
}

fn world() -> World {
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1"}, "status": {
        "conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"bootID": "one"}}});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "apps", "name": "web"},
        "spec": {"nodeName": "worker-1"}, "status": {"phase": "Running"}});
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "apps", "name": "token"},
        "data": {"password": "aHVudGVyMg=="}});
    World::new(kinds()).with([node, pod, secret])
}

#[test]
fn every_kind_is_seen_or_says_why_not() {
    let server = ApiServer::scripted(world(), |request| {
        (request.path == "/api/v1/events").then(|| Reply::status(403, "Forbidden", "no"))
    });
    let cluster = look(&server, None);
    let facts = cluster.facts();
    assert_eq!(facts.api.answer, Answer::Version("v1.35.0".into()));
    assert_eq!((facts.nodes.len(), facts.pods.len(), facts.secrets.len()), (1, 1, 1));
    assert_eq!(facts.nodes.gap, None);
    assert_eq!(facts.secrets.objects[0].keys, None, "only metadata was asked for");
    assert_eq!(facts.certificates.gap, Some(Why::NotServed));
    let why = Why::Forbidden { verb: "list".into(), group: "".into(), resource: "events".into(), namespace: None };
    assert_eq!(facts.events.gap, Some(why));
    assert!(facts.nodes.seen.is_some_and(|seen| seen <= cluster.now()));
    assert!(!serde_json::to_string(&facts).unwrap().contains("aHVudGVyMg"));
}

#[test]
fn of_one_namespace_nothing_is_told_of_the_others() {
    let server = ApiServer::start(world());
    let facts = look(&server, Some("other")).facts();
    assert_eq!((facts.pods.len(), &facts.pods.gap), (0, &Some(Why::NotAsked)));
    assert_eq!((facts.nodes.len(), &facts.nodes.gap), (1, &None));
}

#[test]
fn where_nobody_answers_everything_is_unseen_for_that_reason() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = ApiServer::scripted(world(), |_| None);
    let config = server.kubeconfig().replace(&server.url(), &format!("http://{address}"));
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("config");
    std::fs::write(&path, config).unwrap();
    let target = Target { kubeconfigs: vec![path], must_be_there: true, context: None };
    let mut cluster = Cluster::open(&target, None, Limits::default()).unwrap();
    cluster.look();
    let facts = cluster.facts();
    assert_eq!(facts.api.answer, Answer::No(Why::Refused));
    assert_eq!(facts.pods.gap, Some(Why::Refused));
    assert_eq!(facts.kustomizations.gap, Some(Why::Refused), "not absent: nobody said what is served");
}

#[test]
fn a_dead_api_is_no_absence() {
    let server = ApiServer::start(world());
    server.world().stale.push(("cert-manager.io".to_owned(), "v1".to_owned()));
    let facts = look(&server, None).facts();
    assert_eq!(facts.certificates.gap, Some(Why::Stale { api_service: "v1.cert-manager.io".into() }));
}
