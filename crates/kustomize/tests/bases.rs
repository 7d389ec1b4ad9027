//! What goes into a build: files, bases and components, and what must not.

mod story;

use coldstart_kustomize::{LimitError, Overlooked};
use story::{assert_built, names, tree};

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\n";

#[test]
fn files_and_bases_come_in_the_order_they_are_named() {
    let tree = tree(&[
        ("app/kustomization.yaml", "resources: [b.yaml, ../base, a.yaml]\n"),
        ("app/a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"),
        ("app/b.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: b}\n---\n# nothing\n---\n"),
        ("base/kustomization.yml", "bases: [deep]\n"),
        ("base/deep/Kustomization", "resources:\n- config.yaml\n"),
        ("base/deep/config.yaml", CONFIG),
    ]);
    let build = tree.build("app");
    assert_built(
        &build,
        "{apiVersion: v1, kind: Secret, metadata: {name: b}}\n---\n\
         {apiVersion: v1, kind: ConfigMap, metadata: {name: config}}\n---\n\
         {apiVersion: v1, kind: Secret, metadata: {name: a}}\n",
    );
    assert_eq!(
        build.files,
        [
            "app/a.yaml",
            "app/b.yaml",
            "app/kustomization.yaml",
            "base/deep/Kustomization",
            "base/deep/config.yaml",
            "base/kustomization.yml"
        ]
    );
}

#[test]
fn a_component_changes_what_its_parent_has() {
    let tree = tree(&[
        ("app/kustomization.yaml", "resources: [config.yaml]\ncomponents: [../components/labelled]\nnamespace: prod\n"),
        ("app/config.yaml", CONFIG),
        (
            "components/labelled/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [extra.yaml]\n\
             commonLabels: {team: a}\n",
        ),
        ("components/labelled/extra.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: extra}\n"),
    ]);
    assert_built(
        &tree.build("app"),
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: prod, labels: {team: a}}}\n---\n\
         {apiVersion: v1, kind: Secret, metadata: {name: extra, namespace: prod, labels: {team: a}}}\n",
    );
}

#[test]
fn lists_are_taken_apart() {
    let tree = tree(&[
        ("kustomization.yaml", "resources: [list.yaml]\n"),
        (
            "list.yaml",
            "kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n\
             - kind: SecretList\n  apiVersion: v1\n  items: [{apiVersion: v1, kind: Secret, metadata: {name: b}}]\n",
        ),
    ]);
    assert_eq!(names(&tree.build("")), ["ConfigMap/a", "Secret/b"]);
}

#[test]
fn what_would_be_fetched_or_run_is_not_looked_at() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources:\n- config.yaml\n- https://example.org/x.yaml\n- github.com/org/repo//deploy?ref=v1\n\
             helmCharts:\n- name: podinfo\n",
        ),
        ("config.yaml", CONFIG),
    ]);
    let build = tree.build("");
    assert_built(&build, CONFIG);
    let blind: Vec<_> = build.blind.iter().map(|blind| (blind.what.clone(), tree.place(blind.span))).collect();
    assert_eq!(
        blind,
        [
            (
                Overlooked::Fetched { address: "https://example.org/x.yaml".to_owned() },
                "kustomization.yaml:3".to_owned()
            ),
            (
                Overlooked::Cloned { address: "github.com/org/repo//deploy?ref=v1".to_owned() },
                "kustomization.yaml:4".to_owned()
            ),
            (Overlooked::Chart { name: "podinfo".to_owned() }, "kustomization.yaml:6".to_owned()),
        ]
    );
}

#[test]
fn a_cycle_is_a_failure_at_the_line_that_closes_it() {
    let tree = tree(&[
        ("a/kustomization.yaml", "resources:\n- config.yaml\n- ../b\n"),
        ("a/config.yaml", CONFIG),
        ("b/kustomization.yaml", "resources:\n- ../a\n"),
    ]);
    let build = tree.build("a");
    assert_eq!(
        tree.failures(&build),
        ["b/kustomization.yaml:2 `../a` leads back to a directory that is being built: a cycle"]
    );
    assert_eq!(names(&build), ["ConfigMap/config"]);
}

#[test]
fn bases_that_double_at_every_level_come_to_an_end() {
    let mut files: Vec<(String, String)> = (0..40)
        .map(|level| {
            let next = level + 1;
            (format!("l{level}/kustomization.yaml"), format!("resources: [../l{next}, ../l{next}]\n"))
        })
        .collect();
    files.push(("l40/kustomization.yaml".to_owned(), "namespace: x\n".to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let tree = tree(&files);
    let build = tree.build("l0");
    let limits: Vec<&Overlooked> = build.blind.iter().map(|blind| &blind.what).collect();
    assert_eq!(limits, [&Overlooked::Beyond(LimitError::Bases)]);
}

#[test]
fn objects_that_are_there_twice_are_a_failure_and_kept_once() {
    let tree = tree(&[
        ("kustomization.yaml", "resources:\n- a.yaml\n- b.yaml\n"),
        ("a.yaml", CONFIG),
        ("b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, namespace: default}\n"),
    ]);
    let build = tree.build("");
    assert_eq!(tree.failures(&build), ["kustomization.yaml:3 ConfigMap default/config is in this build already"]);
    assert_eq!(names(&build), ["ConfigMap/config"]);
}

#[test]
fn every_kind_of_bad_input_is_a_failure_with_a_place() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources:\n- missing.yaml\n- ../../outside\n- bad.yaml\n- empty\ncomponents:\n- plain\nnamePrefx: x\n\
             namespace: 5\n",
        ),
        ("bad.yaml", "a: b\n---\nkind: X\n---\n- item\n---\nkind: Y\nmetadata: {name: y, name: y}\n---\n{\n"),
        ("empty/readme.md", "nothing\n"),
        ("plain/kustomization.yaml", "namespace: z\n"),
    ]);
    let build = tree.build("");
    assert_eq!(
        tree.failures(&build),
        [
            "kustomization.yaml:8 `kustomization` has no field `namePrefx`",
            "kustomization.yaml:9 `namespace` should be a text",
            "kustomization.yaml:2 `missing.yaml` does not exist",
            "kustomization.yaml:3 `../../outside` is outside the repository",
            "bad.yaml:8 key `name` stands twice in one mapping",
            "bad.yaml:10 unclosed bracket '{'",
            "bad.yaml:1 this is not a Kubernetes object: it has no `kind`",
            "bad.yaml:3 this X has no `metadata.name`",
            "bad.yaml:5 this is not a Kubernetes object: it is not a mapping",
            "kustomization.yaml:5 no kustomization file in `empty`",
            "kustomization.yaml:7 `plain` is not a Component",
        ]
    );
    assert_eq!(names(&build), ["Y/y"]);
}

#[test]
fn objects_for_tools_are_left_out() {
    let tree = tree(&[
        ("kustomization.yaml", "resources: [local.yaml]\n"),
        (
            "local.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: local\n  annotations:\n    \
             config.kubernetes.io/local-config: \"true\"\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: real\n  \
             annotations: {port: 80}\n",
        ),
    ]);
    assert_built(
        &tree.build(""),
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: real, annotations: {port: '80'}}}\n",
    );
}

#[test]
fn sorting_is_by_kind_when_it_is_asked_for() {
    let tree = tree(&[
        ("kustomization.yaml", "resources: [all.yaml]\nsortOptions: {order: legacy}\n"),
        (
            "all.yaml",
            "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}\n---\n\
             {apiVersion: x/v1, kind: Zebra, metadata: {name: z}}\n---\n\
             {apiVersion: v1, kind: Service, metadata: {name: s}}\n---\n\
             {apiVersion: v1, kind: Namespace, metadata: {name: n}}\n",
        ),
    ]);
    assert_eq!(names(&tree.build("")), ["Namespace/n", "Service/s", "Deployment/d", "Zebra/z"]);
}
