//! `coldstart` without its features `seal` and `live` stays small: that is what the features are for.

use std::collections::BTreeSet;
use std::process::Command;

const CRATES_MAX: usize = 125;

#[test]
fn without_seal_and_live_the_program_has_few_crates() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let words = ["tree", "--offline", "--locked", "--package", "coldstart", "--no-default-features"];
    let how = ["--edges", "normal", "--prefix", "none", "--no-dedupe"];
    let ran = Command::new(cargo).args(words).args(how).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let text = String::from_utf8(ran.stdout).unwrap();
    let crates: BTreeSet<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert!(crates.len() <= CRATES_MAX, "{} crates, {CRATES_MAX} at most:\n{text}", crates.len());
    for gone in ["coldstart-seal ", "coldstart-observe ", "kube ", "tokio "] {
        assert!(!crates.iter().any(|one| one.starts_with(gone)), "it has `{gone}` all the same");
    }
}
