//! The rooms that do no IO and know no clock stay so.

use std::fs;
use std::path::{Path, PathBuf};

/// What goes from data to data.
const PURE: [&str; 8] = ["catalogue", "check", "draw", "graph", "kustomize", "model", "simulate", "yaml"];
const BANNED: [&str; 7] =
    ["std::fs", "std::net", "std::process", "std::env", "SystemTime", "Instant::now", "thread::sleep"];

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
fn pure_crates_touch_neither_files_nor_clocks_nor_processes() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut files = Vec::new();
    for name in PURE {
        sources(&crates.join(name).join("src"), &mut files);
    }
    assert!(files.len() > 100, "only {} sources were found", files.len());
    let mut touched = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source");
        // Tests at the end of a file may read what they like.
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = product.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        for (number, line) in lines.filter(|(_, line)| BANNED.iter().any(|banned| line.contains(banned))) {
            touched.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
        }
    }
    assert!(touched.is_empty(), "{}", touched.join("\n"));
}
