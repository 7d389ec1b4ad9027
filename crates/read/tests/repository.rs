//! Which files are read: what Flux would see, and nothing that is not there.

use std::fs;
use std::path::Path;
use std::process::Command;

use coldstart_read::Repository;
use kustomize::{Files as _, Overlay, PathKind};
use yaml::{Budget, Node};

struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().expect("a directory"));
        for (path, text) in files {
            tree.write(path, text.as_bytes());
        }
        tree
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, bytes).expect("a file");
    }

    /// Runs Git here; `false` when there is no Git.
    fn git(&self, arguments: &[&str]) -> bool {
        let mut command = Command::new("git");
        command.current_dir(self.path()).args([
            "-c",
            "core.excludesFile=",
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
        ]);
        match command.args(arguments).output() {
            Ok(output) => {
                assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
                true
            }
            Err(_) => false,
        }
    }

    fn open(&self) -> Repository {
        Repository::open(self.path()).expect("a repository")
    }
}

fn paths(repository: &Repository) -> Vec<&str> {
    repository.paths().collect()
}

fn skipped(repository: &Repository) -> Vec<(&str, String)> {
    repository.skipped.iter().map(|skipped| (skipped.path.as_str(), skipped.why.to_string())).collect()
}

const IGNORING: [(&str, &str); 7] = [
    (".gitignore", "*.secret.yaml\n/generated/\n!kept.secret.yaml\n"),
    ("a.yaml", "a: 1\n"),
    ("a.secret.yaml", "a: 1\n"),
    ("kept.secret.yaml", "a: 1\n"),
    ("b/forced.secret.yaml", "a: 1\n"),
    ("generated/forced.yaml", "a: 1\n"),
    ("generated/other.yaml", "a: 1\n"),
];

#[test]
fn without_git_nothing_is_ignored() {
    assert_eq!(paths(&Tree::new(&IGNORING).open()).len(), IGNORING.len());
}

#[test]
fn tracked_files_are_read_though_they_are_ignored() {
    for version in ["2", "3", "4"] {
        let tree = Tree::new(&IGNORING);
        if !tree.git(&["init", "-q"]) {
            return;
        }
        tree.git(&["update-index", "--index-version", version]);
        tree.git(&["add", "."]);
        tree.git(&["add", "-f", "b/forced.secret.yaml", "generated/forced.yaml"]);
        if version == "3" {
            // What is only meant to be added has the longer flags of version 3.
            tree.write("meant.yaml", b"a: 1\n");
            tree.git(&["add", "-N", "meant.yaml"]);
        }
        tree.write("untracked.yaml", b"a: 1\n");
        let repository = tree.open();
        let found: Vec<&str> = paths(&repository).into_iter().filter(|path| *path != "meant.yaml").collect();
        let expected = [
            ".gitignore",
            "a.yaml",
            "b/forced.secret.yaml",
            "generated/forced.yaml",
            "kept.secret.yaml",
            "untracked.yaml",
        ];
        assert_eq!(found, expected, "index version {version}");
        assert_eq!(skipped(&repository), []);
    }
}

#[test]
fn a_repository_of_sha256_names_is_read_too() {
    let tree = Tree::new(&IGNORING);
    if !tree.git(&["init", "-q", "--object-format=sha256"]) {
        return;
    }
    tree.git(&["add", "-f", "generated/forced.yaml"]);
    assert!(paths(&tree.open()).contains(&"generated/forced.yaml"));
}

#[test]
fn a_work_tree_elsewhere_has_an_index_of_its_own() {
    let tree = Tree::new(&[]);
    let main = Tree(tempfile::tempdir_in(tree.path()).unwrap());
    main.write(".gitignore", b"x.yaml\n");
    main.write("x.yaml", b"a: 1\n");
    if !main.git(&["init", "-q"]) {
        return;
    }
    main.git(&["add", "-f", "x.yaml", ".gitignore"]);
    main.git(&["commit", "-q", "-m", "all"]);
    main.git(&["worktree", "add", "-q", "../other"]);
    assert!(tree.path().join("other/.git").is_file());
    let other = Repository::open(&tree.path().join("other")).unwrap();
    assert_eq!(paths(&other), [".gitignore", "x.yaml"]);
}

#[test]
fn a_broken_index_is_told_and_the_rest_is_read() {
    let tree = Tree::new(&IGNORING);
    if !tree.git(&["init", "-q"]) {
        return;
    }
    tree.git(&["add", "."]);
    let whole = fs::read(tree.path().join(".git/index")).unwrap();
    for broken in [&whole[..whole.len() / 2], b"DIRC\0\0\0\x02\xff\xff\xff\xff", b"", b"DIRC\0\0\0\x09\0\0\0\0"] {
        tree.write(".git/index", broken);
        let repository = tree.open();
        assert_eq!(paths(&repository), [".gitignore", "a.yaml", "kept.secret.yaml"]);
        let [(path, why)] = &skipped(&repository)[..] else { panic!("one note: {:?}", repository.skipped) };
        assert_eq!(*path, ".git/index");
        assert!(why.ends_with("files that are both tracked and ignored were not read"), "{why}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_of_the_repository_only_and_never_in_a_circle() {
    use std::os::unix::fs::symlink;
    let outside = Tree::new(&[("secret.yaml", "a: 1\n")]);
    let tree = Tree::new(&[("base/x.yaml", "a: 1\n"), ("one/a.yaml", "a: 1\n"), ("two/b.yaml", "a: 1\n")]);
    let link = |to: &Path, from: &str| symlink(to, tree.path().join(from)).unwrap();
    link(Path::new("base/x.yaml"), "file.yaml");
    link(Path::new("../base"), "one/base");
    link(Path::new("../base"), "two/base");
    link(Path::new("../two"), "one/two");
    link(Path::new("../one"), "two/one");
    link(Path::new("."), "self");
    link(Path::new("nowhere"), "dangling.yaml");
    link(Path::new("ring"), "ring");
    link(outside.path(), "outside");
    link(&outside.path().join("secret.yaml"), "outside.yaml");
    let repository = tree.open();
    let expected = [
        "base/x.yaml",
        "file.yaml",
        "one/a.yaml",
        "one/base/x.yaml",
        "one/two/b.yaml",
        "one/two/base/x.yaml",
        "two/b.yaml",
        "two/base/x.yaml",
        "two/one/a.yaml",
        "two/one/base/x.yaml",
    ];
    assert_eq!(paths(&repository), expected);
    let expected = [
        ("dangling.yaml", "is a symbolic link to a file that does not exist"),
        ("one/two/one", "is a symbolic link to itself"),
        ("outside", "is a symbolic link that leaves the repository"),
        ("outside.yaml", "is a symbolic link that leaves the repository"),
        ("ring", "is a symbolic link that can't be followed"),
        ("self", "is a symbolic link to itself"),
        ("two/one/two", "is a symbolic link to itself"),
    ];
    assert_eq!(skipped(&repository), expected.map(|(path, why)| (path, why.to_owned())));
}

#[test]
fn templates_of_a_chart_are_no_yaml_but_what_is_beside_them_is() {
    let tree = Tree::new(&[
        ("charts/a/Chart.yaml", "apiVersion: v2\nname: a\n"),
        ("charts/a/templates/deployment.yaml", "{{ if .Values.x }}\na: {{ .x }}\n"),
        ("charts/a/crds/x.yaml", "apiVersion: v1\n"),
        ("templates/x.yaml", "apiVersion: v1\n"),
    ]);
    let repository = tree.open();
    let parsed: Vec<&str> = repository.yaml_files().map(|(_, path, _)| path).collect();
    assert_eq!(parsed, ["charts/a/Chart.yaml", "charts/a/crds/x.yaml", "templates/x.yaml"]);
    assert_eq!(parsed, repository.yaml_paths().collect::<Vec<_>>());
    assert_eq!(repository.kind("charts/a/templates/deployment.yaml"), PathKind::File);
}

#[test]
fn what_is_no_text_is_named_and_left_out() {
    let tree = Tree::new(&[("good.yaml", "apiVersion: v1\n")]);
    tree.write("bytes.yaml", &[0xff, 0xfe, 0x41]);
    tree.write("nul.yaml", b"a: \0\n");
    fs::File::create(tree.path().join("large.yaml")).unwrap().set_len(200 * 1024 * 1024).unwrap();
    let repository = tree.open();
    let expected = [
        ("bytes.yaml", "is not UTF-8 text"),
        ("large.yaml", "is larger than 16 MiB"),
        ("nul.yaml", "is a binary file"),
    ];
    assert_eq!(skipped(&repository), expected.map(|(path, why)| (path, why.to_owned())));
    assert_eq!(repository.yaml_files().map(|(_, path, _)| path).collect::<Vec<_>>(), ["good.yaml"]);
}

#[test]
fn directories_list_their_names_in_order() {
    let tree = Tree::new(&[("a/x.yaml", ""), ("a-b/x.yaml", ""), ("a.yaml", ""), ("a/b/c/d.yaml", "")]);
    let repository = tree.open();
    assert_eq!(repository.list(""), ["a", "a-b", "a.yaml"]);
    assert_eq!(repository.list("a"), ["b", "x.yaml"]);
    assert_eq!(repository.list("a/b"), ["c"]);
    assert_eq!((repository.kind("a/b"), repository.kind("a/c")), (PathKind::Directory, PathKind::Missing));
    assert!(repository.paths().all(|path| repository.id(path).and_then(|id| repository.path(id)) == Some(path)));
    assert_eq!((repository.id("a"), repository.id("a/b/c"), repository.id("b/x.yaml")), (None, None, None));
}

const CRD: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.example.org
spec:
  versions:
    - name: v1
      schema:
        openAPIV3Schema:
          type: object

          properties: {spec: {type: object}}
      served: true
    - schema:
        openAPIV3Schema:
          type: object
      name: v2
";

fn versions(object: &Node) -> &[Node] {
    object.at(&["spec"]).expect("a spec").items_at("versions")
}

#[test]
fn the_schemas_of_crds_are_left_out_and_all_else_is_read() {
    let tree = Tree::new(&[("crd.yaml", CRD)]);
    let repository = tree.open();
    let crd = repository.documents("crd.yaml").unwrap().1[0].root.clone().unwrap();
    for version in versions(&crd) {
        assert!(version.at(&["schema", "openAPIV3Schema"]).unwrap().is_null());
    }
    assert_eq!(versions(&crd)[0].text_at(&["served"]), Some("true"));
    let (path, place) = repository.locate(versions(&crd)[1].get("name").unwrap().span).unwrap();
    assert_eq!((path, place.line), ("crd.yaml", 17));
    let whole = Repository::find(tree.path()).unwrap();
    let whole = whole.documents("crd.yaml").unwrap().1[0].root.clone().unwrap();
    assert_eq!(versions(&whole)[0].text_at(&["schema", "openAPIV3Schema", "type"]), Some("object"));
}

#[test]
fn schemas_are_read_where_they_matter() {
    let with_variable = CRD.replace("type: object\n      name", "description: ${cluster}\n      name");
    let in_a_config_map = format!("kind: ConfigMap\ndata:\n  crd: |\n    {}", CRD.replace('\n', "\n    "));
    let tree = Tree::new(&[("variable.yaml", &with_variable), ("config-map.yaml", &in_a_config_map)]);
    let repository = tree.open();
    let root = |path: &str| repository.documents(path).unwrap().1[0].root.clone().unwrap();
    assert_eq!(
        versions(&root("variable.yaml"))[1].text_at(&["schema", "openAPIV3Schema", "description"]),
        Some("${cluster}")
    );
    assert!(root("config-map.yaml").text_at(&["data", "crd"]).unwrap().contains("type: object"));
}

#[test]
fn a_patch_that_reaches_into_a_schema_is_built_with_it() {
    let kustomization = |operation: &str| {
        format!(
            "resources: [crd.yaml]\npatches:\n  - target: {{kind: CustomResourceDefinition}}\n    patch: |-\n      - op: {operation}\n        path: /spec/versions/0/schema/openAPIV3Schema/properties/spec\n"
        )
    };
    let tree = Tree::new(&[
        ("fits/kustomization.yaml", &kustomization("remove")),
        ("fits/crd.yaml", CRD),
        ("fails/kustomization.yaml", &kustomization("remove").replace("properties/spec", "properties/status")),
        ("fails/crd.yaml", CRD),
    ]);
    let repository = tree.open();
    let build = repository.build("fits", &Overlay::default(), &mut Budget::of_build());
    assert!(build.failures.is_empty(), "{:?}", build.failures);
    let properties = versions(&build.objects[0])[0].at(&["schema", "openAPIV3Schema", "properties"]);
    assert_eq!(properties.map(|properties| properties.entries().len()), Some(0));
    assert_eq!(repository.build("fails", &Overlay::default(), &mut Budget::of_build()).failures.len(), 1);
}
