//! `coldstart fix`.

mod story;

use std::fs;

use fixtures::{Fixture, Shelf};
use story::repair::{
    CRD, DATABASE, OPERATOR, RELEASE_BEFORE_ITS_NAMESPACE, WIDGET, committed, database_beside_its_operator, git,
    kustomization,
};
use story::{SYNC, Tree, command, run};

/// An operator, and an application with an ExternalSecret that does not wait for it.
fn repository() -> Tree {
    Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/operator.yaml", &kustomization("operator", "  wait: true\n")),
        ("clusters/home/app.yaml", &kustomization("app", "")),
        ("operator/crd.yaml", CRD),
        ("app/secret.yaml", WIDGET),
    ])
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
        ("app/secret.yaml", WIDGET),
    ]);
    let ran = run(command(&["fix", "--unsafe"]).arg(tree.path())).exits(0);
    for said in ["-          dependsOn:\n-            - name: meta\n", "1 finding would be fixed by 1 fix\n"] {
        assert!(ran.stdout.contains(said), "{said}\n{}", ran.stdout);
    }
}

#[test]
fn a_shared_directory_gets_its_namespace_once() {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n";
    let tree =
        repository().with(&[("app/secret.yaml", RELEASE_BEFORE_ITS_NAMESPACE), ("later/namespace.yaml", namespace)]);
    let ran = run(command(&["fix", "--unsafe"]).arg(tree.path())).exits(0);
    assert!(ran.stdout.contains("+++ b/app/namespace.yaml\n@@ -0,0 +1,6 @@\n+apiVersion: v1\n"), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("+kind: Namespace").count(), 1);
}

/// The lines of a text with edits of them made, as programs are told to.
fn edited(text: &str, edits: &serde_json::Value) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    for edit in edits.as_array().expect("edits").iter().rev() {
        let number = |key: &str| usize::try_from(edit[key].as_u64().expect("a number")).expect("a size");
        let (line, lines_out) = (number("line") - 1, number("lines"));
        lines.splice(line..line + lines_out, [edit["replacement"].as_str().expect("a text")]);
    }
    lines.concat()
}

#[test]
fn a_finding_carries_its_edits_in_json_and_in_sarif() {
    let tree = repository();
    let before = read(&tree, "clusters/home/app.yaml");
    let check = run(command(&["check", "--format", "json"]).arg(tree.path())).exits(0).json();
    let file = &check["findings"][0]["edits"][0];
    assert_eq!((&file["path"], &file["is_new"]), (&"clusters/home/app.yaml".into(), &false.into()));
    let after = edited(&before, &file["edits"]);
    let sarif = run(command(&["check", "--format", "sarif", "."]).current_dir(tree.path())).exits(0).json();
    let fix = &sarif["runs"][0]["results"][0]["fixes"][0];
    let said = fix["description"]["text"].as_str().unwrap_or_default();
    assert_eq!(said, "Make Kustomization flux-system/app wait for Kustomization flux-system/operator");
    let change = &fix["artifactChanges"][0];
    assert_eq!(change["artifactLocation"]["uri"], "clusters/home/app.yaml");
    let replacement = &change["replacements"][0];
    let region = serde_json::json!({"startLine": 8, "startColumn": 1, "endLine": 8, "endColumn": 1});
    assert_eq!(replacement["deletedRegion"], region);
    assert_eq!(replacement["insertedContent"]["text"], "  dependsOn:\n    - name: operator\n");
    run(command(&["fix", "--write"]).arg(tree.path())).exits(0);
    assert_eq!(read(&tree, "clusters/home/app.yaml"), after);
}

#[test]
fn edits_that_change_a_running_cluster_are_asked_for_in_check_too() {
    let expected = [(vec!["check", "--format", "json"], 0), (vec!["check", "--format", "json", "--unsafe"], 2)];
    for (words, number) in expected {
        let tree = ungated();
        let check = run(command(&words).arg(tree.path())).json();
        let edits = check["findings"][0]["edits"].as_array().map(Vec::len);
        assert_eq!(edits, Some(number), "{check:#}");
    }
}

/// As [`repository`], with an operator that does not wait for its release.
fn ungated() -> Tree {
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
      sourceRef: {kind: HelmRepository, name: external-secrets, namespace: flux-system}
";
    let secret =
        "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata:\n  name: one\n  namespace: default\n";
    repository().with(&[
        ("clusters/home/operator.yaml", &kustomization("operator", "")),
        ("operator/crd.yaml", release),
        ("app/secret.yaml", secret),
    ])
}

/// As [`repository`], with a second application, so that there are two causes.
fn two_causes() -> Tree {
    let typo = "  dependsOn:\n    - name: operatr\n";
    committed(repository().with(&[
        ("clusters/home/late.yaml", &kustomization("late", typo)),
        ("late/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\n  namespace: default\n"),
    ]))
}

#[cfg(unix)]
fn hook(tree: &Tree, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    tree.write(".git/hooks/pre-commit", format!("#!/bin/sh\n{script}\n").as_bytes());
    let hook = tree.path().join(".git/hooks/pre-commit");
    fs::set_permissions(hook, fs::Permissions::from_mode(0o755)).expect("a hook");
}

#[test]
#[cfg(unix)]
fn where_one_commit_fails_there_is_none() {
    let tree = two_causes();
    let (head, notes) = (git(&tree, &["rev-parse", "HEAD"]), "mine\n");
    tree.write("notes.md", notes.as_bytes());
    git(&tree, &["add", "notes.md"]);
    // A formatter that edits files and rejects the second commit.
    let script = "\
test -e .git/second || { touch .git/second; exit 0; }
echo '# formatted' >>clusters/home/app.yaml
git add clusters/home/app.yaml
echo no more >&2
exit 1";
    hook(&tree, script);
    let ran = run(command(&["fix", "--commit"]).arg(tree.path())).exits(2);
    assert!(ran.stderr.contains("cannot commit") && !ran.stdout.contains("committed:"), "{ran:?}");
    assert!(tree.path().join(".git/second").exists(), "the first commit was made");
    assert_eq!(git(&tree, &["rev-parse", "HEAD"]), head);
    assert_eq!(git(&tree, &["status", "--porcelain"]), "A  notes.md\n");
    fs::remove_file(tree.path().join(".git/hooks/pre-commit")).expect("a hook");
    run(command(&["fix", "--commit"]).arg(tree.path())).exits(0).says("committed: ");
    assert_eq!(git(&tree, &["rev-list", "--count", "HEAD"]), "3\n");
}

#[test]
#[cfg(unix)]
fn a_new_file_goes_again_where_its_commit_fails() {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n";
    let tree = committed(
        repository().with(&[("app/secret.yaml", RELEASE_BEFORE_ITS_NAMESPACE), ("later/namespace.yaml", namespace)]),
    );
    hook(&tree, "exit 1");
    run(command(&["fix", "--unsafe", "--commit"]).arg(tree.path())).exits(2);
    assert_eq!(git(&tree, &["status", "--porcelain"]), "");
    assert!(!tree.path().join("app/namespace.yaml").exists());
    // A file of the user's own, which Git does not know, is not ours to remove.
    tree.write(".git/info/exclude", b"namespace.yaml\n");
    tree.write("app/namespace.yaml", b"mine\n");
    run(command(&["fix", "--unsafe", "--commit"]).arg(tree.path())).exits(2);
    assert_eq!(read(&tree, "app/namespace.yaml"), "mine\n");
}

#[test]
fn a_review_has_suggestions_on_lines_of_the_change_alone() {
    let tree = two_causes();
    let late = read(&tree, "clusters/home/late.yaml").replace("prune: true", "prune: false");
    tree.write("clusters/home/late.yaml", late.as_bytes());
    git(&tree, &["commit", "--quiet", "--all", "--message=change"]);
    let words = ["fix", "--format", "github-review", "--since", "HEAD~1"];
    let ran = run(command(&words).arg(tree.path())).exits(0);
    let review = ran.json();
    let comments = review["comments"].as_array().expect("comments");
    assert_eq!((comments.len(), &comments[0]["path"]), (1, &"clusters/home/late.yaml".into()), "{review:#}");
    let body = comments[0]["body"].as_str().unwrap_or_default();
    assert!(body.contains("```suggestion\n    - name: operator\n```\n"), "{body}");
    assert!(ran.stderr.contains("1 on lines that this change does not have"), "{}", ran.stderr);
    let nothing = run(command(&["fix", "--format", "github-review", "--since", "HEAD"]).arg(tree.path())).exits(0);
    assert_eq!(nothing.stdout, "");
    run(command(&["fix", "--format", "github-review"]).arg(tree.path())).exits(2);
    run(command(&["fix", "--since", "HEAD"]).arg(tree.path())).exits(2);
    tree.write("clusters/home/late.yaml", b"# mine\n");
    run(command(&words).arg(tree.path())).exits(0);
}

#[test]
fn what_is_suspended_is_resumed_only_when_asked() {
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\n  namespace: default\n";
    let tree = Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/database.yaml", &kustomization("database", "  suspend: true # for a while\n")),
        ("clusters/home/app.yaml", &kustomization("app", "  dependsOn:\n    - name: database\n")),
        ("database/config.yaml", config),
        ("app/config.yaml", &config.replace("config", "app")),
    ]);
    run(command(&["fix"]).arg(tree.path())).exits(0).says("only with --unsafe");
    run(command(&["fix", "--unsafe"]).arg(tree.path()))
        .exits(0)
        .says("Resume Kustomization flux-system/database")
        .says("-  suspend: true # for a while\n+  suspend: false # for a while\n");
}

#[test]
fn a_release_that_does_not_wait_is_made_to() {
    let tree = ungated();
    let release =
        read(&tree, "operator/crd.yaml").replace("  chart:\n", "  install:\n    disableWait: true\n  chart:\n");
    tree.write("operator/crd.yaml", release.as_bytes());
    run(command(&["fix", "--unsafe", "--write", "--min-severity", "info"]).arg(tree.path())).exits(0);
    assert!(
        read(&tree, "operator/crd.yaml").contains("    disableWait: false\n"),
        "{}",
        read(&tree, "operator/crd.yaml")
    );
    assert!(read(&tree, "clusters/home/operator.yaml").contains("  wait: true\n"));
    run(command(&["check", "--verbose", "--min-severity", "info"]).arg(tree.path()))
        .exits(0)
        .never_says("missing-dependency")
        .never_says("ungated-dependency");
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
    let moving = || database_beside_its_operator(repository());
    let (written, patched) = (committed(moving()), committed(moving()));
    let patch = run(command(&["fix", "--unsafe"]).arg(patched.path())).exits(0).says("rename to database-config/");
    fs::write(patched.path().join(".git/patch"), &patch.stdout).expect("a file");
    git(&patched, &["apply", ".git/patch"]);
    run(command(&["fix", "--unsafe", "--write"]).arg(written.path())).exits(0);
    assert_eq!(files(patched.path()), files(written.path()));
    assert_eq!(read(&written, "database-config/cluster.yaml"), DATABASE);
    let left = committed(moving());
    run(command(&["fix", "--unsafe", "--commit"]).arg(left.path())).exits(0).says("committed: Move Cluster of");
    assert_eq!(files(left.path()), files(written.path()));
    assert_eq!(git(&left, &["status", "--porcelain"]), "");
}

#[test]
fn a_file_that_was_never_committed_is_not_edited() {
    let tree = repository();
    git(&tree, &["init", "--quiet"]);
    run(command(&["fix", "--write"]).arg(tree.path())).exits(2).says("clusters/home/app.yaml");
    assert!(!read(&tree, "clusters/home/app.yaml").contains("dependsOn"));
}

#[test]
fn a_new_file_that_git_ignores_is_not_made() {
    for how in ["--write", "--commit"] {
        let tree = committed(database_beside_its_operator(repository()).with(&[(".gitignore", "*-config/\n")]));
        let before = files(tree.path());
        let ran = run(command(&["fix", "--unsafe", how]).arg(tree.path())).exits(2);
        let said = "Git ignores these new files, so a commit would not have them: database-config/cluster.yaml";
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert_eq!(files(tree.path()), before);
    }
}

#[test]
#[cfg(unix)]
fn commits_of_a_run_that_was_killed_are_told_of_and_the_rest_is_made() {
    let tree = two_causes();
    let fix = |words: &[&str]| run(command(words).arg(tree.path()).env("XDG_STATE_HOME", tree.path().join(".git/s")));
    let head = git(&tree, &["rev-parse", "HEAD"]);
    // The second commit ends the program that makes it, which can put nothing in order.
    hook(&tree, "test -e .git/second || { touch .git/second; exit 0; }\nkill -9 $(ps -o ppid= -p $PPID)\nexit 1");
    fix(&["fix", "--commit"]);
    assert_eq!(git(&tree, &["rev-list", "--count", "HEAD"]), "2\n", "the first commit stays");
    fs::remove_file(tree.path().join(".git/hooks/pre-commit")).expect("a hook");
    git(&tree, &["reset", "--quiet", "--hard"]);
    let said = format!("was stopped after 1 commit: `git reset --keep {}` goes back", &head[..12]);
    for words in [&["fix"][..], &["fix", "--commit"]] {
        let ran = fix(words).exits(0);
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
    }
    assert_eq!(git(&tree, &["rev-list", "--count", "HEAD"]), "3\n");
    assert_eq!(fix(&["fix"]).exits(0).stderr, "");
}

/// The resource moves away from the Kustomization that applies it, which is not the one that applies its operator.
#[test]
fn what_moves_away_waits_for_what_it_waited_for_before() {
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\n  namespace: default\n";
    let waits = "  wait: true\n  dependsOn:\n    - name: network\n    - name: storage\n";
    let tree = Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/network.yaml", &kustomization("network", "  wait: true\n")),
        ("clusters/home/storage.yaml", &kustomization("storage", "  wait: true\n")),
        ("clusters/home/apps.yaml", &kustomization("apps", waits)),
        ("network/config.yaml", config),
        ("storage/config.yaml", &config.replace("config", "storage")),
        ("apps/kustomization.yaml", "resources:\n  - operator.yaml\n  - cluster.yaml\n"),
        ("apps/operator.yaml", &kustomization("operator", "  wait: true\n  dependsOn:\n    - name: network\n")),
        ("apps/cluster.yaml", DATABASE),
        ("operator/release.yaml", OPERATOR),
    ]);
    run(command(&["fix", "--unsafe", "--write", "--rule", "single-stage-deadlock"]).arg(tree.path())).exits(0);
    let apps = read(&tree, "clusters/home/apps.yaml");
    let (old, new) = apps.split_once("---\n").unwrap_or_else(|| panic!("{apps}"));
    assert!(old.contains("  dependsOn:\n    - name: network\n    - name: storage\n"), "{old}");
    // The operator comes after the network.
    assert!(new.contains("  dependsOn:\n    - name: storage\n    - name: operator\n"), "{new}");
}

/// One Kustomization applies the operator and the Kustomization that needs it, and `dependsOn` of that one names no release.
#[test]
fn where_no_order_is_possible_flux_tries_again_sooner() {
    let tree = Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/layer.yaml", &kustomization("layer", "  retryInterval: 2m\n")),
        ("layer/operator.yaml", OPERATOR),
        ("layer/database.yaml", &kustomization("database", "")),
        ("database/cluster.yaml", DATABASE),
    ]);
    let title = "fix 1 of 1: Retry a failed Kustomization flux-system/database after two minutes";
    let by_rule = ["--rule", "missing-dependency"];
    run(command(&["fix", "--write"]).args(by_rule).arg(tree.path())).exits(0).says(title);
    assert!(read(&tree, "layer/database.yaml").contains("  retryInterval: 2m\n"));
    run(command(&["fix"]).args(by_rule).arg(tree.path())).exits(0).says("nothing to fix");
}

/// A fixture, whole.
fn fixture(directory: &std::path::Path) -> tempfile::TempDir {
    Fixture::open(directory).expect("a fixture").repository().expect("a repository")
}

/// Until now the app was tried again long after its volume could be made, and is installed only once.
#[test]
fn an_install_that_starts_sooner_gets_the_order_that_it_lacks() {
    let tree = fixture(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sooner"));
    let fix = || run(command(&["fix", "--unsafe"]).arg(tree.path())).exits(0).stdout;
    let text = fix();
    for said in [
        "fix 1 of 2: Set `wait: true` on Kustomization flux-system/backups\n",
        "fix 2 of 2: List CephCluster rook-ceph/rook-ceph in the `healthChecks` of Kustomization flux-system/ceph",
        "  reason:   info ungated-dependency: ",
        "+      current: status.ceph.health in ['HEALTH_OK', 'HEALTH_WARN']\n",
        "2 findings would be fixed by 2 fixes\n",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }

    // Where that can't be edited, neither is what brings the install forward.
    let path = tree.path().join("clusters/test/ceph.yaml");
    let utf_16 = format!("\u{feff}{}", fs::read_to_string(&path).expect("a file"));
    let bytes: Vec<u8> = utf_16.encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(&path, bytes).expect("a file");
    assert_eq!(fix(), "no edit closes 1 finding\n");
    let verbose = run(command(&["fix", "--unsafe", "--verbose"]).arg(tree.path())).exits(0).stdout;
    assert!(
        verbose.contains("because:  with the edit, installs start sooner and need StorageClass ceph-block"),
        "{verbose}"
    );
}

#[test]
fn a_release_of_a_helmfile_waits_as_one_of_flux_does() {
    let tree = fixture(&Shelf::Cases.directory().join("38-helmfile-without-wait"));
    let path = tree.path().join("bootstrap/helmfile.yaml");
    let before = fs::read_to_string(&path).expect("a file");
    run(command(&["fix", "--unsafe", "--write"]).arg(tree.path())).exits(0);
    let after = fs::read_to_string(&path).expect("a file");
    assert_eq!(after, before.replace("wait: false", "wait: true"));
    run(command(&["fix", "--unsafe"]).arg(tree.path())).exits(0).says("nothing to fix");
}

#[test]
fn a_storage_driver_that_nothing_looks_at_is_waited_for() {
    let tree = fixture(&Shelf::Shapes.directory().join("boot-on-what-was-created"));
    let by_rule = ["fix", "--unsafe", "--min-severity", "info", "--rule", "csi-not-verified"];
    run(command(&by_rule).arg(tree.path())).exits(0).says("Set `wait: true` on Kustomization flux-system/storage");
}
