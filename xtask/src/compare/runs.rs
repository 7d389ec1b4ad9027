//! One run of one binary on one tree, and the differences between two of them.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::differ::{Difference, differences};
use super::names::named;
use super::{Asked, Tree};
use crate::product::{self, Ending};

/// Runs binaries, each with a home of its own that is empty.
pub(super) struct Runner<'a> {
    pub scratch: &'a Path,
    pub seeds: u32,
    pub limit_seconds: u64,
}

/// What a run left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub ending: Ending,
    /// What it printed: a document, or the bytes as text.
    pub printed: Value,
    pub complaint: String,
}

impl Runner<'_> {
    pub(super) fn run(&self, binary: &Path, who: &str, tree: &Tree, asked: Asked) -> Result<Outcome> {
        let own: String = tree.path.display().to_string().replace('/', "+");
        let scratch = self.scratch.join(own).join(who).join(asked.word());
        std::fs::create_dir_all(&scratch).with_context(|| format!("cannot create {}", scratch.display()))?;
        let mut command = Command::new(binary);
        command.args(asked.arguments(self.seeds)).current_dir(&tree.path);
        command.env("HOME", &scratch).env("XDG_STATE_HOME", &scratch).env("NO_COLOR", "1");
        let raw = scratch.join("out");
        let run = product::run(command, &raw, Duration::from_secs(self.limit_seconds))
            .with_context(|| format!("cannot run {}", binary.display()))?;
        let printed = match run.json {
            Some(document) => document,
            None => Value::String(std::fs::read_to_string(raw.with_added_extension("json")).unwrap_or_default()),
        };
        std::fs::remove_dir_all(&scratch).with_context(|| format!("cannot remove {}", scratch.display()))?;
        Ok(Outcome { ending: run.ending, printed, complaint: run.complaint })
    }
}

/// Everything in which two runs differ. Two that crashed or hung alike are not equal: neither said anything.
pub(super) fn compare(asked: Asked, old: &Outcome, new: &Outcome) -> Vec<Difference> {
    let around = |run: &Outcome| json!({"exit": ending(&run.ending), "stderr": run.complaint});
    let mut all = differences(asked.word(), &around(old), &around(new));
    let is_dead = |run: &Outcome| !matches!(run.ending, Ending::Code(code) if code != PANIC);
    if old.ending == new.ending && is_dead(old) {
        let field = format!("{}.exit", asked.word());
        let said = Some(ending(&old.ending));
        all.push(Difference { place: field.clone(), field, old: said.clone(), new: said, is_wording: false });
    }
    let document = |run: &Outcome| match asked {
        Asked::Graph => named(run.printed.clone()),
        _ => run.printed.clone(),
    };
    all.extend(differences(asked.word(), &document(old), &document(new)));
    all
}

/// What a Rust program exits with that panicked.
const PANIC: i32 = 101;

fn ending(ending: &Ending) -> String {
    match ending {
        Ending::Code(PANIC) => "panic".to_owned(),
        Ending::Code(code) => code.to_string(),
        Ending::Signal => "signal".to_owned(),
        Ending::Timeout => "timeout".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outcome(code: i32, complaint: &str, printed: Value) -> Outcome {
        Outcome { ending: Ending::Code(code), printed, complaint: complaint.to_owned() }
    }

    fn fields(old: &Outcome, new: &Outcome) -> Vec<(String, bool)> {
        compare(Asked::Plan, old, new).into_iter().map(|it| (it.field, it.is_wording)).collect()
    }

    #[test]
    fn exit_codes_and_complaints_are_compared() {
        let good = outcome(0, "", json!({}));
        assert_eq!(fields(&good, &good), []);
        assert_eq!(fields(&good, &outcome(1, "", json!({}))), [("plan.exit".to_owned(), false)]);
        assert_eq!(fields(&good, &outcome(0, "warning: x", json!({}))), [("plan.stderr".to_owned(), false)]);
        let (warned, otherwise) = (outcome(0, "warning: x", json!({})), outcome(0, "warning: y", json!({})));
        assert_eq!(fields(&warned, &otherwise), [("plan.stderr".to_owned(), true)], "its words are wording");
    }

    #[test]
    fn two_panics_are_not_equal() {
        let panicked = outcome(PANIC, "panicked at a.rs", Value::String(String::new()));
        assert_eq!(fields(&panicked, &panicked), [("plan.exit".to_owned(), false)]);
    }

    #[test]
    fn what_is_no_json_is_compared_as_it_is() {
        let said = |text: &str| outcome(0, "", Value::String(text.to_owned()));
        assert_eq!(fields(&said("a"), &said("a")), []);
        assert_eq!(fields(&said("a"), &said("b")), [("plan".to_owned(), false)]);
        assert_eq!(fields(&said("a"), &outcome(0, "", json!({}))), [("plan".to_owned(), false)]);
    }

    /// Two shell scripts in the place of the binaries, on a tree that is a directory.
    #[test]
    fn binaries_run_in_the_tree_with_a_home_of_their_own() {
        let scratch = tempfile::tempdir().unwrap();
        let script = scratch.path().join("binary");
        let text = "#!/bin/sh\necho \"{\\\"arguments\\\": \\\"$*\\\", \\\"files\\\": \\\"$(ls)\\\"}\"\ntouch $HOME/x\n";
        std::fs::write(&script, text).unwrap();
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let directory = scratch.path().join("tree");
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("a.yaml"), "").unwrap();
        let tree = Tree { name: "tree".to_owned(), path: directory, _whole: None };
        let runner = Runner { scratch: scratch.path(), seeds: 2, limit_seconds: 10 };
        let run = runner.run(&script, "old", &tree, Asked::Simulate).unwrap();
        assert_eq!(
            run.printed,
            json!({"arguments": "simulate . --seeds 2 --format json", "files": "a.yaml"}),
            "{run:?}"
        );
    }
}
