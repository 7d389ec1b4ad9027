//! Programs that seem to bootstrap a cluster, in languages that are not read.

use crate::naming::{is_archived, says_bootstrap};
use crate::repository::Repository;

/// What a program that puts things into a cluster speaks of.
const WORDS: [&str; 3] = ["CustomResourceDefinition", "kubectl", "helm"];

pub(super) fn find(repository: &Repository) -> Vec<String> {
    repository.paths().filter(|path| is_program(repository, path)).map(str::to_owned).collect()
}

/// A program below a directory or of a name that says bootstrap, which speaks of what is applied to a cluster.
fn is_program(repository: &Repository, path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_unread = matches!(ending, "go" | "py" | "ts" | "js" | "rb" | "rs" | "nu" | "ps1");
    let speaks = |text: &str| WORDS.iter().any(|word| text.contains(word));
    is_unread
        && says_bootstrap(path)
        && !is_archived(path)
        && repository.id(path).and_then(|file| repository.source(file)).is_some_and(|source| speaks(source.text()))
}
