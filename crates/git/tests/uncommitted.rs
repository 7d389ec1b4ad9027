//! What differs from the last commit, in a work tree whose settings a stranger wrote.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use coldstart_git as git;
use exec::{Environment, System};
use git::Git;
use tempfile::TempDir;

const FILES: [&str; 5] = ["clean.yaml", "process.yaml", "odd.yaml", "same.yaml", "apps/below.yaml"];

fn environment() -> Environment {
    Environment::everything()
        .with("GIT_CONFIG_NOSYSTEM", "1")
        .with("GIT_CONFIG_GLOBAL", "/dev/null")
        .with("GIT_AUTHOR_NAME", "a")
        .with("GIT_AUTHOR_EMAIL", "a@example.org")
        .with("GIT_COMMITTER_NAME", "a")
        .with("GIT_COMMITTER_EMAIL", "a@example.org")
}

fn user(directory: &Path) -> Git<'static> {
    Git::of_user(&System, directory, environment())
}

/// One commit, and then settings that have Git run a program which leaves a file behind: filters of every kind, one with a name that
/// `-c` can't give, a monitor of files, hooks; and the filter of a submodule.
fn hostile() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("tree");
    let module = root.join("module");
    for place in [&module, &root] {
        fs::create_dir_all(place.join("apps")).unwrap();
        let git = user(place);
        git.print(["init", "--quiet", "--initial-branch", "main"]).unwrap();
        for file in FILES {
            fs::write(place.join(file), "a: 1\n").unwrap();
        }
        let attributes = "clean.yaml filter=clean\nprocess.yaml filter=process\nodd.yaml filter=a.b=c\n";
        fs::write(place.join(".gitattributes"), attributes).unwrap();
        git.print(["add", "."]).unwrap();
        git.print(["commit", "--quiet", "--message", "One"]).unwrap();
    }
    let program = directory.path().join("program");
    fs::write(&program, format!("#!/bin/sh\ntouch '{}'\ncat\n", ran(&directory).display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    for place in [&root, &module] {
        let git = user(place);
        for key in [
            "filter.clean.clean",
            "filter.clean.smudge",
            "filter.process.process",
            "filter.a.b=c.clean",
            "core.fsmonitor",
        ] {
            git.print(["config", key, program]).unwrap();
        }
        git.print(["config", "filter.process.required", "true"]).unwrap();
        fs::create_dir_all(place.join(".git/hooks")).unwrap();
        for hook in ["post-index-change", "pre-commit"] {
            fs::copy(program, place.join(".git/hooks").join(hook)).unwrap();
        }
        // Same length, another time: Git has to look into each of them.
        for file in FILES {
            fs::write(place.join(file), "a: 1\n").unwrap();
        }
        fs::write(place.join("clean.yaml"), "a: 2\n").unwrap();
    }
    directory
}

fn ran(directory: &TempDir) -> std::path::PathBuf {
    directory.path().join("ran")
}

#[test]
fn what_differs_is_listed_without_a_program_that_the_repository_names() {
    let directory = hostile();
    let root = directory.path().join("tree");
    fs::write(root.join("apps/new.yaml"), "a: 1\n").unwrap();
    let asking = |place: &Path| Git::asking(&System, place, environment()).uncommitted().unwrap();
    let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(asking(&root), paths(&["apps/new.yaml", "clean.yaml"]));
    assert_eq!(asking(&root.join("apps")), paths(&["new.yaml"]));
    assert!(!ran(&directory).exists(), "a program of the repository ran");

    // The same question as the user would ask it runs them: the trap is one.
    user(&root).run(["status", "--porcelain"], &[]).unwrap();
    assert!(ran(&directory).exists());
}

#[test]
fn without_filters_nothing_else_changes() {
    let directory = tempfile::tempdir().unwrap();
    let git = user(directory.path());
    git.print(["init", "--quiet"]).unwrap();
    fs::write(directory.path().join("a b.yaml"), "a: 1\n").unwrap();
    let asked = Git::asking(&System, directory.path(), environment()).uncommitted().unwrap();
    assert_eq!(asked.into_iter().collect::<Vec<_>>(), ["a b.yaml"]);
}
