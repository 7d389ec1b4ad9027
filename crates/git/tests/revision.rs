//! A repository that is made here, read again by its revisions.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use coldstart_git as git;
use exec::{Answer, Environment, Scripted, System};
use git::{Git, GitError, Room};
use tempfile::TempDir;

const BYTES_MAX: u64 = 1024;
const ROOM: Room = Room { file_bytes_max: BYTES_MAX, files_max: 100, bytes_max: 10 * BYTES_MAX };

fn user(directory: &Path) -> Git<'static> {
    let environment = Environment::everything()
        .with("GIT_CONFIG_NOSYSTEM", "1")
        .with("GIT_CONFIG_GLOBAL", "/dev/null")
        .with("GIT_AUTHOR_NAME", "a")
        .with("GIT_AUTHOR_EMAIL", "a@example.org")
        .with("GIT_COMMITTER_NAME", "a")
        .with("GIT_COMMITTER_EMAIL", "a@example.org");
    Git::of_user(&System, directory, environment)
}

/// A repository with one commit.
fn repository() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let git = user(directory.path());
    git.print(["init", "--quiet", "--initial-branch", "main"]).unwrap();
    fs::create_dir_all(directory.path().join("apps")).unwrap();
    fs::write(directory.path().join("apps/one.yaml"), "a: 1\n").unwrap();
    fs::write(directory.path().join("large"), vec![b'x'; 2048]).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("one.yaml", directory.path().join("apps/link.yaml")).unwrap();
    git.print(["add", "."]).unwrap();
    git.print(["commit", "--quiet", "--message", "One"]).unwrap();
    directory
}

fn written(git: &Git<'_>, revision: &str) -> BTreeMap<String, String> {
    let target = tempfile::tempdir().unwrap();
    let tree = git.tree(revision).unwrap();
    if let Some(tree) = tree {
        git.write(&tree, target.path(), ROOM).unwrap();
    }
    let mut found = BTreeMap::new();
    let mut open = vec![target.path().to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(target.path()).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn a_revision_is_written_without_what_is_too_large() {
    let directory = repository();
    fs::write(directory.path().join("apps/one.yaml"), "a: 2\n").unwrap();
    let files = written(&Git::reading(&System, directory.path()), "HEAD");
    assert_eq!(files.get("apps/one.yaml").map(String::as_str), Some("a: 1\n"), "as committed, not as it is now");
    assert!(!files.contains_key("large"));
    #[cfg(unix)]
    assert_eq!(files.get("apps/link.yaml").map(String::as_str), Some("a: 1\n"));
}

#[test]
fn a_part_is_the_tree_of_that_directory() {
    let directory = repository();
    let files = written(&Git::reading(&System, &directory.path().join("apps")), "main");
    assert!(files.contains_key("one.yaml"), "{files:?}");
    fs::create_dir(directory.path().join("new")).unwrap();
    assert!(written(&Git::reading(&System, &directory.path().join("new")), "main").is_empty());
}

#[test]
fn a_bare_repository_is_read_too() {
    let directory = repository();
    let git = Git::bare(&System, &directory.path().join(".git"));
    assert!(git.print(["rev-parse", "HEAD"]).unwrap().trim().len() >= 40);
}

#[test]
fn what_is_not_there_is_said() {
    let directory = repository();
    let git = Git::reading(&System, directory.path());
    git.is_in_repository().unwrap();
    assert!(matches!(git.tree("nothing"), Err(GitError::UnknownRevision)));
    assert!(matches!(git.tree("--help"), Err(GitError::UnknownRevision)), "a name with a dash is no option");
    let elsewhere = tempfile::tempdir().unwrap();
    let lost = Git::reading(&System, elsewhere.path()).is_in_repository();
    assert!(matches!(lost, Err(GitError::NotARepository { .. })), "{lost:?}");
}

#[test]
fn nothing_that_a_repository_configured_is_run() {
    let runner = Scripted::new([Answer::prints(".git\n")]);
    Git::reading(&runner, Path::new("/somewhere")).is_in_repository().unwrap();
    let [call] = &runner.calls()[..] else { panic!("one call") };
    assert_eq!(
        call.line(),
        "git -C /somewhere -c safe.bareRepository=explicit --no-pager --no-optional-locks --literal-pathspecs -c core.fsmonitor=false -c core.hooksPath=/dev/null -c protocol.allow=never rev-parse --git-dir"
    );
    let set: Vec<_> = call.environment.set().map(|(name, _)| name.to_str().unwrap()).collect();
    assert_eq!(set, ["GIT_ALLOW_PROTOCOL", "GIT_NO_LAZY_FETCH", "GIT_NO_REPLACE_OBJECTS", "GIT_TERMINAL_PROMPT"]);
}

#[test]
fn an_early_end_is_an_error() {
    let runner = Scripted::new([Answer::prints("aa blob 3\nabc\n")]);
    let git = Git::bare(&runner, Path::new("/somewhere"));
    let mut taken = Vec::new();
    let ran = git.blobs(["aa", "bb"], BYTES_MAX, &mut |at, bytes| {
        taken.push((at, bytes));
        Ok(())
    });
    assert!(matches!(ran, Err(GitError::EndedEarly)), "{ran:?}");
    assert_eq!(taken, [(0, b"abc".to_vec())]);
}

#[test]
fn a_revision_that_is_too_large_is_refused() {
    let directory = repository();
    let git = Git::reading(&System, directory.path());
    let tree = git.tree("HEAD").unwrap().unwrap();
    for room in [Room { files_max: 1, ..ROOM }, Room { bytes_max: 3, ..ROOM }] {
        let target = tempfile::tempdir().unwrap();
        let ran = git.write(&tree, target.path(), room);
        assert!(matches!(ran, Err(GitError::TooLarge { .. })), "{ran:?}");
    }
}

/// A clone without the trees or the files of earlier commits, which git would fetch one by one.
#[test]
fn a_partial_clone_is_told_and_never_taken_for_an_empty_revision() {
    let from = repository();
    let git = user(from.path());
    git.print(["config", "uploadpack.allowFilter", "true"]).unwrap();
    fs::write(from.path().join("apps/one.yaml"), "a: 2\n").unwrap();
    fs::create_dir_all(from.path().join("more/deep")).unwrap();
    fs::write(from.path().join("more/deep/two.yaml"), "b: 1\n").unwrap();
    git.print(["add", "."]).unwrap();
    git.print(["commit", "--quiet", "--message", "Two"]).unwrap();
    let url = format!("file://{}", from.path().display());
    for filter in ["--filter=blob:none", "--filter=tree:0", "--filter=tree:1"] {
        let away = tempfile::tempdir().unwrap();
        let place = away.path().join("clone");
        let clone = ["clone", "--quiet", filter, &url, place.to_str().unwrap()];
        user(away.path()).print(clone).unwrap();
        let git = Git::reading(&System, &place);
        let ran = git.tree("HEAD~1").and_then(|tree| git.write(&tree.unwrap(), &away.path().join("out"), ROOM));
        assert!(matches!(ran, Err(GitError::Partial)), "{filter}: {ran:?}");
        // What is told to be typed makes it whole.
        user(&place).print(["fetch", "--quiet", "--refetch", "--no-filter"]).unwrap();
        git.write(&git.tree("HEAD~1").unwrap().unwrap(), &away.path().join("whole"), ROOM).unwrap();
    }
}
