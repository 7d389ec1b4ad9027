//! Ways to a cluster that lead nowhere, told before anything is asked of the network.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

use std::path::{Path, PathBuf};

use coldstart_observe::{AccessError, Limits, Session, Target};
use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};
use tempfile::TempDir;

fn config() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "home",
        "clusters": [{"name": "home", "cluster": {"server": "https://127.0.0.1:6443"}}],
        "users": [{"name": "me", "user": {"token": "x"}}],
        "contexts": [
            {"name": "home", "context": {"cluster": "home", "user": "me"}},
            {"name": "production", "context": {"cluster": "elsewhere", "user": "me"}},
        ],
    })
}

fn written(config: &Value) -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("config");
    std::fs::write(&path, config.to_string()).unwrap();
    (home, path)
}

fn named(path: &Path, context: Option<&str>) -> Result<Session, AccessError> {
    let target =
        Target { kubeconfigs: vec![path.to_owned()], must_be_there: true, context: context.map(str::to_owned) };
    Session::open(&target, None, Limits::default())
}

#[test]
fn a_context_that_is_not_there_is_named_with_the_one_that_was_meant() {
    let (_home, path) = written(&config());
    let Err(AccessError::UnknownContext { name, nearest, known }) = named(&path, Some("prodution")) else { panic!() };
    assert_eq!((name.as_str(), nearest.as_deref()), ("prodution", Some("production")));
    assert_eq!(known, ["home", "production"]);
    assert_eq!(named(&path, None).unwrap().context.as_deref(), Some("home"));
}

#[test]
fn a_context_may_name_a_cluster_that_is_not_there() {
    let (_home, path) = written(&config());
    let failed = named(&path, Some("production"));
    assert!(matches!(failed, Err(AccessError::NoCluster { context }) if context == "production"));
}

#[test]
fn a_kubeconfig_may_be_absent_unreadable_or_have_no_current_context() {
    let home = tempfile::tempdir().unwrap();
    let absent = home.path().join("absent");
    assert!(matches!(named(&absent, None), Err(AccessError::NotRead { path, .. }) if path == absent));
    let target = Target { kubeconfigs: vec![absent.clone()], ..Target::default() };
    let failed = Session::open(&target, None, Limits::default());
    assert!(matches!(failed, Err(AccessError::NoKubeconfig { looked }) if looked == [absent]));

    let bad = home.path().join("bad");
    std::fs::write(&bad, "contexts: [").unwrap();
    assert!(matches!(named(&bad, None), Err(AccessError::NotUnderstood { .. })));

    let mut without = config();
    without.as_object_mut().unwrap().remove("current-context");
    let (_home, path) = written(&without);
    assert!(matches!(named(&path, None), Err(AccessError::NoContext { known }) if known.len() == 2));
}

#[test]
fn several_files_are_one_kubeconfig_and_absent_ones_are_passed_over() {
    let (home, path) = written(&config());
    let other = home.path().join("other");
    let more = json!({"apiVersion": "v1", "kind": "Config",
        "clusters": [{"name": "lab", "cluster": {"server": "https://127.0.0.1:7443"}}],
        "users": [], "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "me"}}]});
    std::fs::write(&other, more.to_string()).unwrap();
    let kubeconfigs = vec![home.path().join("absent"), path, other];
    let target = Target { kubeconfigs, context: Some("lab".to_owned()), must_be_there: false };
    let session = Session::open(&target, None, Limits::default()).unwrap();
    assert!(session.url.starts_with("https://127.0.0.1:7443"), "{}", session.url);
}

#[test]
fn an_expired_client_certificate_is_told_before_anybody_is_asked() {
    let key = KeyPair::generate().unwrap();
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.not_before = rcgen::date_time_ymd(2020, 1, 1);
    parameters.not_after = rcgen::date_time_ymd(2021, 1, 1);
    let certificate = parameters.self_signed(&key).unwrap();
    let home = tempfile::tempdir().unwrap();
    let (certificate_file, key_file) = (home.path().join("client.pem"), home.path().join("client.key"));
    std::fs::write(&certificate_file, certificate.pem()).unwrap();
    std::fs::write(&key_file, key.serialize_pem()).unwrap();
    let mut config = config();
    config["users"][0]["user"] = json!({"client-certificate": certificate_file, "client-key": key_file});
    let (_home, path) = written(&config);
    let Err(AccessError::Expired { at }) = named(&path, None) else { panic!() };
    assert_eq!(at.unix_milliseconds(), 1_609_459_200_000);
}
