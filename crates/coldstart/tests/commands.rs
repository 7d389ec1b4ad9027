//! Whole commands on small trees.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod story;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use story::{APPS, SYNC, Tree, broken, check, command, run, sound};

#[test]
fn a_sound_cluster_is_told_so() {
    let ran = check(&sound(), &[]).exits(0).says("2 kustomizations").says("1 cluster: clusters/home").says("0 errors");
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    assert!(!ran.stdout.contains('\u{1b}'), "no colours in a pipe");
}

#[test]
fn an_error_is_shown_with_its_line_and_sets_the_exit_code() {
    check(&broken(), &[]).exits(1).says("error[").says("clusters/home/broken.yaml:").says("fix:").says("1 error");
}

#[test]
fn the_current_directory_is_the_default() {
    let tree = broken();
    run(command(&["check"]).current_dir(tree.path())).exits(1).says("error[");
}

#[test]
fn json_is_valid_and_the_same_twice() {
    let tree = broken();
    let first = check(&tree, &["--format", "json", "--pedantic"]).exits(1);
    let second = check(&tree, &["--format", "json", "--pedantic"]).exits(1);
    assert_eq!(first.stdout, second.stdout);
    let json = first.json();
    assert_eq!(json["version"], 1);
    assert_eq!(json["tool"], "coldstart");
    let findings = json["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    for finding in findings {
        for key in ["rule", "severity", "message", "cluster", "cost", "notes"] {
            assert!(!finding[key].is_null(), "{key} of {finding}");
        }
        for key in ["kind", "namespace", "name"] {
            assert!(finding["component"][key].is_string(), "{key} of {finding}");
        }
        let primary = &finding["locations"][0];
        assert!(primary["line"].as_u64().unwrap() >= 1 && primary["column"].as_u64().unwrap() >= 1, "{finding}");
        assert!(tree.path().join(primary["path"].as_str().unwrap()).is_file(), "{finding}");
    }
}

#[test]
fn text_is_the_same_twice() {
    let tree = broken();
    let words = ["--pedantic", "--color", "always", "--blind-spots"];
    assert_eq!(check(&tree, &words).stdout, check(&tree, &words).stdout);
}

#[test]
fn colours_come_when_asked_for() {
    assert!(check(&broken(), &["--color", "always"]).stdout.contains("\u{1b}["));
    assert!(!check(&broken(), &["--color", "never"]).stdout.contains("\u{1b}["));
}

#[test]
fn every_rule_has_a_page_and_slips_are_understood() {
    let ran = run(&mut command(&["check", "--explain", "mising-dependency"])).exits(2);
    assert!(ran.stderr.contains("did you mean `missing-dependency`?"), "{}", ran.stderr);
    let page = run(&mut command(&["check", "--explain", "missing-dependency"])).exits(0);
    assert!(page.stdout.lines().count() > 5, "{}", page.stdout);
}

#[test]
fn one_of_several_clusters_can_be_chosen() {
    let away = |text: &str| text.replace("clusters/home", "clusters/away");
    let tree =
        broken().with(&[("clusters/away/flux-system/gotk-sync.yaml", &away(SYNC)), ("clusters/away/apps.yaml", APPS)]);
    check(&tree, &[]).exits(1).says("2 clusters: clusters/away, clusters/home");
    check(&tree, &["--cluster", "away"]).exits(0).says("1 cluster: clusters/away");
    check(&tree, &["--cluster", "clusters/home"]).exits(1);
    check(&tree, &["--cluster", "hme"]).exits(2).says("did you mean `home`?").says("clusters/away, clusters/home");
    run(command(&["graph", "--cluster", "away"]).arg(tree.path())).exits(0).says("clusters/away");
}

#[test]
fn the_graph_shows_tiers_and_the_critical_path() {
    let tree = sound().with(&[("clusters/home/late.yaml", LATE)]);
    run(command(&["graph"]).arg(tree.path())).exits(0).says("tier 1").says("← apps").says("critical path");
    let ran = run(command(&["graph", "--format", "json"]).arg(tree.path())).exits(0);
    let json = ran.json();
    let cluster = &json["clusters"][0];
    assert_eq!(cluster["name"], "clusters/home");
    let late = cluster["components"].as_array().unwrap().iter().find(|one| one["name"] == "late").unwrap();
    assert!(late["tier"].as_u64().unwrap() >= 1, "{late}");
    assert_eq!(run(command(&["graph", "--format", "json"]).arg(tree.path())).stdout, ran.stdout);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = command(&["check", "--pedantic"])
        .arg(broken().path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut complaints = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    let code = child.wait().unwrap().code();
    assert!(code.is_some(), "ended by a signal");
    assert!(!complaints.contains("panicked") && !complaints.contains("roken pipe"), "{complaints}");
}

#[test]
fn usage_is_explained() {
    run(&mut command(&["check", "--help"])).exits(0).says("Exit codes:");
    run(&mut command(&["--version"])).exits(0).says("coldstart ");
    run(&mut command(&["chek"])).exits(2).says("check");
    run(&mut command(&["check", "--pedantic", "--min-severity", "info"])).exits(2);
}

#[test]
fn where_there_is_nothing_of_flux_the_root_of_the_repository_is_read() {
    let tree = Tree::new(&[(".git/HEAD", "ref: refs/heads/main\n"), ("docs/index.yaml", "a: b\n")]);
    let tree = tree.with(&[("clusters/home/flux-system/gotk-sync.yaml", SYNC)]);
    let ran = run(command(&["check"]).current_dir(tree.path().join("docs"))).says("1 cluster: clusters/home");
    assert!(
        ran.stderr.starts_with("reading /") && ran.stderr.contains("is a part of that repository"),
        "{}",
        ran.stderr
    );
}

const LATE: &str = "\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: late
  namespace: flux-system
spec:
  dependsOn:
    - name: apps
  interval: 10m
  path: ./apps
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
";

#[test]
fn a_directory_below_the_root_of_the_repository_stands_for_the_whole() {
    let files = [("gotk-sync.yaml", story::SYNC), ("apps.yaml", story::APPS)];
    let tree = story::Tree::empty();
    for (name, text) in files {
        let text = text.replace("path: ./", "path: ./kubernetes/");
        tree.write(&format!("kubernetes/clusters/home/{name}"), text.as_bytes());
    }
    tree.write("kubernetes/apps/config.yaml", b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\n");
    let whole = run(command(&["check"]).arg(tree.path())).exits(0).says("2 kustomizations");
    let part = run(command(&["check"]).arg(tree.path().join("kubernetes"))).exits(0).says("2 kustomizations");
    assert!(!whole.stdout.contains("not seen"), "{}", whole.stdout);
    // Whatever else is written from that root was not looked at.
    part.says("not seen: 1 is outside this directory: run coldstart at the repository root (coldstart check");
    // Where Git knows the root, it is.
    std::fs::create_dir(tree.path().join(".git")).unwrap();
    let part = run(command(&["check"]).arg(tree.path().join("kubernetes"))).exits(0).says("2 kustomizations");
    assert!(part.stderr.contains("the directory given is a part of that repository"), "{}", part.stderr);
    assert!(!part.stdout.contains("not seen"), "{}", part.stdout);
    // Also from where nothing is that Flux could start from.
    run(command(&["check"]).current_dir(tree.path().join("kubernetes/apps"))).exits(0).says("2 kustomizations");
    // The root itself is not looked for above: what Flux applies first is not in this repository.
    std::fs::create_dir(tree.path().join("kubernetes/.git")).unwrap();
    run(command(&["check"]).arg(tree.path().join("kubernetes"))).exits(3).says("begin in another repository");
}

#[test]
fn a_directory_that_is_named_shows_its_own_findings() {
    let tree = broken();
    std::fs::create_dir(tree.path().join(".git")).unwrap();
    let ran = run(command(&["check"]).arg(tree.path().join("clusters/home"))).exits(1).says("error[");
    assert!(ran.stderr.contains("only findings in clusters/home are shown"), "{}", ran.stderr);
    let ran = run(command(&["check"]).arg(tree.path().join("clusters/home/flux-system"))).exits(0);
    assert!(!ran.stdout.contains("error["), "{}", ran.stdout);
    assert!(ran.stdout.starts_with("Rebuilt today: does not come up."), "{}", ran.stdout);
}

#[test]
fn the_headline_is_the_same_for_people_and_programs() {
    let told = check(&broken(), &[]).exits(1).stdout;
    let json = check(&broken(), &["-o", "json"]).exits(1).json();
    assert_eq!(told.lines().next(), json["headline"]["text"].as_str(), "{told}");
    assert_eq!(json["headline"]["comes_up"], false);
    assert_eq!(json["headline"]["causes"], 1, "{json}");
    assert_eq!((&json["headline"]["blocked"], &json["headline"]["components"]), (&2.into(), &4.into()), "{json}");
    assert_eq!(json["findings"][0]["blocks"], 2, "{json}");
    let quiet = check(&broken(), &["-q"]).exits(1).stdout;
    assert_eq!(quiet.lines().count(), 2, "{quiet}");
    assert_eq!(check(&sound(), &["-o", "json"]).exits(0).json()["headline"]["comes_up"], true);
}

#[test]
fn every_report_has_a_headline_that_can_be_had_alone() {
    for (words, lines) in [(&["graph", "-q"][..], 1), (&["plan", "-q"], 1), (&["simulate", "-q", "--seeds", "2"], 4)] {
        let quiet = run(command(words).arg(example("homelab"))).exits(0).stdout;
        let whole = run(command(&[&[words[0]], &words[2..]].concat()).arg(example("homelab"))).exits(0).stdout;
        assert_eq!(quiet.lines().count(), lines, "{quiet}");
        assert!(whole.starts_with(&quiet), "{whole}");
    }
    run(command(&["graph", "-q"]).arg(example("homelab-broken"))).exits(0).says("deadlock Kustomization");
}

#[test]
fn which_findings_fail_can_be_chosen() {
    check(&broken(), &["--fail-on", "never"]).exits(0).says("1 error");
    check(&sound(), &["--fail-on", "warning"]).exits(0);
    run(command(&["check", "--fail-on", "info", "-q"]).arg(example("homelab-broken"))).exits(1);
}

#[test]
fn rules_are_listed_and_the_version_is_told() {
    let list = run(&mut command(&["check", "--list-rules"])).exits(0).stdout;
    assert_eq!(list.lines().count(), ::check::rules::all().len(), "{list}");
    assert!(list.contains("slow-retry  "), "{list}");
    let version = run(&mut command(&["version"])).exits(0).stdout;
    assert_eq!(version, run(&mut command(&["--version"])).exits(0).stdout);
    assert!(version.starts_with(concat!("coldstart ", env!("CARGO_PKG_VERSION"))), "{version}");
    run(&mut command(&["help", "check"])).exits(0).says("--fail-on");
}

#[test]
fn a_check_is_made_again_when_a_file_changes() {
    let tree = sound();
    let mut watching = command(&["check", "--watch"]);
    let mut child = watching.arg(tree.path()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let mut until = |words: &str| lines.by_ref().any(|line| line.unwrap().contains(words));
    assert!(until("0 errors"));
    // The watcher is set before the first check: whatever is written after that is seen.
    tree.write("clusters/home/broken.yaml", story::BROKEN.as_bytes());
    assert!(until("1 error"));
    child.kill().unwrap();
    child.wait().unwrap();
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

#[test]
fn whoever_never_comes_up_is_not_on_the_critical_path() {
    let ran = run(command(&["graph"]).arg(example("homelab-broken"))).exits(0);
    let path = ran.stdout.split("critical path").nth(1).and_then(|rest| rest.split("deadlock").next()).unwrap();
    assert!(path.contains(" → "), "{path}");
    assert!(!path.contains("authentik/authentik") && !path.contains("harbor/harbor"), "{path}");
}

#[test]
fn a_fault_below_is_named_and_no_finding_about_something_else() {
    let words = ["simulate", "--seeds", "60", "--fault", "volume-not-mounted"];
    let ran = run(command(&words).arg(example("homelab"))).exits(1);
    let ran = ran.says("← StatefulSet vault/vault: the kubelet of node");
    assert!(!ran.stdout.contains("falsely-ready-gate"), "{}", ran.stdout);
}

#[test]
fn whoever_comes_before_its_store_is_told_of_the_store() {
    let tree = copy_of(&example("homelab"));
    let file = "kubernetes/apps/cert-manager/cert-manager/ks.yaml";
    let text = std::fs::read_to_string(tree.path().join(file)).unwrap();
    let ties = "  dependsOn:\n    - name: cert-manager\n    - name: external-secrets-stores\n      namespace: external-secrets\n";
    assert!(text.contains(ties));
    tree.write(file, text.replace(ties, "").as_bytes());
    let ran = run(command(&["simulate", "--seeds", "20"]).arg(tree.path())).exits(0);
    ran.says("Kustomization cert-manager/cert-manager-issuers").says("check: late-store · seed 0");
}

/// For a story that changes an example.
fn copy_of(root: &Path) -> Tree {
    let tree = Tree::empty();
    let mut next = vec![root.to_owned()];
    while let Some(directory) = next.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                next.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                tree.write(&name, &std::fs::read(path).unwrap());
            }
        }
    }
    tree
}
