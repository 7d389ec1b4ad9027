//! Files on a disk, and texts that are not there yet.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

use std::fs;
use std::path::Path;

use coldstart_repository as repository;
use repository::{Kind, OpenError, Packages, Tree, Unread, Unsaved, git_root};
use source::Source;
use tempfile::TempDir;

fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

fn open(root: &Path, unsaved: Unsaved) -> Tree {
    Tree::open(root, Packages::Left, unsaved).unwrap()
}

fn text<'t>(tree: &'t Tree, path: &str) -> Option<&'t str> {
    tree.source(tree.id(path)?).map(Source::text)
}

#[test]
fn a_text_that_is_not_saved_wins_over_the_disk() {
    let directory = directory(&[("a.yaml", "a: 1\n"), ("b/b.yaml", "b: 1\n")]);
    let mut unsaved = Unsaved::default();
    unsaved.set("b/b.yaml", "b: 2\n");
    let tree = open(directory.path(), unsaved);
    assert_eq!((text(&tree, "a.yaml"), text(&tree, "b/b.yaml")), (Some("a: 1\n"), Some("b: 2\n")));
    assert_eq!(tree.bytes("b/b.yaml"), Some(&b"b: 2\n"[..]));
    assert_eq!(tree.obstacle("b/b.yaml"), None);
    assert_eq!(fs::read_to_string(directory.path().join("b/b.yaml")).unwrap(), "b: 1\n");
}

#[test]
fn a_text_that_has_no_file_yet_is_one_more() {
    let directory = directory(&[("a.yaml", "a: 1\n")]);
    let mut unsaved = Unsaved::default();
    unsaved.set("new/c.yaml", "c: 1\n");
    unsaved.set("0.yaml", "");
    let tree = open(directory.path(), unsaved);
    assert_eq!(tree.paths().collect::<Vec<_>>(), ["0.yaml", "a.yaml", "new/c.yaml"]);
    assert_eq!((tree.kind("new"), tree.kind("new/c.yaml")), (Kind::Directory, Kind::File));
    assert_eq!((tree.names("new"), text(&tree, "new/c.yaml")), (&["c.yaml".to_owned()][..], Some("c: 1\n")));
}

#[test]
fn a_file_that_is_removed_before_it_is_saved_is_not_there() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("b")).unwrap();
    fs::write(directory.path().join("a.yaml"), "a: 1\n").unwrap();
    fs::write(directory.path().join("b/b.yaml"), "b: 1\n").unwrap();
    let mut unsaved = Unsaved::default();
    unsaved.remove("b/b.yaml");
    unsaved.remove("never-there.yaml");
    let tree = open(directory.path(), unsaved.clone());
    assert_eq!(tree.paths().collect::<Vec<_>>(), ["a.yaml"]);
    assert_eq!((tree.kind("b/b.yaml"), tree.kind("b")), (Kind::Missing, Kind::Missing));
    unsaved.set("b/b.yaml", "b: 2\n");
    assert_eq!(open(directory.path(), unsaved).paths().count(), 2);
}

#[test]
fn an_unsaved_text_hides_what_could_not_be_read() {
    let directory = directory(&[]);
    fs::write(directory.path().join("x.yaml"), [0xff, 0xfd]).unwrap();
    let tree = open(directory.path(), Unsaved::default());
    assert_eq!((tree.obstacle("x.yaml"), text(&tree, "x.yaml")), (Some(Unread::NotUtf8), None));
    let mut unsaved = Unsaved::default();
    unsaved.set("x.yaml", "x: 1\n");
    let tree = open(directory.path(), unsaved);
    assert_eq!((tree.obstacle("x.yaml"), text(&tree, "x.yaml")), (None, Some("x: 1\n")));
}

#[test]
fn the_root_of_a_work_tree_is_found_from_below() {
    let directory = directory(&[(".git/HEAD", "ref: refs/heads/main\n"), ("a/b/c.yaml", "")]);
    let root = directory.path().canonicalize().unwrap();
    assert_eq!(git_root(&root.join("a/b")), Some(root.clone()));
    assert_eq!(git_root(&root), Some(root.clone()));
    // A work tree of its own has a file in place of the directory.
    fs::write(root.join("a/.git"), "gitdir: elsewhere\n").unwrap();
    assert_eq!(git_root(&root.join("a/b")), Some(root.join("a")));
}

#[test]
fn what_is_no_directory_is_said() {
    let directory = directory(&[("a.yaml", "")]);
    let failed = |path: &str| Tree::open(&directory.path().join(path), Packages::Left, Unsaved::default()).unwrap_err();
    assert!(matches!(failed("none"), OpenError::Missing(_)));
    assert!(matches!(failed("a.yaml"), OpenError::NotADirectory(_)));
}

#[test]
fn packages_are_left_out_until_one_is_asked_for() {
    let directory = directory(&[("a.yaml", ""), ("node_modules/x/y.yaml", "y: 1\n")]);
    let tree = open(directory.path(), Unsaved::default());
    assert_eq!(tree.paths().collect::<Vec<_>>(), ["a.yaml"]);
    assert!(!tree.wants_packages());
    assert_eq!(tree.kind("node_modules/x/y.yaml"), Kind::Missing);
    assert!(tree.wants_packages());
    let tree = Tree::open(directory.path(), Packages::Entered, Unsaved::default()).unwrap();
    assert_eq!(text(&tree, "node_modules/x/y.yaml"), Some("y: 1\n"));
}

#[test]
fn a_text_that_is_not_worth_keeping_is_read_again() {
    let directory = directory(&[("a.yaml", "a: 1\n")]);
    let tree = open(directory.path(), Unsaved::default());
    let id = tree.id("a.yaml").unwrap();
    assert!(tree.text_if(id, |_| false).unwrap().is_none());
    assert_eq!(tree.text_so_far(id), "");
    fs::write(directory.path().join("a.yaml"), "a: 2\n").unwrap();
    assert_eq!(tree.text_if(id, |text| text == "a: 2\n").unwrap().map(Source::text), Some("a: 2\n"));
    assert_eq!(tree.text_so_far(id), "a: 2\n");
}

#[test]
fn a_mark_at_the_beginning_tells_how_a_text_is_written() {
    let directory = directory(&[]);
    let units: Vec<u16> = "x: ä\n".encode_utf16().collect();
    let write = |name: &str, mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| {
        let text: Vec<u8> = mark.into_iter().chain(units.iter().flat_map(|unit| bytes(*unit))).collect();
        fs::write(directory.path().join(name), text).unwrap();
    };
    write("little.yaml", [0xff, 0xfe], u16::to_le_bytes);
    write("big.yaml", [0xfe, 0xff], u16::to_be_bytes);
    fs::write(directory.path().join("half.yaml"), [0xff, 0xfe, 0x78]).unwrap();
    let tree = open(directory.path(), Unsaved::default());
    assert_eq!(text(&tree, "little.yaml"), Some("x: ä\n"));
    assert_eq!(text(&tree, "big.yaml"), Some("x: ä\n"));
    assert_eq!(tree.obstacle("half.yaml"), Some(Unread::NotUtf8));
}
