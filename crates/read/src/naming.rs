//! What the name of a file or a directory says of its purpose: that it belongs to a bootstrap, or is kept but no longer used.
//!
//! Knows names only, not what files hold.

use kustomize::Files as _;

use crate::repository::Repository;
use ::repository::path;

/// How names of directories begin that hold what is kept but no longer used, in more than one spelling.
const ARCHIVES: [&str; 3] = ["archiv", "archieve", "attic"];

/// Whether a path says bootstrap anywhere.
pub(crate) fn says_bootstrap(path: &str) -> bool {
    path.contains("bootstrap")
}

/// Whether a path leads through a directory named `bootstrap`, or is one.
pub(crate) fn is_in_bootstrap_directory(path: &str) -> bool {
    path::parent(path).split('/').any(|part| part == "bootstrap" || part == ".bootstrap")
        || path.rsplit('/').next() == Some("bootstrap")
}

/// The directory that a bootstrap is kept in: two clusters may have one each.
pub(crate) fn before_bootstrap(path: &str) -> &str {
    let directory = path.find("bootstrap").map_or(path, |at| &path[..at]);
    path::parent(directory)
}

/// Whether a path leads into an archive.
pub(crate) fn is_archived(path: &str) -> bool {
    path.split('/').any(|part| ARCHIVES.iter().any(|name| part.trim_start_matches(['.', '_']).starts_with(name)))
}

/// Whether a directory is there to be read or copied, was given up, or is for tests.
pub(crate) fn is_for_show(directory: &str) -> bool {
    let names =
        ["deferred", "deprecated", "disabled", "doc", "docs", "example", "examples", "sample", "samples", "unused"];
    is_for_tests(directory) || directory.split('/').any(|part| names.contains(&part))
}

/// Whether a directory is a model that new ones are copied from.
pub(crate) fn is_template(directory: &str) -> bool {
    let names = ["boilerplate", "skeleton", "template", "templates"];
    directory.split('/').any(|part| names.contains(&part.trim_start_matches(['_', '.'])))
}

/// Whether a directory holds what only tests read.
pub(crate) fn is_for_tests(directory: &str) -> bool {
    let names = ["fixtures", "test-data", "testdata", "tests"];
    directory.split('/').any(|part| names.contains(&part))
}

/// Whether a file is a text for people.
pub(crate) fn is_document(path: &str) -> bool {
    path.rsplit('.').next() == Some("md")
}

/// Whether a file is of Ansible: tasks, plays and variables, with the commands that they run.
pub(crate) fn is_ansible(path: &str) -> bool {
    let Some((directory, name)) = path.rsplit_once('/') else { return false };
    let is_home = |part: &str| part.starts_with("ansible") || part == "playbooks";
    matches!(name.rsplit('.').next(), Some("yml" | "yaml" | "j2")) && directory.split('/').any(is_home)
}

/// Whether a file is one in which commands stand, to be run or to be typed: scripts, recipes, pipelines, Terraform, Ansible, documents.
pub(crate) fn holds_commands(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let is_recipes = ["makefile", "justfile", "taskfile", ".mise", "mise"].iter().any(|start| name.starts_with(start));
    let is_pipeline = path.starts_with(".github/") || path.contains("taskfiles/") || name == ".gitlab-ci.yml";
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let is_script =
        matches!(extension, Some("sh" | "bash" | "zsh" | "ps1" | "py" | "mk" | "just" | "tf" | "tofu" | "md"));
    is_recipes || is_pipeline || is_script || is_ansible(path) || crate::scripts::is_script(path)
}

/// Whether `path` is a file or directory of the repository.
pub(crate) fn exists(repository: &Repository, path: &str) -> bool {
    repository.kind(path) != kustomize::PathKind::Missing
}
