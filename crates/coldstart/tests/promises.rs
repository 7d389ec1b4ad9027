//! `check` runs nothing of the repository and uses no network.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod story;

use std::process::{Command, Stdio};

use story::{Tree, binary, command, run, skipped, sound, works};

/// A repository that invites to fetch and to run things at every turn.
fn tempting() -> Tree {
    let tree = sound().with(&[
        ("apps/kustomization.yaml", TEMPTING),
        ("apps/generator.yaml", GENERATOR),
        ("apps/release.yaml", RELEASE),
        ("coldstart-trap.sh", TRAP),
        ("apps/trap.sh", TRAP),
        (".envrc", "touch ran\n"),
        ("bootstrap.sh", TRAP),
        ("bootstrap/helmfile.yaml", "hooks:\n  - events: [prepare]\n    command: ./trap.sh\n"),
        (".git/config", "[core]\n  fsmonitor = ./trap.sh\n"),
    ]);
    #[cfg(unix)]
    for script in ["coldstart-trap.sh", "apps/trap.sh", "bootstrap.sh"] {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(tree.path().join(script), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    tree
}

const TRAP: &str = "#!/bin/sh\ntouch ran\n";

const TEMPTING: &str = "\
resources:
  - config.yaml
  - release.yaml
  - https://raw.githubusercontent.com/example/example/main/crds.yaml
  - github.com/example/example//deploy?ref=v1
  - git::https://example.invalid/repository.git//path
components:
  - https://example.invalid/component
generators:
  - generator.yaml
helmCharts:
  - name: example
    repo: https://charts.example.invalid
";

const GENERATOR: &str = "\
apiVersion: example.invalid/v1
kind: Trap
metadata:
  name: trap
  annotations:
    config.kubernetes.io/function: |
      exec:
        path: ./trap.sh
";

const RELEASE: &str = "\
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: example, namespace: default}
spec: {interval: 1h, url: https://charts.example.invalid}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: example, namespace: default}
spec:
  interval: 1h
  chart:
    spec: {chart: example, version: 1.x, sourceRef: {kind: HelmRepository, name: example}}
";

/// No program can be found, and every proxy is a closed door: what fetched or ran something would fail or hang.
fn cut_off(command: &mut Command, empty: &Tree) {
    command.env("PATH", empty.path()).env("HOME", empty.path());
    for proxy in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"] {
        command.env(proxy, "http://127.0.0.1:1");
    }
}

fn files(tree: &Tree) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut work = vec![tree.path().to_path_buf()];
    while let Some(directory) = work.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { work.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

#[test]
fn nothing_is_needed_but_the_files_and_nothing_is_left_behind() {
    let (tree, empty) = (tempting(), Tree::empty());
    let before = files(&tree);
    let free = run(command(&["check", "--pedantic", "--blind-spots"]).arg(tree.path()));
    let mut cut = command(&["check", "--pedantic", "--blind-spots"]);
    cut_off(cut.arg(tree.path()), &empty);
    let cut = run(&mut cut);
    assert_eq!((free.code, &free.stdout), (cut.code, &cut.stdout));
    assert!(matches!(cut.code, 0 | 1), "{cut:?}");
    assert_eq!(files(&tree), before, "a file appeared");
    assert!(files(&empty).is_empty(), "a file appeared at home");
    cut.says("example.invalid");
}

#[test]
fn it_works_where_there_is_no_network() {
    let namespace = ["--user", "--map-root-user", "--net"];
    if !works("unshare", &[namespace.as_slice(), &["true"]].concat()) {
        skipped("unshare may not make a network namespace here");
        return;
    }
    let tree = tempting();
    let free = run(command(&["check"]).arg(tree.path()));
    let alone = run(Command::new("unshare").args(namespace).arg(binary()).arg("check").arg(tree.path()));
    assert_eq!((free.code, free.stdout), (alone.code, alone.stdout));
}

#[test]
fn it_opens_no_socket_and_starts_no_program() {
    let tree = tempting();
    let (log, trace) = (Tree::empty(), ["-f", "-qq", "-e", "trace=execve,execveat,socket,connect"]);
    if !works("strace", &[trace.as_slice(), &["true"]].concat()) {
        skipped("strace is not here or may not trace");
        return;
    }
    let out = log.path().join("trace");
    run(Command::new("strace").args(trace).arg("-o").arg(&out).arg(binary()).arg("check").arg(tree.path()));
    let calls = std::fs::read_to_string(out).unwrap();
    let calls: Vec<&str> = calls.lines().filter(|line| !line.contains("+++ exited")).collect();
    assert_eq!(calls.len(), 1, "its own start, and nothing else: {calls:#?}");
    assert!(calls[0].contains("execve("), "{calls:?}");
}

#[test]
fn standard_input_is_not_waited_for() {
    let tree = sound();
    let mut command = command(&["check"]);
    // The other end stays open and silent.
    run(command.arg(tree.path()).stdin(Stdio::piped())).exits(0);
}
