//! Patches of all kinds, and which objects they reach.

mod story;

use story::{assert_built, names, tree};

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 1
  template:
    spec:
      tolerations: [{key: a}]
      containers:
      - name: web
        image: web:1
        ports: [{containerPort: 80, name: http}]
        env:
        - {name: A, value: a}
        - {name: B, value: b}
      - name: side
        image: side:1
";

#[test]
fn lists_of_built_in_kinds_are_merged_by_key() {
    let tree = tree(&[
        ("kustomization.yaml", "resources: [web.yaml]\npatches:\n- path: patch.yaml\n"),
        ("web.yaml", DEPLOYMENT),
        (
            "patch.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: null\n  template:\n    spec:\n      \
             tolerations: [{key: b}]\n      containers:\n      - name: web\n        image: web:2\n        env:\n        \
             - {name: A, $patch: delete}\n        - {name: C, value: c}\n      - name: extra\n        image: extra:1\n",
        ),
    ]);
    assert_built(
        &tree.build(""),
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, labels: {app: web}}\nspec:\n  template:\n    spec:\n      \
         tolerations: [{key: b}]\n      containers:\n      - name: web\n        image: web:2\n        \
         ports: [{containerPort: 80, name: http}]\n        env: [{name: C, value: c}, {name: B, value: b}]\n      \
         - {name: extra, image: extra:1}\n      - {name: side, image: side:1}\n",
    );
}

#[test]
fn lists_of_other_kinds_are_replaced() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources: [release.yaml]\npatches:\n- patch: |\n    apiVersion: helm/v2\n    kind: HelmRelease\n    \
             metadata: {name: app}\n    spec: {dependsOn: [{name: b}], values: {x: {$patch: replace, z: 1}}}\n",
        ),
        (
            "release.yaml",
            "apiVersion: helm/v2\nkind: HelmRelease\nmetadata: {name: app}\n\
             spec: {dependsOn: [{name: a}], values: {x: {y: 1}, k: v}}\n",
        ),
    ]);
    assert_built(
        &tree.build(""),
        "{apiVersion: helm/v2, kind: HelmRelease, metadata: {name: app}, \
         spec: {dependsOn: [{name: b}], values: {x: {z: 1}, k: v}}}\n",
    );
}

#[test]
fn targets_are_patterns_and_selectors() {
    let objects: String = [("a-1", "x", "1"), ("a-2", "y", "2"), ("b-1", "x", "3"), ("a-10", "x", "4")]
        .map(|(name, team, at)| {
            format!("---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, labels: {{team: {team}, at: '{at}'}}}}}}\n")
        })
        .concat();
    let patch = "  patch: |\n    - {op: add, path: /data, value: {patched: 'yes'}}\n";
    let patched = |target: &str| {
        let kustomization = format!("resources: [all.yaml]\npatches:\n- target: {target}\n{patch}");
        let build = tree(&[("kustomization.yaml", &kustomization), ("all.yaml", &objects)]).build("");
        assert_eq!(build.failures, []);
        let hit = build.objects.iter().filter(|object| object.get("data").is_some());
        hit.map(|object| object.text_at(&["metadata", "name"]).unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(patched("{kind: ConfigMap, name: a-1}"), "a-1");
    assert_eq!(patched("{name: a-.*}"), "a-1 a-2 a-10");
    assert_eq!(patched("{name: 'a-1|b-1'}"), "a-1 b-1");
    assert_eq!(patched("{version: v1, labelSelector: team=x}"), "a-1 b-1 a-10");
    assert_eq!(patched("{labelSelector: 'team in (x, z), at != 1'}"), "b-1 a-10");
    assert_eq!(patched("{labelSelector: '!team'}"), "");
    assert_eq!(patched("{namespace: default, labelSelector: at>2}"), "b-1 a-10");
    assert_eq!(patched("{kind: Secret}"), "");
}

#[test]
fn json_patches_do_all_operations() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources: [web.yaml]\npatches:\n- target: {kind: Deployment}\n  patch: |\n    \
             - {op: test, path: /spec/replicas, value: 1}\n    \
             - {op: replace, path: /spec/replicas, value: 3}\n    \
             - {op: add, path: /metadata/annotations, value: {a~b: x}}\n    \
             - {op: copy, from: /metadata/annotations/a~0b, path: /metadata/annotations/c~1d}\n    \
             - {op: move, from: /metadata/labels, path: /spec/selector}\n    \
             - {op: remove, path: /spec/template}\n    \
             - {op: add, path: /spec/list, value: [b]}\n    \
             - {op: add, path: /spec/list/0, value: a}\n    \
             - {op: add, path: /spec/list/-, value: c}\n",
        ),
        ("web.yaml", DEPLOYMENT),
    ]);
    assert_built(
        &tree.build(""),
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, annotations: {a~b: x, c/d: x}}, \
         spec: {replicas: 3, selector: {app: web}, list: [a, b, c]}}\n",
    );
}

#[test]
fn json_patches_are_as_lenient_as_those_of_kustomize() {
    let patched = |operation: &str| {
        let kustomization =
            format!("resources: [x.yaml]\npatches:\n- target: {{kind: X}}\n  patch: |\n    - {operation}\n");
        let object = "apiVersion: x/v1\nkind: X\nmetadata: {name: x}\nspec: {l: [a, b], n: null}\n";
        let build = tree(&[("kustomization.yaml", &kustomization), ("x.yaml", object)]).build("");
        let failure = build.failures.first().map(|failure| failure.error.to_string());
        (failure, build.objects[0].clone())
    };
    let spec = |operation: &str, path: &[&str]| {
        let (failure, object) = patched(operation);
        assert_eq!(failure, None, "{operation}");
        object.at(path).cloned()
    };
    let text = |operation: &str, path: &[&str]| spec(operation, path).and_then(|node| node.text().map(str::to_owned));
    assert_eq!(text("{op: replace, path: /spec/new, value: 1}", &["spec", "new"]).as_deref(), Some("1"));
    assert!(spec("{op: copy, from: /spec/none, path: /spec/q}", &["spec", "q"]).is_some_and(|node| node.is_null()));
    assert_eq!(
        spec("{op: add, path: /spec/l/-1, value: z}", &["spec", "l"]).unwrap().as_seq().unwrap()[2].text(),
        Some("z")
    );
    assert_eq!(spec("{op: test, path: /spec/none, value: null}", &["spec", "none"]), None);
    assert_eq!(text("{op: add, path: /spec/on, value: on}", &["spec", "on"]).as_deref(), Some("true"));
    for operation in [
        "{op: replace, path: /spec/none/deep, value: 1}",
        "{op: replace, path: /spec/l/2, value: z}",
        "{op: add, path: /spec/n/x, value: z}",
        "{op: move, from: /spec/none, path: /spec/q}",
        "{op: remove, path: /spec/l/9}",
        "{op: bogus, path: /spec/q}",
    ] {
        assert!(patched(operation).0.is_some(), "{operation}");
    }
}

/// Annotations are there while kustomize works, in which it keeps former names; labels are not.
#[test]
fn a_json_patch_adds_an_annotation_where_there_is_none() {
    let built = |path: &str| {
        let kustomization = format!(
            "resources: [x.yaml]\npatches:\n- target: {{kind: X}}\n  patch: |\n    - {{op: add, path: {path}, value: v}}\n"
        );
        tree(&[("kustomization.yaml", &kustomization), ("x.yaml", "apiVersion: x/v1\nkind: X\nmetadata: {name: x}\n")])
            .build("")
    };
    assert_built(
        &built("/metadata/annotations/a"),
        "{apiVersion: x/v1, kind: X, metadata: {name: x, annotations: {a: v}}}\n",
    );
    assert_built(&built("/spec"), "{apiVersion: x/v1, kind: X, metadata: {name: x}, spec: v}\n");
    assert_eq!(built("/metadata/labels/a").failures.len(), 1);
}

#[test]
fn a_patch_that_fits_nothing_fails_where_it_is_written() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources: [web.yaml]\npatches:\n- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n    \
             metadata: {name: wbe}\n- target: {name: web}\n  patch: |\n    - {op: remove, path: /spec/none}\n- target: {name: '('}\n  \
             patch: |\n    - {op: remove, path: /spec}\n- path: patch.yaml\n- patch: '{}'\n  path: patch.yaml\n",
        ),
        ("web.yaml", DEPLOYMENT),
        ("patch.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: [1]}\n"),
    ]);
    assert_eq!(
        tree.failures(&tree.build("")),
        [
            "kustomization.yaml:6 no object for this patch: Deployment default/wbe is not in the build",
            "kustomization.yaml:9 the patch does not fit Deployment default/web: `/spec/none` is not in the object",
            "kustomization.yaml:10 `(` is not a regular expression",
            "patch.yaml:4 the patch does not fit Deployment default/web: the patch has a list where the object has a plain value",
            "kustomization.yaml:15 `patch` and `path` exclude each other",
        ]
    );
}

#[test]
fn patches_delete_objects_and_change_names_if_they_may() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources: [web.yaml, config.yaml]\npatchesStrategicMerge:\n- |\n  apiVersion: apps/v1\n  kind: Deployment\n  \
             metadata: {name: web}\n  $patch: delete\npatches:\n- target: {kind: ConfigMap}\n  options: {allowNameChange: true}\n  \
             patch: |\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: other, namespace: ignored}\n",
        ),
        ("web.yaml", DEPLOYMENT),
        ("config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\n"),
    ]);
    assert_built(&tree.build(""), "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}\n");
}

#[test]
fn the_old_lists_of_patches_still_work() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources: [config.yaml]\nnamePrefix: x-\npatchesStrategicMerge: [merge.yaml]\npatchesJson6902:\n\
             - target: {version: v1, kind: ConfigMap, name: config}\n  path: patch.json\n",
        ),
        ("config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {a: '1', b: '2'}\n"),
        ("merge.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {a: null}\n"),
        ("patch.json", "[{\"op\": \"add\", \"path\": \"/data/c\", \"value\": \"3\"}]"),
    ]);
    assert_built(
        &tree.build(""),
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: x-config}, data: {b: '2', c: '3'}}\n",
    );
}

#[test]
fn a_patched_value_keeps_the_quotes_of_the_old_one() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources: [x.yaml]\npatches:\n- patch: |\n    {apiVersion: x/v1, kind: X, metadata: {name: x}, spec: {a: 5, b: 5, c: '5'}}\n",
        ),
        (
            "x.yaml",
            "apiVersion: x/v1\nkind: X\nmetadata:\n  name: x\nspec:\n  a: \"4\"\n  b: 4\n  c: 4\n  gone:\n  kept: null\n",
        ),
    ]);
    assert_built(
        &tree.build(""),
        "{apiVersion: x/v1, kind: X, metadata: {name: x}, spec: {a: '5', b: 5, c: '5', kept: null}}\n",
    );
}

#[test]
fn a_patch_of_several_objects_reaches_each() {
    let tree = tree(&[
        ("kustomization.yaml", "resources: [all.yaml]\npatches:\n- path: patch.yaml\n"),
        (
            "all.yaml",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n",
        ),
        (
            "patch.yaml",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, $patch: delete}\n---\n\
             {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: y}}\n",
        ),
    ]);
    let build = tree.build("");
    assert_eq!(names(&build), ["ConfigMap/a"]);
    assert_eq!(build.objects[0].text_at(&["data", "x"]), Some("y"));
}
