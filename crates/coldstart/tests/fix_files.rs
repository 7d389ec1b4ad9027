//! `coldstart fix` on files that are awkward to edit: the right edit, or an error that says what is in the way.

mod story;

use std::fs;

use story::repair::{CRD, DATABASE, WIDGET, committed, database_beside_its_operator, kustomization};
use story::{Ran, SYNC, Tree, command, run, skipped};

const APP: &str = "clusters/home/app.yaml";

/// An operator, and an application that does not wait for it, with this as its file.
fn repository(app: &[u8]) -> Tree {
    let tree = Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/operator.yaml", &kustomization("operator", "  wait: true\n")),
        ("operator/crd.yaml", CRD),
        ("app/widget.yaml", WIDGET),
    ]);
    tree.write(APP, app);
    tree
}

fn fix(tree: &Tree) -> Ran {
    run(command(&["fix", "--write", "--verbose"]).arg(tree.path()))
}

fn app(tree: &Tree) -> String {
    String::from_utf8(fs::read(tree.path().join(APP)).expect("a file")).expect("text")
}

/// The lines that are not in the other text; all others are the same, in the same order.
fn added(before: &str, after: &str) -> Vec<String> {
    let mut old = before.split_inclusive('\n').peekable();
    let new = after.split_inclusive('\n').filter(|line| old.next_if(|old| old == line).is_none());
    let new = new.map(str::to_owned).collect();
    assert_eq!(old.next(), None, "lines are missing in\n{after}");
    new
}

#[track_caller]
fn gets(before: &str, lines: &[&str]) {
    let tree = repository(before.as_bytes());
    fix(&tree).exits(0).says("1 finding fixed by 1 fix");
    assert_eq!(added(before, &app(&tree)), lines);
    fix(&tree).exits(0).says("nothing to fix");
}

#[test]
fn lines_that_end_as_on_windows_stay_so() {
    let before = kustomization("app", "").replace('\n', "\r\n");
    gets(&before, &["  dependsOn:\r\n", "    - name: operator\r\n"]);
}

#[test]
fn a_mark_at_the_beginning_and_a_missing_line_end_stay() {
    let before = format!("\u{feff}{}", kustomization("app", ""));
    gets(before.trim_end(), &["  dependsOn:\n", "    - name: operator\n"]);
}

#[test]
fn tabs_where_yaml_allows_them_stay() {
    let before = kustomization("app", "").replace("prune: true", "prune:\ttrue\t# a\ttab").replace("spec:", "spec:\t");
    gets(&before, &["  dependsOn:\n", "    - name: operator\n"]);
}

#[test]
fn a_file_that_tabs_indent_is_not_yaml_and_left_alone() {
    let before = kustomization("app", "").replace("  interval", "\tinterval");
    let tree = repository(before.as_bytes());
    fix(&tree).exits(0);
    assert_eq!(app(&tree), before);
    run(command(&["check", "--verbose"]).arg(tree.path())).says("clusters/home/app.yaml");
}

#[test]
fn utf_16_is_left_alone_and_named() {
    let before: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(kustomization("app", "").encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let tree = repository(&before);
    fix(&tree).exits(0).says("is in a UTF-16 file, and only UTF-8 is edited");
    assert_eq!(fs::read(tree.path().join(APP)).expect("a file"), before);
}

#[test]
fn flow_style_stays_flow_style() {
    let before = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: app, namespace: flux-system}, spec: {interval: 1h, path: ./app, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}}\n";
    let tree = repository(before.as_bytes());
    fix(&tree).exits(0).says("1 finding fixed by 1 fix");
    assert_eq!(
        app(&tree),
        before.replace("name: flux-system}}}", "name: flux-system}, dependsOn: [{name: operator}]}}")
    );
    let listed = kustomization("app", "  dependsOn: [{ name: flux }]\n");
    let tree = repository(listed.as_bytes()).with(&[("clusters/home/flux.yaml", &kustomization("flux", ""))]);
    tree.write("flux/config.yaml", b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: default\n");
    fix(&tree).exits(0).says("1 finding fixed by 1 fix");
    assert_eq!(app(&tree), listed.replace("{ name: flux }]", "{ name: flux }, { name: operator }]"));
}

#[test]
fn an_anchor_that_is_given_twice_is_that_of_the_nearest() {
    let before =
        kustomization("app", "  postBuild:\n    substitute:\n      A: &name a\n      B: *name\n      C: &name c\n")
            .replace("  name: app\n", "  name: &name app\n  labels:\n    app: *name\n");
    gets(&before, &["  dependsOn:\n", "    - name: operator\n"]);
}

#[test]
fn a_spec_that_others_have_by_an_alias_is_left_alone() {
    let before = kustomization("app", "").replace("spec:\n", "spec: &spec\n");
    let before = format!("{before}status: *spec\n");
    let tree = repository(before.as_bytes());
    fix(&tree).exits(0).says("is an anchor or an alias");
    assert_eq!(app(&tree), before);
}

#[test]
fn five_megabytes_are_edited_as_five_lines_are() {
    const BYTES: usize = 5 * 1024 * 1024;
    let line = "    key = value  # \u{e4} tab\tand more of it, so that there are not too many\n";
    let config = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: large\n  namespace: default\ndata:\n  text: |\n{}---\n",
        line.repeat(BYTES / line.len() + 1)
    );
    let before = format!("{config}{}", kustomization("app", ""));
    assert!(before.len() > BYTES);
    gets(&before, &["  dependsOn:\n", "    - name: operator\n"]);
}

#[test]
fn many_edits_of_a_large_file_end_soon_and_say_so() {
    const BYTES: usize = 4 * 1024 * 1024;
    let line = "# A comment that makes the file long, as a list that was generated may be.\n";
    let all: Vec<String> = (0..30).map(|number| kustomization(&format!("a{number}"), "")).collect();
    let tree = Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/all.yaml", &format!("{}{}", line.repeat(BYTES / line.len()), all.join("---\n"))),
    ]);
    for number in 0..30 {
        let config = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a{number}\n  namespace: default\n");
        tree.write(&format!("a{number}/config.yaml"), config.as_bytes());
    }
    let words = ["fix", "--unsafe", "--min-severity", "info", "--verbose"];
    run(command(&words).arg(tree.path())).exits(0).says("is not edited in the same run as so much else");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_read_only_stays_so() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = repository(kustomization("app", "").as_bytes());
    let file = tree.path().join(APP);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).expect("permissions");
    fix(&tree).exits(0);
    assert!(app(&tree).contains("dependsOn:"));
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o444);
}

#[cfg(unix)]
#[test]
fn a_directory_that_can_not_be_written_is_named_and_nothing_is_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = repository(kustomization("app", "").as_bytes());
    let directory = tree.path().join("clusters/home");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o555)).expect("permissions");
    if fs::write(directory.join("probe"), "").is_ok() {
        return skipped("a read-only directory: this user may write everywhere");
    }
    let ran = fix(&tree).exits(2);
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).expect("permissions");
    assert!(ran.stderr.contains("app.yaml can't be written"), "{}", ran.stderr);
    assert_eq!(app(&tree), kustomization("app", ""));
}

#[cfg(unix)]
#[test]
fn a_link_within_the_repository_stays_one_and_one_that_leads_out_is_not_followed() {
    use std::os::unix::fs::symlink;
    let text = kustomization("app", "");
    let tree = repository(b"");
    let inside = tree.path().join(APP);
    tree.write("files/app.yaml", text.as_bytes());
    fs::remove_file(&inside).expect("a file");
    symlink("../../files/app.yaml", &inside).expect("a link");
    fix(&tree).exits(0);
    assert!(fs::symlink_metadata(&inside).expect("a link").is_symlink());
    assert!(app(&tree).contains("dependsOn:"));

    let outside = Tree::new(&[("home/app.yaml", &text), ("app.yaml", &text)]);
    for (link, to) in [(APP, "app.yaml"), ("clusters/home/more", "home")] {
        let tree = repository(b"");
        let link = tree.path().join(link);
        let _is_a_directory = fs::remove_file(&link);
        symlink(outside.path().join(to), &link).expect("a link");
        run(command(&["fix", "--write"]).arg(tree.path()));
        assert_eq!(fs::read_to_string(outside.path().join(to).join("app.yaml")).unwrap_or_else(|_| text.clone()), text);
        assert_eq!(fs::read_to_string(outside.path().join("app.yaml")).expect("a file"), text);
    }
}

/// What a stranger left in a repository is no journal of ours, wherever it lies.
#[test]
fn a_journal_in_the_repository_is_not_followed() {
    let tree = repository(kustomization("app", "").as_bytes());
    let journal = "coldstart changes 1\n8 4 -\nevil.txtevil\nend\n";
    for place in [".coldstart-fix.journal", ".git/coldstart-fix.journal", ".git/fix-journal", "fix-journal"] {
        tree.write(place, journal.as_bytes());
    }
    tree.write("HEAD", b"ref: refs/heads/main\n");
    tree.write("config", b"[core]\n\tworktree = ..\n");
    tree.write("objects/x", b"");
    tree.write("refs/x", b"");
    fix(&tree);
    assert!(!tree.path().join("evil.txt").exists());
}

#[cfg(unix)]
#[test]
fn a_file_behind_a_link_is_not_moved() {
    let tree = database_beside_its_operator(Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("shared/cluster.yaml", DATABASE),
    ]));
    fs::remove_file(tree.path().join("database/cluster.yaml")).expect("a file");
    std::os::unix::fs::symlink("../shared/cluster.yaml", tree.path().join("database/cluster.yaml")).expect("a link");
    run(command(&["fix", "--write", "--unsafe"]).arg(tree.path())).exits(2).says("symbolic link");
    assert_eq!(fs::read_to_string(tree.path().join("shared/cluster.yaml")).expect("a file"), DATABASE);
}

#[cfg(unix)]
#[test]
fn a_file_that_moves_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    for (mode, how) in [(0o600, "--write"), (0o755, "--write"), (0o755, "--commit")] {
        let tree = database_beside_its_operator(Tree::new(&[("clusters/home/flux-system/gotk-sync.yaml", SYNC)]));
        let old = tree.path().join("database/cluster.yaml");
        fs::set_permissions(&old, fs::Permissions::from_mode(mode)).expect("permissions");
        let tree = committed(tree);
        run(command(&["fix", "--unsafe", how]).arg(tree.path())).exits(0);
        let new = fs::metadata(tree.path().join("database-config/cluster.yaml")).expect("a file");
        assert_eq!(new.permissions().mode() & 0o777, mode, "{how}");
        assert!(!old.exists());
    }
}
