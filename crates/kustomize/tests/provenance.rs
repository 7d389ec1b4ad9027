//! Every value points at the line that brought it, however many hands it went through.

mod story;

use story::tree;

#[test]
fn values_point_at_the_line_that_brought_them() {
    let tree = tree(&[
        (
            "app/kustomization.yaml",
            "\
resources:
- ../base
namespace: prod
commonLabels:
  team: a
configMapGenerator:
- name: config
  literals:
  - a=b
patches:
- path: patch.yaml
- target:
    kind: Deployment
  patch: |-
    - op: replace
      path: /spec/replicas
      value: 3
- patch: |
    # A comment before it.
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
    spec:
      paused: true
images:
- name: web
  newTag: '2'
replacements:
- source:
    kind: Deployment
    fieldPath: spec.paused
  targets:
  - select:
      kind: Deployment
    fieldPaths:
    - spec.copied
    options:
      create: true
",
        ),
        (
            "app/patch.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  minReadySeconds: 5\n",
        ),
        ("base/kustomization.yaml", "resources:\n- web.yaml\n"),
        (
            "base/web.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n  template:\n    spec:\n      containers:\n      \
             - name: web\n        image: web:1\n      volumes:\n      - name: v\n        configMap:\n          name: config\n",
        ),
    ]);
    let build = tree.build("app");
    assert_eq!(build.failures, []);
    let origin = |path: &[&str]| tree.origin(&build, "Deployment", path);
    assert_eq!(origin(&["kind"]), "base/web.yaml:2");
    assert_eq!(origin(&["metadata", "name"]), "base/web.yaml:4");
    assert_eq!(origin(&["metadata", "namespace"]), "app/kustomization.yaml:3");
    assert_eq!(origin(&["metadata", "labels", "team"]), "app/kustomization.yaml:5");
    assert_eq!(origin(&["spec", "selector", "matchLabels", "team"]), "app/kustomization.yaml:5");
    assert_eq!(origin(&["spec", "minReadySeconds"]), "app/patch.yaml:6");
    assert_eq!(origin(&["spec", "replicas"]), "app/kustomization.yaml:17");
    assert_eq!(origin(&["spec", "paused"]), "app/kustomization.yaml:25");
    assert_eq!(origin(&["spec", "copied"]), "app/kustomization.yaml:25");
    let pod = ["spec", "template", "spec"];
    assert_eq!(origin(&[pod[0], pod[1], pod[2], "containers", "0", "image"]), "app/kustomization.yaml:28");
    assert_eq!(origin(&[pod[0], pod[1], pod[2], "containers", "0", "name"]), "base/web.yaml:10");
    assert_eq!(origin(&[pod[0], pod[1], pod[2], "volumes", "0", "configMap", "name"]), "base/web.yaml:15");
    assert_eq!(tree.origin(&build, "ConfigMap", &["data", "a"]), "app/kustomization.yaml:9");
    assert_eq!(tree.origin(&build, "ConfigMap", &["metadata", "name"]), "app/kustomization.yaml:7");
}

#[test]
fn inline_patches_in_other_styles_point_at_the_whole_patch() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources: [x.yaml]\npatches:\n- target: {kind: X}\n  patch: '[{\"op\": \"add\", \"path\": \"/a\", \"value\": 1}]'\n- target: {kind: X}\n  \
             patch: >\n    - op: add\n      path: /b\n\n      value: 2\n",
        ),
        ("x.yaml", "{apiVersion: x/v1, kind: X, metadata: {name: x}}\n"),
    ]);
    let build = tree.build("");
    assert_eq!(tree.origin(&build, "X", &["a"]), "kustomization.yaml:4");
}
