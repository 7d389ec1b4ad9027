//! The builds that edits can reach, made by the real kustomize.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use ignore::WalkBuilder;
use repository::path;
use source::FileId;
use yaml::{Limits, Node, Value};

use super::meant::{Objects, objects};
use crate::kustomize_diff::{FILE_NAMES, real_build};

/// What is built.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// A directory with a kustomization.
    Directory(String),
    /// A file that no kustomization leads to: Flux takes all of its directory.
    File(String),
}

impl Target {
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Directory(path) | Self::File(path) => path,
        }
    }

    pub(super) fn is_there(&self, root: &Path) -> bool {
        match self {
            Self::Directory(path) => FILE_NAMES.iter().any(|name| root.join(path).join(name).is_file()),
            Self::File(path) => root.join(path).is_file(),
        }
    }

    /// What the real kustomize builds of it. `beside` is a directory beside the root.
    pub(super) fn build(&self, kustomize: &Path, root: &Path, beside: &Path) -> Result<Option<Objects>> {
        let directory = match self {
            Self::Directory(path) => root.join(path),
            Self::File(path) => {
                let name = root.file_name().context("a root with a name")?.to_string_lossy();
                fs::create_dir_all(beside)?;
                let listed = serde_json::to_string(&format!("../{name}/{path}"))?;
                fs::write(beside.join("kustomization.yaml"), format!("resources:\n  - {listed}\n"))?;
                beside.to_path_buf()
            }
        };
        Ok(real_build(kustomize, &directory).ok().map(|text| objects(&text)))
    }
}

/// Every directory whose kustomization leads to one of these files, directly or through others, and the files that none leads to.
pub(super) fn reached(root: &Path, files: &BTreeSet<String>) -> BTreeSet<Target> {
    let leads = references(root);
    let mut reached: BTreeSet<&str> = files.iter().map(String::as_str).collect();
    let mut directories: BTreeSet<&str> = BTreeSet::new();
    loop {
        let is_new = |(directory, to): &(&String, &BTreeSet<String>)| {
            !directories.contains(directory.as_str()) && to.iter().any(|to| reached.contains(to.as_str()))
        };
        let new: Vec<&str> = leads.iter().filter(is_new).map(|(directory, _)| directory.as_str()).collect();
        if new.is_empty() {
            break;
        }
        directories.extend(&new);
        reached.extend(new);
    }
    let is_listed = |file: &&String| leads.values().any(|to| to.contains(*file));
    let alone = files.iter().filter(|file| !is_listed(file) && is_yaml(file));
    let all = directories.into_iter().map(|directory| Target::Directory(directory.to_owned()));
    all.chain(alone.map(|file| Target::File(file.clone()))).collect()
}

fn is_yaml(path: &str) -> bool {
    [".yaml", ".yml"].iter().any(|ending| path.ends_with(ending))
}

/// For each directory with a kustomization, the paths from the root that this names, and itself.
fn references(root: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut all = BTreeMap::new();
    for entry in WalkBuilder::new(root).standard_filters(false).build().flatten() {
        let Ok(below) = entry.path().strip_prefix(root) else { continue };
        let Some(below) = below.to_str().filter(|_| entry.path().is_file()) else { continue };
        let (directory, name) = below.rsplit_once('/').unwrap_or(("", below));
        if !FILE_NAMES.contains(&name) {
            continue;
        }
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let mut named = BTreeSet::from([below.to_owned()]);
        for document in yaml::parse(FileId::GENERATED, &text, Limits::default()) {
            document.root.iter().for_each(|root| names(directory, root, &mut named));
        }
        all.insert(directory.to_owned(), named);
    }
    all
}

/// Every text that may be a path; some have a key before them.
fn names(directory: &str, node: &Node, named: &mut BTreeSet<String>) {
    match &node.value {
        Value::Scalar(scalar) => {
            let text = scalar.text.rsplit('=').next().unwrap_or_default();
            named.extend(path::join(directory, text));
        }
        Value::Seq(items) => items.iter().for_each(|item| names(directory, item, named)),
        Value::Map(map) => map.iter().for_each(|entry| names(directory, &entry.value, named)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::{Target, reached};

    #[test]
    fn a_file_is_reached_through_all_that_list_it() {
        let root = tempfile::tempdir().expect("a directory");
        for (path, text) in [
            ("base/kustomization.yaml", "resources: [app.yaml]\n"),
            ("base/app.yaml", ""),
            ("over/kustomization.yaml", "resources: [../base]\n"),
            ("other/kustomization.yaml", "resources: [app.yaml]\n"),
            ("other/app.yaml", ""),
            ("flux/app.yaml", ""),
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        let files = BTreeSet::from(["base/app.yaml".to_owned(), "flux/app.yaml".to_owned()]);
        let found: Vec<Target> = reached(root.path(), &files).into_iter().collect();
        let directory = |path: &str| Target::Directory(path.to_owned());
        assert_eq!(found, [directory("base"), directory("over"), Target::File("flux/app.yaml".to_owned())]);
    }
}
