//! Stories of `coldstart impact`.

#![expect(clippy::unwrap_used, reason = "a story that can not be told fails")]

mod story;

use std::path::{Path, PathBuf};
use std::process::Command;

use story::{Tree, command, run, sound};

fn homelab() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/homelab")
}

fn git(directory: &Path, words: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false"];
    assert!(Command::new("git").arg("-C").arg(directory).args(identity).args(words).output().unwrap().status.success());
}

#[test]
fn the_critical_services_of_the_example_are_those_of_the_document() {
    let ran = run(command(&["impact", "--critical", "--format", "json"]).arg(homelab())).exits(0).json();
    let services = ran["critical"][0]["services"].as_array().unwrap();
    let names: Vec<&str> = services.iter().map(|it| it["component"]["name"].as_str().unwrap()).collect();
    for critical in ["cilium", "coredns", "proxmox-csi-plugin", "sealed-secrets"] {
        assert!(names.contains(&critical), "{names:?}");
    }
    assert_eq!(names[0], "cilium");
    assert!(services[0]["at_once"].as_u64().unwrap() > 20 && services[0]["cold_start"].as_u64().unwrap() > 50);
}

#[test]
fn everything_that_has_a_name_can_be_asked_about() {
    let ask = |of: &str| run(command(&["impact", of]).arg(homelab()));
    ask("kube-system/cilium").exits(0).says("has no pod network").says("to bring all of it back");
    ask("Kustomization/cilium").exits(0).says("Kustomization kube-system/cilium");
    ask("kustomization/kube-system/cilium").exits(0).says("Kustomization kube-system/cilium");
    ask("cilium@1.19.0").exits(0).says("from 1.18.4 to 1.19.0").says("if it is upgraded");
    ask("ClusterSecretStore/vault-backend").exits(0).says("if it is deleted").says("secret store vault-backend");
    ask("kubernetes/apps/vault/vault/ks.yaml").exits(0).says("changes Kustomization vault/vault");
    ask("w1").exits(0).says("1 worker left to run them");
    ask("volt").exits(2).says("did you mean `vault`?");
}

#[test]
fn a_change_is_asked_about_by_what_it_makes_and_by_what_it_removes() {
    let tree = sound();
    git(tree.path(), &["init", "--quiet", "--initial-branch", "main"]);
    git(tree.path(), &["add", "."]);
    git(tree.path(), &["commit", "--quiet", "--message", "first"]);
    let more = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\n  namespace: default\ndata:\n  a: b\n";
    tree.write("apps/config.yaml", more.as_bytes());
    git(tree.path(), &["commit", "--quiet", "--all", "--message", "second"]);
    let ask = |range: &str| run(command(&["impact", "--from-git", range]).arg(tree.path()));
    ask("HEAD~1..HEAD").exits(0).says("apps/config.yaml changes Kustomization flux-system/apps");
    std::fs::remove_file(tree.path().join("clusters/home/apps.yaml")).unwrap();
    git(tree.path(), &["commit", "--quiet", "--all", "--message", "third"]);
    ask("HEAD~1..HEAD").exits(0).says("no longer has Kustomization flux-system/apps").says("Flux deletes it");
    // What is not checked out is read as well.
    ask("HEAD~2..HEAD~1").exits(0).says("apps/config.yaml changes Kustomization flux-system/apps");
    run(command(&["impact", "--format", "markdown", "--from-git", "HEAD~1..HEAD"]).arg(tree.path()))
        .exits(0)
        .says("### coldstart: impact");
    ask("nothing..HEAD").exits(2).says("cannot compare with `nothing`");
}

#[test]
fn what_is_not_there_is_no_answer() {
    run(command(&["impact", "x"]).arg(Tree::empty().path())).exits(3).says("no Flux objects found");
    run(command(&["impact"]).current_dir(homelab())).exits(2).says("next: coldstart impact --critical");
    run(command(&["impact", "--from-git", "main"]).arg(homelab())).exits(2).says("BASE..HEAD");
}
