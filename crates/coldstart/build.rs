//! Tells the program which commit it is built from, as far as the files of Git do: nothing is run.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

const COMMIT_LETTERS: usize = 12;

fn main() {
    tell("rerun-if-changed=build.rs");
    tell("rerun-if-env-changed=COLDSTART_COMMIT");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let said = env::var("COLDSTART_COMMIT").ok().filter(|commit| !commit.is_empty());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let commit = said.or_else(|| commit(&root));
    let short = commit.as_deref().and_then(|commit| commit.get(..COMMIT_LETTERS)).map(|short| format!(" ({short})"));
    tell(&format!("rustc-env=COLDSTART_VERSION={version}{}", short.unwrap_or_default()));
}

/// The commit that is checked out.
fn commit(root: &Path) -> Option<String> {
    let git = directory(&root.join(".git"))?;
    let head = read(&git.join("HEAD"))?;
    // Every commit adds a line, also where the branch has no file of its own yet.
    let _moves = read(&git.join("logs/HEAD"));
    let Some(name) = head.strip_prefix("ref: ") else { return Some(head) };
    // A work tree of its own has its HEAD for itself, and shares the branches.
    let shared = read(&git.join("commondir")).map_or_else(|| git.clone(), |common| git.join(common));
    read(&shared.join(name)).or_else(|| packed(&shared, name))
}

/// Where Git keeps its files: `.git`, or the place that it names.
fn directory(at: &Path) -> Option<PathBuf> {
    if at.is_dir() {
        return Some(at.to_owned());
    }
    let named = fs::read_to_string(at).ok()?;
    Some(PathBuf::from(named.strip_prefix("gitdir: ")?.trim()))
}

fn packed(git: &Path, name: &str) -> Option<String> {
    let refs = read(&git.join("packed-refs"))?;
    let line = refs.lines().find(|line| line.ends_with(&format!(" {name}")))?;
    line.split(' ').next().map(str::to_owned)
}

/// The text of a file whose change is a change of the commit.
fn read(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    tell(&format!("rerun-if-changed={}", path.display()));
    Some(text.trim().to_owned())
}

fn tell(instruction: &str) {
    println!("cargo::{instruction}");
}
