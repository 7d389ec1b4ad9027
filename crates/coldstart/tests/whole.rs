//! The whole output of the main commands on both examples: a changed word shows where it is read.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod story;

use std::path::{Path, PathBuf};

use story::{Tree, command, run};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What a command says at the root of this repository, as a user without a home sees it.
fn said(words: &str, state: &Tree) -> String {
    let mut command = command(&words.split_whitespace().collect::<Vec<_>>());
    command.current_dir(root()).env("XDG_STATE_HOME", state.path()).env("HOME", "/nowhere");
    command.env_remove("XDG_DATA_HOME").env_remove("COLUMNS").env_remove("SOPS_AGE_KEY_FILE");
    let ran = run(&mut command);
    let errors = if ran.stderr.is_empty() { String::new() } else { format!("\nstderr:\n{}", ran.stderr) };
    masked(&format!("$ coldstart {words}\n{}{errors}\nexit code {}", ran.stdout, ran.code))
}

/// Without dates: those of one run are not those of the next.
fn masked(text: &str) -> String {
    const DATE: &str = "2026-11-17 22:40";
    let parts: Vec<&str> = text.split(" UTC").collect();
    let Some((last, parts)) = parts.split_last() else { return String::new() };
    let dated = parts.iter().map(|part| {
        let (before, date) = part.split_at(part.len().saturating_sub(DATE.len()));
        let is_date = date.chars().zip(DATE.chars()).all(|(a, b)| a == b || (a.is_ascii_digit() && b.is_ascii_digit()));
        if is_date { format!("{before}{DATE} UTC") } else { format!("{part} UTC") }
    });
    dated.chain([(*last).to_owned()]).collect()
}

fn all(commands: &[&str], example: &str) {
    let state = Tree::empty();
    for command in commands {
        let name = format!("{} {example}", command.replace("--", ""));
        insta::assert_snapshot!(
            name.split_whitespace().collect::<Vec<_>>().join("_"),
            said(&format!("{command} examples/{example}"), &state)
        );
    }
}

#[test]
fn reading_commands_on_the_sound_example() {
    all(&["check", "graph", "plan", "init --print", "seal verify"], "homelab");
}

#[test]
fn reading_commands_on_the_broken_example() {
    all(&["check", "check --quiet", "fix --unsafe", "graph", "plan", "init --print"], "homelab-broken");
}

#[test]
fn boots_of_both_examples() {
    all(&["simulate --seeds 50"], "homelab");
    all(&["simulate --seeds 50"], "homelab-broken");
}

#[test]
fn a_run_and_its_log() {
    all(&["up --simulate --speed 0", "log"], "homelab");
    all(&["up --simulate --speed 0"], "homelab-broken");
}

#[test]
fn the_help_of_every_command() {
    let state = Tree::empty();
    for words in [
        "",
        "check",
        "fix",
        "graph",
        "impact",
        "init",
        "plan",
        "report",
        "simulate",
        "up",
        "log",
        "seal",
        "seal verify",
        "completions",
    ] {
        let name = format!("help {words}").split_whitespace().collect::<Vec<_>>().join("_");
        insta::assert_snapshot!(name, said(&format!("{words} --help"), &state));
    }
}

#[test]
fn dates_are_masked_and_nothing_else_is() {
    assert_eq!(masked("at 1999-01-02 03:04 UTC, x UTC"), "at 2026-11-17 22:40 UTC, x UTC");
    assert_eq!(masked("no date"), "no date");
}
