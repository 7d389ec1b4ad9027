//! Values copied from one object into others.

mod story;

use story::{assert_built, object, tree};

const OBJECTS: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: source, labels: {keep: 'yes'}}
data: {host: db.example.org, port: '5432', json: '{\"a\":{\"b\":\"old\"},\"c\":[1]}'}
---
apiVersion: v1
kind: Pod
metadata: {name: pod, annotations: {url: 'http://x:1/path'}}
spec:
  containers:
  - name: app
    env: [{name: HOST, value: placeholder}, {name: PORT, value: '0'}]
  - name: side
    env: [{name: HOST, value: placeholder}]
";

fn replaced(replacements: &str) -> coldstart_kustomize::Build {
    let kustomization = format!("resources: [all.yaml]\nreplacements:\n{replacements}");
    tree(&[("kustomization.yaml", &kustomization), ("all.yaml", OBJECTS)]).build("")
}

fn env(build: &coldstart_kustomize::Build) -> Vec<String> {
    let containers = object(build, "Pod").get("spec").expect("a spec").items_at("containers");
    let envs = containers.iter().flat_map(|container| container.items_at("env"));
    envs.map(|env| env.text_at(&["value"]).unwrap_or_default().to_owned()).collect()
}

#[test]
fn list_items_are_named_by_a_field_by_index_or_all() {
    let source = "- source: {kind: ConfigMap, name: source, fieldPath: data.host}\n  targets:\n  - select: {kind: Pod}\n    fieldPaths: ";
    let with = |path: &str| {
        let build = replaced(&format!("{source}['{path}']\n"));
        assert_eq!(build.failures, []);
        env(&build).iter().map(|value| if value == "db.example.org" { 'x' } else { '.' }).collect::<String>()
    };
    assert_eq!(with("spec.containers.[name=app].env.[name=HOST].value"), "x..");
    assert_eq!(with("spec.containers.*.env.[name=HOST].value"), "x.x");
    assert_eq!(with("spec.containers.1.env.0.value"), "..x");
    assert_eq!(with("spec.containers.*.env.*.value"), "xxx");
}

#[test]
fn parts_of_texts_are_cut_out_and_put_in() {
    let build = replaced(
        "- source: {kind: ConfigMap, name: source, fieldPath: data.host, options: {delimiter: ., index: 1}}\n  targets:\n  \
         - select: {kind: Pod}\n    fieldPaths: ['metadata.annotations.url']\n    options: {delimiter: /, index: 3}\n",
    );
    assert_eq!(build.failures, []);
    assert_eq!(object(&build, "Pod").text_at(&["metadata", "annotations", "url"]), Some("http://x:1/example"));
}

#[test]
fn fields_are_created_only_when_asked_for() {
    let target = |options: &str| {
        replaced(&format!(
            "- source: {{kind: ConfigMap, name: source, fieldPath: data.port}}\n  targets:\n  - select: {{name: pod}}\n    \
             fieldPaths: [metadata.annotations.example\\.org/port, 'spec.hosts.[name=a].port']\n{options}"
        ))
    };
    let build = target("    options: {create: true}\n");
    assert_eq!(build.failures, []);
    let pod = object(&build, "Pod");
    assert_eq!(pod.text_at(&["metadata", "annotations", "example.org/port"]), Some("5432"));
    let host = &pod.get("spec").unwrap().items_at("hosts")[0];
    assert_eq!((host.text_at(&["name"]), host.text_at(&["port"])), (Some("a"), Some("5432")));
    assert!(target("").failures[0].error.to_string().contains("there is no such field"));
}

#[test]
fn targets_are_rejected_and_sources_must_be_one() {
    let build = replaced(
        "- source: {kind: ConfigMap, fieldPath: data.port}\n  targets:\n  - select: {version: v1}\n    \
         reject: [{kind: Pod}, {labelSelector: keep=no}]\n    fieldPaths: [data.host]\n- source: {version: v1}\n  \
         targets: [{select: {kind: Pod}}]\n- source: {kind: ConfigMap, fieldPath: data.none}\n  targets: [{select: {kind: Pod}}]\n- {}\n",
    );
    assert_eq!(object(&build, "ConfigMap").text_at(&["data", "host"]), Some("5432"));
    let messages: Vec<_> = build.failures.iter().map(|failure| failure.error.to_string()).collect();
    assert_eq!(
        messages,
        [
            "2 objects are the source of this replacement, not one",
            "ConfigMap default/source has no `data.none`",
            "a replacement needs a source and at least one target",
        ]
    );
}

#[test]
fn replacements_reach_into_json() {
    let build =
        replaced("- sourceValue: new\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [data.json.a.b]\n");
    assert_eq!(build.failures, []);
    assert_eq!(object(&build, "ConfigMap").text_at(&["data", "json"]), Some(r#"{"a":{"b":"new"},"c":[1]}"#));
}

#[test]
fn replacements_may_be_in_a_file_and_see_new_names() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources: [all.yaml]\nnamespace: prod\nnamePrefix: p-\nreplacements: [{path: copy.yaml}]\n",
        ),
        (
            "all.yaml",
            "{apiVersion: v1, kind: Secret, metadata: {name: s}}\n---\n{apiVersion: x/v1, kind: X, metadata: {name: x}, spec: {ref: '', ns: ''}}\n",
        ),
        (
            "copy.yaml",
            "- source: {kind: Secret, name: s}\n  targets: [{select: {kind: X, name: x}, fieldPaths: [spec.ref]}]\n- source: {kind: Secret, name: s, \
             fieldPath: metadata.namespace}\n  targets: [{select: {kind: X}, fieldPaths: [spec.ns]}]\n",
        ),
    ]);
    assert_built(
        &tree.build(""),
        "{apiVersion: v1, kind: Secret, metadata: {name: p-s, namespace: prod}}\n---\n\
         {apiVersion: x/v1, kind: X, metadata: {name: p-x, namespace: prod}, spec: {ref: p-s, ns: prod}}\n",
    );
}

#[test]
fn replacements_reach_into_yaml_and_leave_the_rest_of_it() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources: [config.yaml]\nreplacements:\n- sourceValue: new\n  targets:\n  - select: {kind: ConfigMap}\n    \
             fieldPaths: [data.settings.a.b]\n",
        ),
        (
            "config.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  settings: |\n    # A comment.\n    a:\n      b: 'old'\n      \
             c: [1, 2]\n",
        ),
    ]);
    let build = tree.build("");
    assert_eq!(build.failures, []);
    let settings = object(&build, "ConfigMap").text_at(&["data", "settings"]);
    assert_eq!(settings, Some("# A comment.\na:\n  b: 'new'\n  c: [1, 2]"));
}
