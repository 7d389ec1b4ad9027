//! What kustomize-controller makes of a path, and what a Flux Kustomization adds.

mod story;

use coldstart_kustomize::Overlay;
use source::FileId;
use story::{assert_built, names, object, tree};
use yaml::Node;

fn node(text: &str) -> Node {
    yaml::parse_value(FileId::GENERATED, text).expect("a value")
}

#[test]
fn a_directory_without_a_kustomization_is_all_manifests_below_it() {
    let tree = tree(&[
        ("apps/b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n"),
        ("apps/a/x.yml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}\n"),
        ("apps/a/readme.md", "kind: Nothing\n"),
        ("apps/a/.sops.yaml", "creation_rules: []\n"),
        ("apps/c/kustomization.yaml", "namePrefix: c-\nresources: [deep/one.yaml]\n"),
        ("apps/c/deep/one.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: one}}\n"),
        ("apps/c/deep/two.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: two}}\n"),
        ("apps/empty.yaml", "# nothing yet\n"),
    ]);
    let build = tree.flux("apps", &Overlay::default());
    assert_eq!(build.failures, []);
    assert_eq!(names(&build), ["ConfigMap/x", "ConfigMap/b", "ConfigMap/c-one"]);
    let real = tree.build("apps");
    assert_eq!(real.failures[0].error.to_string(), "no kustomization file in `apps`");
}

#[test]
fn a_file_that_is_no_manifest_fails_a_generated_kustomization() {
    let tree = tree(&[
        ("apps/values.yaml", "replicas: 1\n"),
        ("apps/a.yaml", "{apiVersion: v1, kind: X, metadata: {name: x}}\n"),
    ]);
    let build = tree.flux("apps", &Overlay::default());
    assert_eq!(tree.failures(&build), ["apps/values.yaml:1 this is not a Kubernetes object: it has no `kind`"]);
    assert_eq!(names(&build), ["X/x"]);
}

#[test]
fn an_overlay_overrides_names_and_adds_the_rest() {
    let tree = tree(&[
        (
            "app/kustomization.yaml",
            "resources: [web.yaml]\nnamespace: file\nnamePrefix: file-\npatches:\n- target: {kind: Deployment}\n  patch: |\n    \
             - {op: add, path: /spec/paused, value: true}\nimages:\n- {name: web, newName: mirror/web, newTag: '1', digest: 'sha256:a'}\n",
        ),
        (
            "app/web.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web, image: web}]}}}\n",
        ),
        (
            "component/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {c: d}\n",
        ),
    ]);
    let overlay = Overlay {
        namespace: Some(node("flux")),
        name_prefix: Some(node("flux-")),
        name_suffix: Some(node("-end")),
        components: vec![node("../component"), node("../missing")],
        ignore_missing_components: true,
        patches: vec![node(
            "patch: |\n  - {op: replace, path: /spec/paused, value: false}\ntarget: {kind: Deployment, name: web}\n",
        )],
        images: vec![node("{name: web, newTag: '2'}"), node("{name: other, newTag: '3'}")],
        source: None,
    };
    assert_built(
        &tree.flux("app", &overlay),
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: flux-web-end, namespace: flux, annotations: {c: d}}\n\
         spec: {paused: false, template: {metadata: {annotations: {c: d}}, spec: {containers: [{name: web, image: 'mirror/web:2'}]}}}\n",
    );
}

#[test]
fn a_missing_component_is_a_failure_unless_it_may_be_missing() {
    let tree = tree(&[("app/kustomization.yaml", "namespace: x\n")]);
    let overlay = Overlay { components: vec![node("../missing"), node("https://example.org/c")], ..Overlay::default() };
    let messages: Vec<_> =
        tree.flux("app", &overlay).failures.into_iter().map(|failure| failure.error.to_string()).collect();
    assert_eq!(
        messages,
        ["the component `https://example.org/c` must be a path inside the repository", "`../missing` does not exist"]
    );
}

#[test]
fn a_target_namespace_holds_for_a_generated_kustomization_too() {
    let tree = tree(&[("apps/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n")]);
    let overlay = Overlay { namespace: Some(node("prod")), ..Overlay::default() };
    let build = tree.flux("./apps/", &overlay);
    assert_eq!(object(&build, "ConfigMap").text_at(&["metadata", "namespace"]), Some("prod"));
}
