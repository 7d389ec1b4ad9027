//! Whatever happens to the process that started a lab, nothing of the lab is left.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use coldstart_lab as lab;

/// Says to this very test, run again as a child, that it is the one to be killed.
const VICTIM: &str = "COLDSTART_LAB_VICTIM";
const GONE_WITHIN: Duration = Duration::from_secs(2);

#[test]
fn killing_the_test_leaves_nothing_running() {
    if std::env::var_os(VICTIM).is_some() {
        be_the_victim();
        return;
    }
    if lab::build::ready(lab::build::Tier::Small).is_err() {
        // Says that it is skipped, and how to get the lab.
        assert!(lab::or_skip("killing_the_test_leaves_nothing_running").is_none());
        return;
    }
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["killing_the_test_leaves_nothing_running", "--nocapture", "--exact"])
        .env(VICTIM, "yes")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let directory = lines
        .map(|line| line.unwrap())
        .find_map(|line| line.split("lab is up in ").nth(1).map(str::to_owned))
        .expect("the victim says where its lab is");
    let before = processes_of(&directory);
    assert!(before.len() >= 9, "all nine processes run, the one in a namespace among them: {before:?}");

    victim.kill().unwrap();
    victim.wait().unwrap();
    let start = Instant::now();
    while !processes_of(&directory).is_empty() || fs::exists(&directory).unwrap() {
        assert!(start.elapsed() < GONE_WITHIN, "still there: {:?}", processes_of(&directory));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[expect(clippy::print_stdout, reason = "how the victim talks to its killer")]
fn be_the_victim() {
    let options = lab::Options::named("victim").with(lab::Process::SealedSecrets);
    let lab = lab::Lab::start(options).unwrap();
    println!("\nlab is up in {}", lab.directory().display());
    std::thread::sleep(Duration::from_mins(2));
}

/// The process ids of everything that has the lab's directory in its command line or works in it.
fn processes_of(directory: &str) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir("/proc").unwrap() {
        let path = entry.unwrap().path();
        let Some(id) = path.file_name().and_then(|name| name.to_str()?.parse().ok()) else { continue };
        let command = fs::read(path.join("cmdline")).unwrap_or_default();
        let works_in_it = fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd.starts_with(directory));
        if works_in_it || String::from_utf8_lossy(&command).contains(directory) {
            found.insert(id);
        }
    }
    // The watchdog does not name what it guards on its command line, and works in `/`.
    found
}
