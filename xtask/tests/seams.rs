//! Every product crate denies what clippy.toml bans. The lint itself finds what is used all the same.

use std::fs;
use std::path::{Path, PathBuf};

const DENIED: &str = "#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]";
/// The floors: what the others reach files, programs and Git through.
const FLOORS: [&str; 4] = ["edit", "exec", "git", "repository"];
/// What goes from data to data: no exception is taken there.
const PURE: [&str; 12] = [
    "catalogue",
    "check",
    "diagnostic",
    "draw",
    "fix",
    "graph",
    "health",
    "kustomize",
    "layout",
    "model",
    "simulate",
    "yaml",
];
/// The workbench, which ships to nobody.
const WORKBENCH: [&str; 3] = ["fixtures", "lab", "trial"];

#[test]
fn every_product_crate_denies_what_the_floors_are_for() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut without = Vec::new();
    for entry in fs::read_dir(crates).expect("the crates") {
        let path = entry.expect("a crate").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name").to_owned();
        let root = ["src/lib.rs", "src/main.rs"].map(|file| path.join(file)).into_iter().find(|file| file.is_file());
        let text = fs::read_to_string(root.expect("a root of the crate")).expect("a source");
        if !text.lines().any(|line| line == DENIED) {
            without.push(name);
        }
    }
    without.sort_unstable();
    let mut exempt = [&FLOORS[..], &WORKBENCH].concat();
    exempt.sort_unstable();
    assert_eq!(without, exempt);
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn pure_crates_take_no_exception() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut files = Vec::new();
    for name in PURE {
        sources(&crates.join(name).join("src"), &mut files);
    }
    assert!(files.len() > 100, "only {} sources were found", files.len());
    let takes_one = |line: &str| {
        line != DENIED
            && ["clippy::disallowed_", "std::env", "std::process", "std::net"].iter().any(|it| line.contains(it))
    };
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source");
        // Tests at the end of a file may read what they like.
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = product.lines().filter(|line| !line.trim_start().starts_with("//") && takes_one(line));
        found.extend(lines.map(|line| format!("{}: {}", file.display(), line.trim())));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
