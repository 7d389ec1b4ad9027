//! `coldstart up` and `coldstart log`, in the simulated world.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod story;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use story::{Tree, command, run};

fn homelab() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/homelab")
}

fn up(state: &Path, words: &[&str]) -> Command {
    let mut command = command(&["up"]);
    command.arg(homelab()).arg("--state").arg(state).args(["--speed", "0"]).args(words);
    command
}

fn journal(state: &Path) -> PathBuf {
    let mut below = fs::read_dir(state).unwrap();
    below.next().unwrap().unwrap().path().join("journal")
}

#[test]
fn the_example_comes_up_and_a_second_run_has_nothing_to_do() {
    let state = tempfile::tempdir().unwrap();
    let first = run(&mut up(state.path(), &[])).exits(0);
    assert!(first.stdout.lines().all(|line| line.is_empty() || line.starts_with("simulated  ")), "{}", first.stdout);
    first.says("simulated     0:00:00  run 1 begins").says("healthy: 9").says("critical path");
    let second = run(&mut up(state.path(), &[])).exits(0);
    second.says("run 2 begins").says("already in place, nothing to do");
    let log = run(command(&["log"]).arg(homelab()).arg("--state").arg(state.path())).exits(0);
    let log = log.says("UTC  simulated, seed 0, no fault  healthy  ");
    let is_second = |line: &str| line.starts_with("run 2  20") && line.ends_with("healthy  0 s");
    assert!(log.stdout.lines().any(is_second), "{}", log.stdout);
}

#[test]
fn a_quiet_run_tells_the_beginning_failures_and_the_end() {
    let state = tempfile::tempdir().unwrap();
    let told = run(&mut up(state.path(), &["-q"])).exits(0).stdout;
    assert_eq!(told.lines().count(), 2, "{told}");
    assert!(told.contains("run 1 begins") && told.contains("healthy: 9"), "{told}");
    let broken = tempfile::tempdir().unwrap();
    let told = run(&mut up(broken.path(), &["-q", "--fault", "key-lost"])).exits(1).stdout;
    assert!(told.contains("failed") && told.contains("next: ") && !told.contains("critical path"), "{told}");
}

#[test]
fn cut_off_anywhere_it_goes_on_and_bootstraps_etcd_once() {
    let state = tempfile::tempdir().unwrap();
    run(&mut up(state.path(), &[])).exits(0);
    let path = journal(state.path());
    let whole = fs::read(&path).unwrap();
    for part in [3, 5, 8, 11, 14] {
        // As a crash leaves it: cut in the middle of a line.
        fs::write(&path, &whole[..whole.len() * part / 16]).unwrap();
        run(&mut up(state.path(), &[])).exits(0).says("healthy");
        let text = fs::read_to_string(&path).unwrap();
        let bootstraps = text.lines().filter(|line| line.contains("\"started\"") && line.contains("talos/etcd"));
        assert_eq!(bootstraps.count(), 1, "cut at {part}/16");
    }
}

#[test]
fn what_goes_wrong_is_named_with_what_it_blocks() {
    let state = tempfile::tempdir().unwrap();
    let failed = run(&mut up(state.path(), &["--fault", "key-lost"])).exits(1);
    failed
        .says("failed gitops/helmrelease/csi-proxmox")
        .says("blocks ")
        .says("next: coldstart up")
        .says("← SealedSecret csi-proxmox/proxmox-csi-plugin: no key could decrypt secret");
}

#[test]
fn a_real_cluster_is_not_touched_and_that_is_said() {
    let broken = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/homelab-broken");
    run(command(&["up"]).arg(broken))
        .exits(2)
        .says("real machines are not supported yet")
        .says("examples/homelab-broken --simulate");
}

#[test]
fn another_seed_wants_a_fresh_world() {
    let state = tempfile::tempdir().unwrap();
    run(&mut up(state.path(), &["--until", "api"])).exits(0);
    run(&mut up(state.path(), &["--seed", "5"]))
        .exits(2)
        .says("has seed 0")
        .says("next: coldstart up ")
        .says("examples/homelab --fresh");
    run(&mut up(state.path(), &["--seed", "5", "--fresh", "--until", "api"])).exits(0).says("seed 5");
}

#[test]
fn programs_get_a_line_of_json_for_everything_that_happens() {
    let state = tempfile::tempdir().unwrap();
    let told = run(&mut up(state.path(), &["--format", "json", "--until", "api"])).exits(0);
    for line in told.stdout.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(value["event"].is_string() && value["at"].is_u64() && value["simulated"] == true, "{line}");
    }
}

/// The step that changed is named, and done again: there is no terminal to ask on, and nothing real is at stake.
#[test]
fn what_changed_is_done_again_in_a_simulated_world() {
    let helmfile = |version: &str| {
        format!(
            "releases:\n  - name: cilium\n    namespace: kube-system\n    chart: oci://quay.io/cilium/charts/cilium\n    version: {version}\n"
        )
    };
    let tree = story::sound().with(&[("coldstart.yaml", "world: simulated\n"), ("helmfile.yaml", &helmfile("1.19.0"))]);
    let state = tempfile::tempdir().unwrap();
    let up = || run(command(&["up", "--speed", "0", "--state"]).arg(state.path()).arg(tree.path())).exits(0);
    let first = up();
    assert!(first.stderr.is_empty(), "{}", first.stderr);
    tree.write("helmfile.yaml", helmfile("1.19.1").as_bytes());
    up().says("simulated: changed since it was completed, and done again: network/kube-system/cilium").says("healthy");
    let third = up().says("nothing to do");
    assert!(third.stderr.is_empty(), "{}", third.stderr);
}

/// A release that was never made is no cause: the Kustomization that can't be built is.
#[test]
fn a_build_that_fails_is_named_behind_the_release_that_it_should_have_made() {
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: default}\nspec:\n  interval: 1h\n  chart:\n    spec:\n      chart: web\n      sourceRef: {kind: HelmRepository, name: web}\n";
    let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: web, namespace: default}\nspec: {url: https://example.invalid}\n";
    let tree = story::sound().with(&[
        ("coldstart.yaml", "world: simulated\n"),
        ("apps/release.yaml", release),
        ("apps/source.yaml", source),
        ("apps/kustomization.yaml", "resources:\n  - release.yaml\n  - source.yaml\n  - nothing.yaml\n"),
    ]);
    let state = tempfile::tempdir().unwrap();
    let ran = run(command(&["up", "--speed", "0", "--state"]).arg(state.path()).arg(tree.path())).exits(1);
    ran.says("HelmRelease default/web waits for Kustomization flux-system/apps")
        .says("← BuildFailed: `nothing.yaml` does not exist");
}

#[test]
fn a_picture_that_can_not_be_written_is_said_before_the_run() {
    let state = tempfile::tempdir().unwrap();
    let nowhere = state.path().join("no/such/directory.svg");
    let ran = run(up(&state.path().join("runs"), &["--timeline"]).arg(&nowhere)).exits(2);
    ran.says("cannot write");
    assert!(!state.path().join("runs").exists(), "the run has begun");
}

/// After a change of what a simulated boot does, draw the picture anew:
/// `coldstart up examples/homelab --fresh --speed 0 --timeline docs/img/timeline.svg`
#[test]
fn the_picture_in_the_documents_is_of_the_run_that_anybody_gets() {
    let state = tempfile::tempdir().unwrap();
    let picture = state.path().join("timeline.svg");
    run(up(&state.path().join("runs"), &["--timeline"]).arg(&picture)).exits(0);
    let drawn = fs::read_to_string(&picture).unwrap();
    let shown = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/img/timeline.svg");
    assert!(drawn == fs::read_to_string(shown).unwrap(), "docs/img/timeline.svg is not what `up` draws now");
    // The journal tells the same again.
    let again = state.path().join("again.svg");
    let mut log = command(&["log", "--run", "1", "--timeline"]);
    run(log.arg(&again).arg(homelab()).arg("--state").arg(state.path().join("runs"))).exits(0);
    assert!(fs::read_to_string(&again).unwrap() == drawn, "the journal tells another story than the run");
}

/// Asked to stop, it ends soon, says so, and the next run goes on; asked twice, too.
#[cfg(target_os = "linux")]
#[test]
fn somebody_who_asks_to_stop_is_heard() {
    for signals in [1, 2] {
        let state = tempfile::tempdir().unwrap();
        let mut slow = command(&["up", "--speed", "10"]);
        slow.arg(homelab()).arg("--state").arg(state.path()).stdout(std::process::Stdio::piped());
        let mut child = slow.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        // It listens before its first step begins.
        assert!(lines.by_ref().any(|line| line.ends_with(" begins")));
        for _ in 0..signals {
            let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
            assert!(kill.success());
        }
        let said = lines.collect::<Vec<_>>().join("\n");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(said.contains("stopping: no new steps are started") && said.contains("stopped"), "{said}");
        run(&mut up(state.path(), &[])).exits(0).says("run 2 begins").says("healthy");
    }
}

/// What is to be typed next says all that was said, as a shell wants it.
#[test]
fn the_next_command_works_when_it_is_pasted() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("my state");
    let failed = run(&mut up(&state, &["--fault", "key-lost", "--skip", "configuration=not this time"])).exits(1);
    let next = failed.stdout.lines().find_map(|line| line.strip_prefix("simulated  next: coldstart ")).unwrap();
    let pasted = format!("{} {next} --speed 0", story::binary().display());
    // The fault that was asked for is not asked for again.
    run(Command::new("sh").args(["-c", &pasted]))
        .exits(0)
        .says("run 1 begins")
        .says("(--skip configuration: not this time)");
}

#[test]
fn a_new_world_does_not_take_the_place_of_one_in_use() {
    let state = tempfile::tempdir().unwrap();
    let mut slow = command(&["up", "--speed", "10"]);
    slow.arg(homelab()).arg("--state").arg(state.path()).stdout(std::process::Stdio::null());
    let mut child = slow.spawn().unwrap();
    let log = || run(command(&["log"]).arg(homelab()).arg("--state").arg(state.path())).exits(0).stdout;
    while !log().contains("run 1") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    run(&mut up(state.path(), &["--fresh"])).exits(2).says("is in use");
    assert!(log().contains("no fault  runs  "), "{}", log());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(log().contains("no fault  cut off  "), "{}", log());
}

#[test]
fn nothing_to_do_because_nothing_was_asked_for_is_a_mistake() {
    let state = tempfile::tempdir().unwrap();
    let words = ["--from", "gitops", "--until", "keys"];
    run(&mut up(state.path(), &words)).exits(2).says("is selected").says("next: coldstart plan");
}

#[test]
fn a_fault_that_the_seed_draws_is_named() {
    let state = tempfile::tempdir().unwrap();
    let words = ["--fault", "random", "--until", "keys", "--format", "json"];
    let told = run(&mut up(state.path(), &words)).exits(0);
    assert!(!told.stdout.contains("random"), "{}", told.stdout);
    run(&mut up(state.path(), &words)).exits(0);
}

/// etcd lives on: whoever names the machines in another order finds it, and does not begin a second cluster.
#[test]
fn machines_in_another_order_are_the_same_cluster() {
    let settings =
        |order: &str| format!("world: simulated\nup:\n  control-planes: [{order}]\n  endpoint: 10.0.0.1:6443\n");
    let tree = story::sound().with(&[("coldstart.yaml", &settings("cp1, cp2, cp3"))]);
    let state = tempfile::tempdir().unwrap();
    let up = || run(command(&["up", "--speed", "0", "--state"]).arg(state.path()).arg(tree.path())).exits(0);
    up();
    for order in ["cp3, cp2, cp1", "cp2, cp3, cp1"] {
        tree.write("coldstart.yaml", settings(order).as_bytes());
        let again = up();
        assert!(!again.stdout.contains("talos/etcd begins"), "{}", again.stdout);
    }
}

#[test]
fn worlds_that_were_put_away_are_listed_told_and_pruned() {
    let state = Tree::empty();
    let in_state = |command: &mut Command| run(command.arg(homelab()).arg("--state").arg(state.path()));
    let up =
        |words: &[&str]| in_state(command(&["up", "--simulate", "--speed", "0", "--until", "network"]).args(words));
    up(&["--seed", "1"]).exits(0);
    up(&["--fresh", "--seed", "2"]).exits(0);
    up(&["--fresh", "--seed", "3", "--fault", "git-down"]).exits(0);
    let log = in_state(&mut command(&["log"])).exits(0).stdout;
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines[0].starts_with("world 1 run 1  ") && lines[0].contains("simulated, seed 1, no fault"), "{log}");
    assert!(lines[1].starts_with("world 2 run 1  ") && lines[1].contains("simulated, seed 2, no fault"), "{log}");
    assert!(lines[2].starts_with("run 1          ") && lines[2].contains("simulated, seed 3, git-down"), "{log}");
    in_state(&mut command(&["log", "--run", "1", "--world", "2"])).exits(0).says("seed 2");
    let json = in_state(&mut command(&["log", "--format", "json"])).exits(0).json();
    assert_eq!(json["put_away"][1]["runs"][0]["world"]["seed"], 2, "{json}");
    assert!(json["runs"][0]["date"].as_u64().unwrap() > 1_700_000_000, "{json}");
    in_state(&mut command(&["log", "--prune", "1"])).exits(0).says("removed 1 journal");
    let log = in_state(&mut command(&["log"])).exits(0).stdout;
    assert!(log.starts_with("world 2 run 1") && log.lines().count() == 2, "{log}");
    // The next one that is put away is newer than all that were.
    up(&["--fresh"]).exits(0);
    in_state(&mut command(&["log"])).exits(0).says("world 3 run 1").says("world 2 run 1");
}

#[test]
fn a_state_directory_that_can_not_be_written_says_which_option_names_another() {
    let state = Tree::new(&[("file", "")]);
    let mut up = command(&["up", "--simulate", "--speed", "0", "--state"]);
    let ran = run(up.arg(state.path().join("file")).arg(homelab())).exits(2);
    assert!(ran.stderr.contains("--state <directory that can be written>"), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("file/").count(), 1, "{}", ran.stderr);
}

#[test]
fn a_step_or_a_layer_that_is_misspelt_is_understood() {
    for (name, meant) in [("netwrk", "network"), ("gitop", "gitops"), ("machins", "machines")] {
        let ran = run(command(&["plan", "--until", name]).arg(homelab())).exits(2);
        assert!(ran.stderr.contains(&format!("did you mean `{meant}`?")), "{}", ran.stderr);
    }
}
