//! Files on a real disk: whole or untouched, whatever happens.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;

use coldstart_edit as edit;
use edit::{Change, Changes, ChangesError, Faults, Guard, Journal, Lock, LockError, Readers, Step, UndoError};
use tempfile::TempDir;

/// Tells the program that this test starts where it is to end.
const KILL_AT: &str = "EDIT_TEST_KILL_AT";
const PLACE: &str = "EDIT_TEST_PLACE";
const JOURNAL: &str = "EDIT_TEST_JOURNAL";
const FILES: [(&str, &str); 3] = [("a.yaml", "a: 1\n"), ("b/b.yaml", "b: 1\n"), ("c.yaml", "c: 1\n")];

fn nowhere(_: &Path) -> Option<PathBuf> {
    None
}

fn tree() -> TempDir {
    let tree = tempfile::tempdir().unwrap();
    for (path, text) in FILES {
        fs::create_dir_all(tree.path().join(path).parent().unwrap()).unwrap();
        fs::write(tree.path().join(path), text).unwrap();
    }
    tree
}

/// Everything below a directory.
fn texts(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                found.insert(format!("{name}/"), String::new());
                open.push(path);
            } else {
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

fn change(root: &Path, path: &str, before: Option<&str>, after: &str) -> Change {
    let before = before.map(|text| text.as_bytes().to_vec());
    Change { path: root.join(path), before, after: Some(after.as_bytes().to_vec()), from: None }
}

/// The same three files, one of which moves, and a journal elsewhere.
fn moves(root: &Path, journal: &Path) -> Changes {
    let mut changes = Changes::below(root, Readers::Usual).journalled(Journal::new(journal, root));
    for (path, text) in FILES.into_iter().filter(|(path, _)| *path != "b/b.yaml") {
        changes.add(change(root, path, Some(text), &text.replace('1', "2")));
    }
    changes.add(Change { path: root.join("b/b.yaml"), before: Some(b"b: 1\n".to_vec()), after: None, from: None });
    let from = Some(root.join("b/b.yaml"));
    changes.add(Change { from, ..change(root, "new/b.yaml", None, "b: 1\n") });
    changes
}

/// All three files, and a new one in a new directory.
fn changes(root: &Path) -> Changes {
    let mut changes = Changes::below(root, Readers::Usual);
    for (path, text) in FILES {
        changes.add(change(root, path, Some(text), &text.replace('1', "2")));
    }
    changes.add(change(root, "new/d.yaml", None, "d: 2\n"));
    changes
}

/// Fails one step, counted from 0, and with it every later one if it is for good.
struct FailsAt {
    at: usize,
    is_for_good: bool,
    seen: RefCell<Vec<Step>>,
}

impl Faults for FailsAt {
    fn before(&self, step: Step, _: &Path) -> io::Result<()> {
        let mut seen = self.seen.borrow_mut();
        let number = seen.len();
        seen.push(step);
        let fails = if self.is_for_good { number >= self.at } else { number == self.at };
        if fails { Err(ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

/// What there is after all of [`moves`].
fn moved() -> BTreeMap<String, String> {
    [("a.yaml", "a: 2\n"), ("c.yaml", "c: 2\n"), ("new/", ""), ("new/b.yaml", "b: 1\n")]
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .into()
}

fn fails_at(at: usize, is_for_good: bool) -> FailsAt {
    FailsAt { at, is_for_good, seen: RefCell::default() }
}

#[test]
fn all_files_change_and_nothing_is_left_beside_them() {
    let tree = tree();
    changes(tree.path()).write(&nowhere).unwrap();
    let texts = texts(tree.path());
    let names: Vec<&str> = texts.keys().map(String::as_str).collect();
    assert_eq!(names, ["a.yaml", "b/", "b/b.yaml", "c.yaml", "new/", "new/d.yaml"]);
    assert!(texts.iter().all(|(name, text)| name.ends_with('/') || text.ends_with("2\n")), "{texts:?}");
}

#[test]
fn whatever_step_fails_nothing_changes() {
    let count = fails_at(usize::MAX, false);
    changes(tree().path()).write_with(&nowhere, &count).unwrap();
    let steps = count.seen.into_inner();
    assert_eq!(steps.iter().filter(|step| **step == Step::Rename).count(), 4);
    for (at, step) in steps.iter().enumerate() {
        let tree = tree();
        let before = texts(tree.path());
        let result = changes(tree.path()).write_with(&nowhere, &fails_at(at, false));
        assert!(matches!(result, Err(ChangesError::Io { .. })), "{step:?}: {result:?}");
        assert_eq!(texts(tree.path()), before, "step {at}, {step:?}");
    }
}

#[test]
fn a_file_goes_with_its_empty_directory_or_stays_whatever_step_fails() {
    let journals = tempfile::tempdir().unwrap();
    let journal = journals.path().join("journal");
    let count = fails_at(usize::MAX, false);
    let done = tree();
    moves(done.path(), &journal).write_with(&nowhere, &count).unwrap();
    assert_eq!(texts(done.path()), moved());
    assert!(!journal.exists());
    for (at, step) in count.seen.into_inner().into_iter().enumerate() {
        let tree = tree();
        let before = texts(tree.path());
        let result = moves(tree.path(), &journal).write_with(&nowhere, &fails_at(at, false));
        assert!(matches!(result, Err(ChangesError::Io { .. })), "{step:?}: {result:?}");
        assert_eq!(texts(tree.path()), before, "step {at}, {step:?}");
        assert!(!journal.exists(), "step {at}, {step:?}");
    }
}

#[test]
fn what_can_not_be_undone_is_named() {
    let tree = tree();
    // Eight steps make everything ready; the second rename is the tenth step.
    let result = changes(tree.path()).write_with(&nowhere, &fails_at(9, true));
    let Err(ChangesError::NotRestored { left, source }) = result else { panic!("{result:?}") };
    assert!(matches!(*source, ChangesError::Io { .. }));
    let changed: Vec<PathBuf> = FILES
        .iter()
        .map(|(path, _)| tree.path().canonicalize().unwrap().join(path))
        .filter(|path| fs::read_to_string(path).unwrap().ends_with("2\n"))
        .collect();
    assert_eq!((left.len(), left), (1, changed));
}

#[test]
fn a_file_that_was_changed_meanwhile_stays_and_so_do_the_others() {
    for (path, text) in [("b/b.yaml", Some("b: mine\n")), ("c.yaml", None), ("new/d.yaml", Some("d: mine\n"))] {
        let tree = tree();
        let file = tree.path().join(path);
        match text {
            Some(text) => {
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, text).unwrap();
            }
            None => fs::remove_file(&file).unwrap(),
        }
        let before = texts(tree.path());
        let result = changes(tree.path()).write(&nowhere);
        assert!(result.is_err(), "{path}");
        assert_eq!(texts(tree.path()), before, "{path}: {result:?}");
    }
}

#[test]
fn nothing_outside_of_the_root_is_changed() {
    let tree = tree();
    let root = tree.path().join("b");
    for path in ["../a.yaml", "../new/x.yaml", "missing/../../a.yaml"] {
        let mut changes = Changes::below(&root, Readers::Usual);
        changes.add(change(&root, path, Some("a: 1\n"), "a: 2\n"));
        let result = changes.write(&nowhere);
        assert!(matches!(result, Err(ChangesError::Outside { .. })), "{path}: {result:?}");
    }
    assert_eq!(fs::read_to_string(tree.path().join("a.yaml")).unwrap(), "a: 1\n");
    let mut twice = Changes::below(tree.path(), Readers::Usual);
    twice.add(change(tree.path(), "a.yaml", Some("a: 1\n"), "a: 2\n"));
    twice.add(change(tree.path(), "b/../a.yaml", Some("a: 1\n"), "a: 3\n"));
    assert!(matches!(twice.write(&nowhere), Err(ChangesError::Twice { .. })));
}

#[cfg(unix)]
#[test]
fn links_stay_links_and_lead_nowhere_else() {
    use std::os::unix::fs::symlink;
    let (tree, outside) = (tree(), tree());
    symlink("a.yaml", tree.path().join("inside.yaml")).unwrap();
    symlink(outside.path().join("a.yaml"), tree.path().join("outside.yaml")).unwrap();
    symlink(outside.path(), tree.path().join("away")).unwrap();
    let write = |path: &str| {
        let mut changes = Changes::below(tree.path(), Readers::Usual);
        changes.add(change(tree.path(), path, Some("a: 1\n"), "a: 2\n"));
        changes.write(&nowhere)
    };
    write("inside.yaml").unwrap();
    assert_eq!(fs::read_to_string(tree.path().join("a.yaml")).unwrap(), "a: 2\n");
    assert!(fs::symlink_metadata(tree.path().join("inside.yaml")).unwrap().is_symlink());
    for path in ["outside.yaml", "away/a.yaml"] {
        assert!(matches!(write(path), Err(ChangesError::Outside { .. })), "{path}");
    }
    assert_eq!(fs::read_to_string(outside.path().join("a.yaml")).unwrap(), "a: 1\n");
}

#[cfg(unix)]
#[test]
fn permissions_stay_and_new_files_are_for_whom_they_are_meant() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = tree();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = tree.path().join("a.yaml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    edit::replace(&file, b"a: 2\n", Readers::Owner).unwrap();
    assert_eq!(mode(&file), 0o640);
    let (own, usual, plain) = (tree.path().join("own"), tree.path().join("usual"), tree.path().join("plain"));
    edit::replace(&own, b"x", Readers::Owner).unwrap();
    edit::replace(&usual, b"x", Readers::Usual).unwrap();
    fs::write(&plain, b"x").unwrap();
    assert_eq!((mode(&own), mode(&usual)), (0o600, mode(&plain)));
}

#[test]
fn one_that_is_there_is_not_made_again() {
    let tree = tree();
    let file = tree.path().join("a.yaml");
    assert_eq!(edit::create(&file, b"x", Readers::Usual).unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(&file).unwrap(), "a: 1\n");
    edit::create(&tree.path().join("e.yaml"), b"e: 1\n", Readers::Usual).unwrap();
    assert_eq!(texts(tree.path()).len(), 5);
    assert!(!edit::replace_unchanged(&file, Some(b"a: 0\n"), b"x", Readers::Usual).unwrap());
    assert!(edit::replace_unchanged(&file, Some(b"a: 1\n"), b"a: 2\n", Readers::Usual).unwrap());
    assert_eq!(edit::replace(tree.path(), b"x", Readers::Usual).unwrap_err().kind(), ErrorKind::IsADirectory);
}

#[test]
fn an_error_names_no_temporary_file() {
    let missing = tempfile::tempdir().unwrap().path().join("gone/file");
    let error = edit::replace(&missing, b"x", Readers::Usual).unwrap_err();
    assert_eq!((error.kind(), error.to_string().contains(".coldstart-")), (ErrorKind::NotFound, false), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_written_to_and_never_replaced() {
    use std::os::unix::fs::FileTypeExt as _;
    edit::write(Path::new("/dev/null"), b"x", Readers::Usual).unwrap();
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert!(edit::replace(Path::new("/dev/null"), b"x", Readers::Usual).is_err());
}

#[test]
fn the_second_writer_waits_for_the_first() {
    let tree = tree();
    let file = tree.path().join("a.yaml");
    let first = Guard::of(&file, &nowhere).unwrap();
    // Threads of one program share it.
    let second = Guard::of(&tree.path().join("c.yaml"), &nowhere).unwrap();
    let other = fs::File::open(tree.path()).unwrap();
    assert!(other.try_lock().is_err(), "another program would have to wait");
    drop((first, second));
    other.try_lock().unwrap();
    let beside = Lock::beside(&file).unwrap();
    assert!(tree.path().join("a.yaml.lock").is_file());
    drop(beside);
    assert!(matches!(Lock::directory(&tree.path().join("none")), Err(LockError::Io { .. })));
}

/// Not a test by itself: the program that the next one starts and that dies on the way.
#[test]
fn victim() {
    struct KilledAt(RefCell<usize>);
    impl Faults for KilledAt {
        fn before(&self, _: Step, _: &Path) -> io::Result<()> {
            let left = *self.0.borrow();
            if left == 0 {
                // As a kill or a power cut: nothing is put in order.
                std::process::abort();
            }
            *self.0.borrow_mut() = left - 1;
            Ok(())
        }
    }
    let (Ok(at), Some(place)) = (std::env::var(KILL_AT), std::env::var_os(PLACE)) else { return };
    let faults = KilledAt(RefCell::new(at.parse().unwrap()));
    let all = match std::env::var_os(JOURNAL) {
        Some(journal) => moves(Path::new(&place), Path::new(&journal)),
        None => changes(Path::new(&place)),
    };
    all.write_with(&nowhere, &faults).unwrap();
}

/// Runs the program above, which ends at this step; says whether it came to its end.
fn killed_at(at: usize, place: &Path, journal: Option<&Path>) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "victim"]).env(KILL_AT, at.to_string()).env(PLACE, place);
    command.envs(journal.map(|journal| (JOURNAL, journal)));
    command.output().unwrap().status.success()
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o777
}

#[cfg(unix)]
#[test]
fn after_a_kill_at_any_step_the_journal_gives_everything_back() {
    // One for the journal, two for each of four files, and four that rename or remove.
    const STEPS: usize = 13;
    let journals = tempfile::tempdir().unwrap();
    for at in 0..=STEPS {
        let (tree, journal) = (tree(), journals.path().join(at.to_string()));
        let before = texts(tree.path());
        set_mode(&tree.path().join("b/b.yaml"), 0o750);
        let is_done = killed_at(at, tree.path(), Some(&journal));
        assert_eq!((is_done, journal.exists()), (at == STEPS, (1..STEPS).contains(&at)), "step {at}");
        Journal::new(&journal, tree.path()).undo().unwrap();
        assert_eq!(texts(tree.path()), if is_done { moved() } else { before }, "step {at}");
        let moved = tree.path().join(if is_done { "new/b.yaml" } else { "b/b.yaml" });
        assert_eq!(mode(&moved), 0o750, "step {at}");
        assert!(!journal.exists());
    }
}

#[test]
fn a_journal_is_not_followed_over_what_was_changed_since() {
    let journals = tempfile::tempdir().unwrap();
    let (tree, journal) = (tree(), journals.path().join("journal"));
    assert!(!killed_at(11, tree.path(), Some(&journal)));
    fs::write(tree.path().join("c.yaml"), "c: mine\n").unwrap();
    let left = texts(tree.path());
    let refused = Journal::new(&journal, tree.path()).undo();
    assert!(matches!(refused, Err(UndoError::Changed(_))), "{refused:?}");
    assert_eq!((texts(tree.path()), journal.exists()), (left, true));
    fs::write(&journal, "something else").unwrap();
    assert!(matches!(Journal::new(&journal, tree.path()).undo(), Err(UndoError::Foreign(_))));
    let held = fs::File::open(&journal).unwrap();
    held.lock().unwrap();
    assert!(matches!(Journal::new(&journal, tree.path()).undo(), Err(UndoError::Busy(_))));
    assert!(Journal::new(&journals.path().join("none"), tree.path()).undo().unwrap().is_empty());
}

#[test]
fn a_program_that_is_killed_leaves_every_file_whole() {
    const STEPS: usize = 12;
    for at in 0..=STEPS {
        let tree = tree();
        assert_eq!(killed_at(at, tree.path(), None), at == STEPS, "step {at}");
        for directory in ["", "b", "new"] {
            edit::remove_stale(&tree.path().join(directory));
        }
        let texts = texts(tree.path());
        for (path, old) in FILES {
            assert!([old, &old.replace('1', "2")].contains(&texts[path].as_str()), "step {at}: {texts:?}");
        }
        let known = ["a.yaml", "b/", "b/b.yaml", "c.yaml", "new/", "new/d.yaml"];
        assert!(texts.keys().all(|name| known.contains(&name.as_str())), "step {at}: {texts:?}");
        // The next run finds nothing in its way.
        edit::replace(&tree.path().join("a.yaml"), b"a: 3\n", Readers::Usual).unwrap();
    }
}
