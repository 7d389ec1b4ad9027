//! The story that sealing is about, with real clusters: seal, lose the cluster, start another, and everything opens.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod sealing;
mod story;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lab::{Lab, Object, Options, Process, Until};
use seal::key::{GenerateOptions, KeyPair, generate};
use sealing::Desk;
use story::Ran;
use time::OffsetDateTime;

const SOON: Duration = Duration::from_mins(1);
const SCOPES: [&str; 3] = ["strict", "namespace-wide", "cluster-wide"];

fn forty_days_old() -> KeyPair {
    let now = OffsetDateTime::now_utc() - time::Duration::days(40);
    generate(&GenerateOptions { bits: 2048, days: 3650, now }).unwrap()
}

#[track_caller]
fn at(desk: &Desk, lab: &Lab, words: &[&str]) -> Ran {
    desk.run(desk.command(words).env("KUBECONFIG", lab.kubeconfig()))
}

/// Everything of the repository, as GitOps would, and every Secret of it as it was.
fn apply_all(desk: &Desk, lab: &Lab) {
    lab.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: apps}\n").unwrap();
    for scope in SCOPES {
        lab.apply(&std::fs::read_to_string(desk.path(&format!("{scope}.yaml"))).unwrap()).unwrap();
    }
    for scope in SCOPES {
        let found = lab.wait_for(&Object::secret("apps", scope), &Until::exists(), SOON).unwrap();
        assert_eq!(found["data"]["password"], "aHVudGVyMg==", "{scope}");
    }
}

fn keys_of(lab: &Lab) -> usize {
    let secrets = lab.list("v1", "Secret", Some("kube-system")).unwrap();
    secrets
        .iter()
        .filter(|one| one["metadata"]["labels"]["sealedsecrets.bitnami.com/sealed-secrets-key"] == "active")
        .count()
}

#[test]
fn a_rebuilt_cluster_opens_everything() {
    let Some(first) = lab::or_skip_with(Options::named("seal-first").without_flux()) else { return };
    let desk = Desk::new();
    let old = forty_days_old();
    desk.write("old.pem", &format!("{}{}", old.private_key_pem().expose(), old.certificate().to_pem()));
    desk.seal(&["init", "--adopt", "old.pem", "--yes"]).exits(0);
    for scope in SCOPES {
        let out = format!("{scope}.yaml");
        let words = [
            "secret",
            "--name",
            scope,
            "--namespace",
            "apps",
            "--scope",
            scope,
            "--from-stdin",
            "password",
            "--out",
            &out,
        ];
        desk.seal_with(&words, "hunter2").exits(0);
    }

    // The first cluster: the key before the controller, whose renewal nobody switched off.
    at(&desk, &first, &["deploy"]).exits(2).says("create Secret kube-system/sealed-secrets-key-").says("--yes");
    assert_eq!(keys_of(&first), 0, "a plan does nothing");
    at(&desk, &first, &["deploy", "--yes"]).exits(0).says("there is no controller yet");
    at(&desk, &first, &["verify", "--cluster"]).exits(0);
    first.start_process(Process::SealedSecrets).unwrap();
    apply_all(&desk, &first);
    at(&desk, &first, &["deploy", "--prove", "--yes"])
        .exits(0)
        .says("the key is in kube-system already")
        .says("verified: a canary");
    let left = first.list("v1", "Secret", Some("kube-system")).unwrap();
    assert!(!left.iter().any(|one| one["metadata"]["name"].as_str().unwrap().starts_with("coldstart-canary")));

    // A key of forty days is too old for it: it made one of its own, which the next rebuild would lose.
    assert_eq!(keys_of(&first), 2);
    at(&desk, &first, &["verify", "--cluster"])
        .exits(1)
        .says("is active in the cluster and not in the store")
        .says("coldstart seal init --adopt-cluster");
    at(&desk, &first, &["init", "--adopt-cluster", "--yes"]).exits(0).says("adopt key");
    at(&desk, &first, &["verify", "--cluster"]).exits(0);
    drop(first);

    // Another cluster, with renewal off as `verify --write` sets it.
    let options = Options::named("seal-second").without_flux().flag(Process::SealedSecrets, "--key-renew-period=0");
    let second = lab::or_skip_with(options).unwrap();
    at(&desk, &second, &["deploy", "--yes"]).exits(0);
    second.start_process(Process::SealedSecrets).unwrap();
    apply_all(&desk, &second);
    assert_eq!(keys_of(&second), 2, "no key that nobody knows");
    at(&desk, &second, &["verify", "--cluster"]).exits(0);
    a_rotation_reaches_the_cluster_before_the_files(&desk, &second);
    a_pair_that_is_none_is_told_before_the_controller_meets_it(&desk, &second);
}

/// The controller has to start anew to read a new key. Its Deployment is real, its pod is played: what restarts the
/// pod in a cluster restarts the process here.
fn a_rotation_reaches_the_cluster_before_the_files(desk: &Desk, lab: &Lab) {
    lab.add_node("worker-1", &["worker"], &[], &[]).unwrap();
    lab.apply(DEPLOYMENT).unwrap();
    let deployment = Object::deployment("kube-system", "sealed-secrets-controller");
    lab.wait_for(&deployment, &Until::ready(), SOON).unwrap();
    at(desk, lab, &["verify", "--cluster"]).exits(0);
    let done = AtomicBool::new(false);
    let rotated = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let now = lab.get(&deployment).unwrap().unwrap();
                if now.pointer("/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt").is_some() {
                    return lab.restart(Process::SealedSecrets).unwrap();
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let rotated = at(desk, lab, &["rotate", "--bits", "2048", "--yes"]);
        done.store(true, Ordering::Relaxed);
        rotated
    });
    rotated.exits(0).says("restarted Deployment").says("verified: a canary").says("sealed 3 files again");
    assert_eq!(keys_of(lab), 3);
    // Resealed under new ciphertexts, the same values.
    apply_all(desk, lab);
    at(desk, lab, &["verify", "--cluster"]).exits(0).says("3 items with key");
    // A Deployment that renews is told.
    lab.apply(&DEPLOYMENT.replace("--key-renew-period=0", "--update-status")).unwrap();
    at(desk, lab, &["verify", "--cluster"]).exits(1).says("makes a new key by itself on");
}

fn a_pair_that_is_none_is_told_before_the_controller_meets_it(desk: &Desk, lab: &Lab) {
    lab.apply(BAD_KEY).unwrap();
    at(desk, lab, &["deploy", "--yes"])
        .exits(2)
        .says("is labelled as a sealing key, but is not one")
        .says("delete secret bad");
    at(desk, lab, &["verify", "--cluster"]).exits(1).says("Secret kube-system/bad");
}

const BAD_KEY: &str = "
apiVersion: v1
kind: Secret
type: kubernetes.io/tls
metadata:
  name: bad
  namespace: kube-system
  labels: {sealedsecrets.bitnami.com/sealed-secrets-key: active}
stringData: {tls.crt: 'no', tls.key: 'no'}
";

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: sealed-secrets-controller, namespace: kube-system}
spec:
  selector: {matchLabels: {app: sealed-secrets}}
  template:
    metadata: {labels: {app: sealed-secrets}}
    spec:
      containers:
        - name: controller
          image: example.org/sealed-secrets-controller:1
          args: [--key-renew-period=0]
";
