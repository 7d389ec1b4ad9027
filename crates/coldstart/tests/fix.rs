//! `coldstart fix`.

mod story;

use std::fs;
use std::process::Command;

use story::{SYNC, Tree, command, run};

/// An operator, and an application with an ExternalSecret that does not wait for it.
fn repository() -> Tree {
    Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/operator.yaml", &kustomization("operator", "  wait: true\n")),
        ("clusters/home/app.yaml", &kustomization("app", "")),
        ("operator/crd.yaml", CRD),
        ("app/secret.yaml", SECRET),
    ])
}

fn kustomization(name: &str, more: &str) -> String {
    format!(
        "# {name}\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: flux-system\nspec:\n  interval: 1h\n  path: ./{name}\n  prune: true\n{more}  sourceRef:\n    kind: GitRepository\n    name: flux-system\n"
    )
}

const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Cluster
  versions: []
";

const SECRET: &str = "\
apiVersion: example.com/v1
kind: Widget
metadata:
  name: one
";

fn git(tree: &Tree, words: &[&str]) -> String {
    let settings = ["-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").arg("-C").arg(tree.path()).args(settings).args(words).output();
    let output = output.expect("git");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn committed(tree: Tree) -> Tree {
    git(&tree, &["init", "--quiet"]);
    git(&tree, &["config", "user.name", "a"]);
    git(&tree, &["config", "user.email", "a@example.invalid"]);
    git(&tree, &["config", "commit.gpgsign", "false"]);
    git(&tree, &["add", "."]);
    git(&tree, &["commit", "--quiet", "--message", "all"]);
    tree
}

fn read(tree: &Tree, path: &str) -> String {
    fs::read_to_string(tree.path().join(path)).unwrap_or_default()
}

const DIFF: &str = "\
--- a/clusters/home/app.yaml
+++ b/clusters/home/app.yaml
@@ -5,6 +5,8 @@
   name: app
   namespace: flux-system
 spec:
+  dependsOn:
+    - name: operator
   interval: 1h
   path: ./app
   prune: true
";

#[test]
fn a_diff_is_shown_with_its_reason_and_nothing_is_written() {
    let tree = repository();
    let before = read(&tree, "clusters/home/app.yaml");
    let ran = run(command(&["fix"]).arg(tree.path())).exits(0);
    for said in [
        "fix 1 of 1: Make Kustomization flux-system/app wait for Kustomization flux-system/operator\n",
        "  reason:   warning missing-dependency: ",
        "  effect:   nothing restarts",
        "  rollback: git restore clusters/home/app.yaml\n",
        DIFF,
        "1 finding would be fixed by 1 fix\nnothing was written: --write makes these edits\n",
    ] {
        assert!(ran.stdout.contains(said), "{said}\n{}", ran.stdout);
    }
    assert_eq!(read(&tree, "clusters/home/app.yaml"), before);
}

#[test]
fn what_is_written_is_not_found_any_more_and_not_fixed_twice() {
    let tree = repository();
    run(command(&["fix", "--write"]).arg(tree.path())).exits(0).says("1 finding fixed by 1 fix");
    assert!(read(&tree, "clusters/home/app.yaml").starts_with("# app\n"));
    let check = run(command(&["check", "--format", "json"]).arg(tree.path())).exits(0);
    assert!(check.stdout.contains("\"findings\": []"), "{}", check.stdout);
    run(command(&["fix", "--write"]).arg(tree.path())).exits(0).says("nothing to fix");
}

#[test]
fn each_cause_is_a_commit_and_what_else_is_staged_stays() {
    let tree = committed(repository());
    tree.write("notes.md", b"mine\n");
    git(&tree, &["add", "notes.md"]);
    run(command(&["fix", "--commit"]).arg(tree.path()))
        .exits(0)
        .says("committed: Make Kustomization flux-system/app wait");
    let message = git(&tree, &["log", "-1", "--format=%B"]);
    assert!(
        message.starts_with("Make Kustomization flux-system/app wait for Kustomization flux-system/operator\n\n- ")
    );
    assert_eq!(git(&tree, &["show", "--stat=200", "--format=", "HEAD"]).lines().count(), 2);
    assert_eq!(git(&tree, &["status", "--porcelain"]), "A  notes.md\n");
}

#[test]
fn only_a_file_to_edit_that_is_not_committed_is_in_the_way() {
    let tree = committed(repository());
    tree.write(
        "clusters/home/operator.yaml",
        kustomization("operator", "  wait: true\n").replace("1h", "2h").as_bytes(),
    );
    run(command(&["fix", "--write"]).arg(tree.path())).exits(0);
    git(&tree, &["checkout", "--", "."]);
    tree.write("clusters/home/app.yaml", format!("{}# mine\n", kustomization("app", "")).as_bytes());
    let ran = run(command(&["fix", "--write"]).arg(tree.path())).exits(2);
    assert!(ran.stderr.contains("differ from the last commit: clusters/home/app.yaml"), "{}", ran.stderr);
    assert!(read(&tree, "clusters/home/app.yaml").ends_with("# mine\n"));
}

#[test]
fn what_changes_a_running_cluster_is_asked_for() {
    let tree = repository().with(&[("clusters/home/operator.yaml", &kustomization("operator", ""))]);
    let release = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: external-secrets
  namespace: flux-system
spec:
  interval: 1h
  chart:
    spec:
      chart: external-secrets
      sourceRef: {kind: HelmRepository, name: external-secrets}
";
    let secret = "\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: one
  namespace: default
spec: {}
";
    let tree = tree.with(&[("operator/crd.yaml", release), ("app/secret.yaml", secret)]);
    let held = run(command(&["fix"]).arg(tree.path())).exits(0);
    assert!(held.stdout.contains("only with --unsafe"), "{}", held.stdout);
    let ran = run(command(&["fix", "--unsafe"]).arg(tree.path())).exits(0);
    assert!(ran.stdout.contains("+  wait: true\n") && ran.stdout.contains("  risk:     "), "{}", ran.stdout);
}

#[test]
fn programs_get_the_lines_to_replace() {
    let tree = repository();
    let ran = run(command(&["fix", "--format", "json"]).arg(tree.path())).exits(0);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let file = &json["repairs"][0]["files"][0];
    assert_eq!(file["path"], "clusters/home/app.yaml");
    assert_eq!(file["edits"][0]["line"], 8);
    assert_eq!(file["edits"][0]["lines"], 0);
    assert_eq!(file["edits"][0]["replacement"], "  dependsOn:\n    - name: operator\n");
}

#[test]
fn findings_are_chosen_by_rule_and_by_path() {
    let tree = repository();
    run(command(&["fix", "--rule", "late-store"]).arg(tree.path())).exits(0).says("nothing to fix");
    run(command(&["fix", "--path", "clusters/home/app.yaml"]).arg(tree.path()))
        .exits(0)
        .says("1 finding would be fixed");
    run(command(&["fix", "--path", "clusters/other"]).arg(tree.path())).exits(0).says("nothing to fix");
    let ran = run(command(&["fix", "--rule", "missing-dependenci"]).arg(tree.path())).exits(2);
    assert!(ran.stderr.contains("did you mean `missing-dependency`?"), "{}", ran.stderr);
}

#[test]
fn without_a_terminal_nothing_is_asked() {
    let tree = repository();
    run(command(&["fix", "--interactive"]).arg(tree.path())).exits(2);
    assert!(!read(&tree, "clusters/home/app.yaml").contains("dependsOn"));
}

#[test]
fn a_file_that_another_program_made_a_link_is_not_followed_out_of_the_repository() {
    let tree = repository();
    let other = Tree::new(&[("app.yaml", &kustomization("app", ""))]);
    let inside = tree.path().join("clusters/home/app.yaml");
    fs::remove_file(&inside).expect("a file");
    #[cfg(unix)]
    std::os::unix::fs::symlink(other.path().join("app.yaml"), &inside).expect("a link");
    run(command(&["fix", "--write"]).arg(tree.path()));
    assert!(!read(&other, "app.yaml").contains("dependsOn"));
}

#[test]
fn a_patch_that_replaces_what_its_objects_say_leaves_them_alone() {
    let meta = kustomization("meta", "  wait: true\n");
    let patch = "  dependsOn:
    - name: meta
  patches:
    - target: {kind: Kustomization}
      patch: |-
        apiVersion: kustomize.toolkit.fluxcd.io/v1
        kind: Kustomization
        metadata:
          name: all
        spec:
          dependsOn:
            - name: meta
          timeout: 3m
";
    let own = "  dependsOn:\n    - name: operator\n";
    let tree = Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/meta.yaml", &meta),
        ("clusters/home/all.yaml", &kustomization("all", patch)),
        ("meta/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\n  namespace: default\n"),
        ("all/operator.yaml", &kustomization("operator", "  wait: true\n")),
        ("all/app.yaml", &kustomization("app", own)),
        ("operator/crd.yaml", CRD),
        ("app/secret.yaml", SECRET),
    ]);
    let ran = run(command(&["fix", "--unsafe"]).arg(tree.path())).exits(0);
    for said in ["-          dependsOn:\n-            - name: meta\n", "1 finding would be fixed by 1 fix\n"] {
        assert!(ran.stdout.contains(said), "{said}\n{}", ran.stdout);
    }
}

#[test]
fn a_shared_directory_gets_its_namespace_once() {
    let release = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: app
  namespace: shop
spec:
  interval: 1h
  install:
    createNamespace: true
  chart:
    spec:
      chart: app
      sourceRef: {kind: HelmRepository, name: app, namespace: flux-system}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: later
  namespace: flux-system
spec:
  dependsOn: [{name: app}]
  interval: 1h
  path: ./later
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
";
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n";
    let tree = repository().with(&[("app/secret.yaml", release), ("later/namespace.yaml", namespace)]);
    let ran = run(command(&["fix", "--unsafe"]).arg(tree.path())).exits(0);
    assert!(ran.stdout.contains("+++ b/app/namespace.yaml\n@@ -0,0 +1,6 @@\n+apiVersion: v1\n"), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("+kind: Namespace").count(), 1);
}

/// All files but Git's own.
fn files(root: &std::path::Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).expect("a directory").flatten() {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != ".git" {
                open.push(path);
            } else if path.is_file() {
                let name = path.strip_prefix(root).expect("below").to_string_lossy().into_owned();
                found.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

#[test]
fn what_is_printed_is_a_patch_that_does_the_same_with_files_that_move() {
    let release = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: cloudnative-pg
  namespace: flux-system
spec:
  interval: 1h
  chart:
    spec:
      chart: cloudnative-pg
      sourceRef: {kind: HelmRepository, name: cnpg}
";
    let cluster = "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata:\n  name: pg\n  namespace: flux-system\n";
    let moving = || {
        repository().with(&[
            ("clusters/home/database.yaml", &kustomization("database", "")),
            ("database/kustomization.yaml", "resources:\n  - release.yaml\n  - cluster.yaml\n"),
            ("database/release.yaml", release),
            ("database/cluster.yaml", cluster),
        ])
    };
    let (written, patched) = (committed(moving()), committed(moving()));
    let patch = run(command(&["fix", "--unsafe"]).arg(patched.path())).exits(0).says("rename to database-config/");
    fs::write(patched.path().join(".git/patch"), &patch.stdout).expect("a file");
    git(&patched, &["apply", ".git/patch"]);
    run(command(&["fix", "--unsafe", "--write"]).arg(written.path())).exits(0);
    assert_eq!(files(patched.path()), files(written.path()));
    assert_eq!(read(&written, "database-config/cluster.yaml"), cluster);
    let left = committed(moving());
    run(command(&["fix", "--unsafe", "--commit"]).arg(left.path())).exits(0).says("committed: Move Cluster of");
    assert_eq!(files(left.path()), files(written.path()));
    assert_eq!(git(&left, &["status", "--porcelain"]), "");
}
