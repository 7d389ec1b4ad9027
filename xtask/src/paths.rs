//! `cargo xtask paths`: the directories that the Flux Kustomizations of a tree build, for the real kustomize to build too.
//!
//! `coldstart graph` says which ones `check` builds. Without a program to ask, every `spec.path` in the tree is taken, also
//! of Kustomizations that nothing reaches. Counts what it leaves out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;

use crate::parallel;
use crate::parse::{cores, yaml_files};

const KUSTOMIZATION_FILES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The tree to look through
    directory: PathBuf,
    /// The program to ask [default: none, look at the files]
    #[arg(long, value_name = "PATH")]
    bin: Option<PathBuf>,
}

/// The directories of a tree that kustomize could build, and those it could not.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    pub buildable: BTreeSet<PathBuf>,
    /// Named, but with a variable in it, absent, or without a kustomization file (Flux would write one).
    pub other: BTreeSet<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    ensure!(options.directory.is_dir(), "{} is not a directory", options.directory.display());
    let paths = find(&options.directory, options.bin.as_deref())?;
    for path in &paths.buildable {
        println!("{}", path.display());
    }
    eprintln!("{} to build, {} others", paths.buildable.len(), paths.other.len());
    Ok(())
}

pub(crate) fn find(tree: &Path, binary: Option<&Path>) -> Result<Paths> {
    let named = match binary {
        Some(binary) => built(binary, tree)?,
        None => parallel::map(&yaml_files(tree), cores(), |file| named(file)).into_iter().flatten().collect(),
    };
    Ok(sort(tree, named))
}

/// The directories that `coldstart graph` says Kustomizations build.
fn built(binary: &Path, tree: &Path) -> Result<BTreeSet<String>> {
    let output = Command::new(binary).args(["graph", "--format", "json"]).arg(tree).output()?;
    let graph: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{} graph printed no JSON for {}", binary.display(), tree.display()))?;
    let list = |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let components = list(&graph, "clusters").into_iter().flat_map(|cluster| list(&cluster, "components"));
    let kustomizations = components.filter(|it| it.get("kind").and_then(Value::as_str) == Some("Kustomization"));
    Ok(kustomizations.filter_map(|it| it.get("path")?.as_str().map(normal)).collect())
}

fn sort(tree: &Path, named: BTreeSet<String>) -> Paths {
    let mut paths = Paths::default();
    for path in named {
        let directory = tree.join(path.trim_start_matches("./"));
        let is_inside = !path.contains("..") && !path.contains('$');
        if is_inside && KUSTOMIZATION_FILES.iter().any(|file| directory.join(file).is_file()) {
            paths.buildable.insert(directory);
        } else {
            paths.other.insert(path);
        }
    }
    paths
}

/// `spec.path` of the Flux Kustomizations in one file.
fn named(file: &Path) -> Vec<String> {
    let Ok(text) = std::fs::read_to_string(file) else { return Vec::new() };
    if !text.contains("kustomize.toolkit.fluxcd.io") {
        return Vec::new();
    }
    let documents = yaml::parse(source::FileId(0), &text, yaml::Limits::default());
    let roots = documents.iter().filter_map(|document| document.root.as_ref());
    let kustomizations = roots.filter(|root| {
        let version = root.text_at(&["apiVersion"]).unwrap_or_default();
        version.starts_with("kustomize.toolkit.fluxcd.io/") && root.text_at(&["kind"]) == Some("Kustomization")
    });
    kustomizations.filter_map(|root| root.text_at(&["spec", "path"])).map(normal).collect()
}

/// `./a/b/`, `/a/b` and `a/b` are one path to Flux.
fn normal(path: &str) -> String {
    path.trim_start_matches("./").trim_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_flux_kustomizations_with_a_file_to_build() {
        let tree = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let ks = |path: &str| {
            format!("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec:\n  path: {path}\n---\n")
        };
        write(
            "ks.yaml",
            &(ks("./a/") + &ks("a") + &ks("./absent") + &ks("./${X}") + "kind: Other\nspec:\n  path: ./b\n"),
        );
        write("a/kustomization.yaml", "resources: []\n");
        write("b/kustomization.yaml", "resources: []\n");
        let paths = find(tree.path(), None).unwrap();
        assert_eq!(paths.buildable, BTreeSet::from([tree.path().join("a")]));
        assert_eq!(paths.other, BTreeSet::from(["absent".to_owned(), "${X}".to_owned()]));
    }
}
