//! `coldstart fix --write` that is killed while it writes: all of it is there, or nothing is.

mod story;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use story::repair::{CRD, OPERATOR, committed};
use story::{SYNC, Tree, command, run};

/// Applications that do not wait for their operator, each in a file of its own.
const APPS: usize = 60;
/// How often a run is killed, each time a little later.
const KILLS: u32 = 6;
/// Where a program keeps what it has to remember, here.
const STATE: &str = ".git/state";

fn kustomization(name: &str, path: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: flux-system\nspec:\n  interval: 1h\n  path: ./{path}\n  prune: true\n  wait: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n"
    )
}

/// A database that has to move out of the Kustomization of its operator, too.
fn repository() -> Tree {
    let tree = Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/operator.yaml", &kustomization("operator", "operator")),
        ("operator/crd.yaml", CRD),
        ("clusters/home/database.yaml", &kustomization("database", "database/app")),
        ("database/app/kustomization.yaml", "resources:\n  - release.yaml\n  - cluster.yaml\n"),
        ("database/app/release.yaml", OPERATOR),
        ("database/app/cluster.yaml", "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata:\n  name: pg\n"),
    ]);
    for app in 0..APPS {
        let name = format!("app-{app}");
        let widget = format!("apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: {name}\n");
        tree.write(&format!("clusters/home/{name}.yaml"), kustomization(&name, &name).as_bytes());
        tree.write(&format!("{name}/widget.yaml"), widget.as_bytes());
    }
    committed(tree)
}

/// All files but Git's own.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).expect("a directory").flatten() {
            let path = entry.path();
            match entry.file_type().expect("a type") {
                kind if kind.is_dir() && entry.file_name() != ".git" => open.push(path),
                kind if kind.is_file() => {
                    found.insert(path.strip_prefix(root).expect("below").to_owned(), fs::read(&path).expect("a file"));
                }
                _ => {}
            }
        }
    }
    found
}

fn fix(tree: &Tree, words: &[&str]) -> Command {
    let mut command = command(&["fix"]);
    command.args(words).arg(tree.path()).env("XDG_STATE_HOME", tree.path().join(STATE));
    command
}

/// Whether files are being changed, or were.
fn has_journal(tree: &Tree) -> bool {
    let kept = fs::read_dir(tree.path().join(STATE).join("coldstart"));
    kept.is_ok_and(|kept| kept.flatten().any(|one| one.path().join("fix-journal").exists()))
}

/// Starts to write, and is killed so long after the first file is about to change, if ever; says for how long it wrote, and whether
/// there is something to undo.
fn killed(tree: &Tree, after: Option<Duration>) -> (Duration, bool) {
    let mut command = fix(tree, &["--write", "--unsafe"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a program");
    let started = Instant::now();
    while !has_journal(tree) && child.try_wait().expect("a state").is_none() {
        assert!(started.elapsed() < Duration::from_mins(1), "nothing is written");
    }
    let seen = Instant::now();
    while has_journal(tree) && after.is_none_or(|after| seen.elapsed() < after) {
        std::hint::spin_loop();
    }
    let wrote = seen.elapsed();
    if after.is_some() {
        let _has_ended = child.kill();
    }
    child.wait().expect("an end");
    (wrote, has_journal(tree))
}

#[test]
fn whenever_it_is_killed_all_is_written_or_nothing_after_the_next_run() {
    let tree = repository();
    let before = files(tree.path());
    let (whole, is_left) = killed(&tree, None);
    assert!(!is_left);
    let after = files(tree.path());
    assert!(after.contains_key(Path::new("database/config/cluster.yaml")), "{:?}", after.keys());
    assert!(!after.contains_key(Path::new("database/app/cluster.yaml")));
    let mut undone = 0;
    for kill in 0..KILLS {
        let tree = repository();
        let (_, is_left) = killed(&tree, Some(whole * kill / KILLS));
        if is_left {
            undone += 1;
            run(&mut fix(&tree, &[])).exits(2).says("was stopped while it wrote");
        }
        // Nothing is fixed by this run, but what was left of the other is put in order.
        run(&mut fix(&tree, &["--write", "--path", "none"])).exits(0);
        assert!(!has_journal(&tree));
        let left = files(tree.path());
        let is_done = left == after;
        assert!(is_done || left == before, "kill {kill}: neither all nor nothing");
        assert!(!(is_left && is_done), "kill {kill}: what was stopped is undone");
    }
    assert!(undone > 0, "no run was killed while it wrote");
}
