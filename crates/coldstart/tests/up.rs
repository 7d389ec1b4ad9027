//! `coldstart up` and `coldstart log`, in the simulated world.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod story;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use story::{command, run};

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
    first.says("simulated     0:00:00  run 1 begins").says("healthy: 9").says("critical path");
    let second = run(&mut up(state.path(), &[])).exits(0);
    second.says("run 2 begins").says("were there, nothing to do");
    let log = run(command(&["log"]).arg(homelab()).arg("--state").arg(state.path())).exits(0);
    log.says("run 1  simulated  healthy").says("run 2  simulated  healthy  0 s");
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
    failed.says("failed").says("blocked").says("next: coldstart up");
}

#[test]
fn a_real_cluster_is_not_touched_and_that_is_said() {
    let broken = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/homelab-broken");
    run(command(&["up"]).arg(broken)).exits(2).says("real machines are not driven yet");
}

#[test]
fn another_seed_wants_a_fresh_world() {
    let state = tempfile::tempdir().unwrap();
    run(&mut up(state.path(), &["--until", "api"])).exits(0);
    run(&mut up(state.path(), &["--seed", "5"])).exits(2).says("has seed 0");
    run(&mut up(state.path(), &["--seed", "5", "--fresh", "--until", "api"])).exits(0).says("seed 5");
}

#[test]
fn programs_get_a_line_of_json_for_everything_that_happens() {
    let state = tempfile::tempdir().unwrap();
    let told = run(&mut up(state.path(), &["--format", "json", "--until", "api"])).exits(0);
    for line in told.stdout.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(value["event"].is_string() && value["at"].is_u64(), "{line}");
    }
}
