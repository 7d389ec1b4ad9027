//! What a repository calls the configuration beside an operator.

use model::{Cluster, ObjectRef, Role};
use read::Reading;
use repository::path;

/// Words for it, the usual one first.
const WORDS: [&str; 6] = ["config", "configs", "instances", "resources", "crs", "custom-resources"];
/// Directories that tell what is in them, not what it is for: the one above them does.
const PARTS: [&str; 13] = [
    "app",
    "base",
    "chart",
    "controller",
    "controllers",
    "core",
    "deploy",
    "helm",
    "install",
    "operator",
    "operators",
    "release",
    "system",
];

/// The words to try: the one that most Kustomizations of the repository have, and the kind that moves.
pub(super) fn words(reading: &Reading, kind: &str) -> [String; 2] {
    let paths = || {
        let components = reading.clusters.iter().flat_map(|cluster| &cluster.components);
        let own = components.filter(|component| component.role == Role::Kustomization);
        own.filter_map(|component| component.path.as_deref())
    };
    let has = |at: &str, word: &str| {
        let last = at.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        last == word || last.strip_suffix(word).is_some_and(|before| before.ends_with('-'))
    };
    let number = |word: &str| paths().filter(|at| has(at, word)).count();
    let mut word = WORDS[0];
    for other in WORDS {
        if number(other) > number(word) {
            word = other;
        }
    }
    [word.to_owned(), kind.to_lowercase()]
}

/// The directory beside another that a word stands for.
pub(super) fn directory(beside: &str, word: &str) -> String {
    let (above, last) = (path::parent(beside), beside.rsplit('/').next().unwrap_or(beside));
    let name = if PARTS.contains(&last) { word.to_owned() } else { format!("{last}-{word}") };
    if above.is_empty() { name } else { format!("{above}/{name}") }
}

/// The Kustomization that a word stands for beside another.
pub(super) fn object(beside: &ObjectRef, word: &str) -> ObjectRef {
    ObjectRef::new(beside.kind.clone(), beside.namespace.clone(), format!("{}-{word}", beside.name))
}

/// Whether no cluster has it.
pub(super) fn is_free(clusters: &[Cluster], object: &ObjectRef) -> bool {
    clusters.iter().all(|cluster| cluster.find(object).is_none())
}
