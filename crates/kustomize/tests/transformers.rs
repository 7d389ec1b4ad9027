//! Namespaces, names, labels, images and replicas.

mod story;

use coldstart_kustomize::Overlooked;
use story::{assert_built, names, object, tree};

#[test]
fn a_namespace_moves_what_is_namespaced() {
    let tree = tree(&[
        ("kustomization.yaml", "resources: [all.yaml]\nnamespace: prod\n"),
        (
            "all.yaml",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: written}}\n---\n\
             {apiVersion: v1, kind: Namespace, metadata: {name: other}}\n---\n\
             {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}\n---\n\
             {apiVersion: x/v1, kind: ClusterThing, metadata: {name: t}}\n---\n\
             {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, \
             subjects: [{kind: ServiceAccount, name: default}, {kind: ServiceAccount, name: sa, namespace: written}, \
             {kind: ServiceAccount, name: elsewhere, namespace: else}]}\n---\n\
             {apiVersion: v1, kind: ServiceAccount, metadata: {name: sa, namespace: written}}\n",
        ),
    ]);
    assert_built(
        &tree.build(""),
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: prod}}\n---\n\
         {apiVersion: v1, kind: Namespace, metadata: {name: prod}}\n---\n\
         {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}\n---\n\
         {apiVersion: x/v1, kind: ClusterThing, metadata: {name: t, namespace: prod}}\n---\n\
         {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, \
         subjects: [{kind: ServiceAccount, name: default, namespace: prod}, {kind: ServiceAccount, name: sa, namespace: prod}, \
         {kind: ServiceAccount, name: elsewhere, namespace: else}]}\n---\n\
         {apiVersion: v1, kind: ServiceAccount, metadata: {name: sa, namespace: prod}}\n",
    );
}

#[test]
fn a_namespace_that_makes_two_objects_one_is_a_failure() {
    let tree = tree(&[
        ("kustomization.yaml", "resources: [all.yaml]\nnamespace: prod\n"),
        (
            "all.yaml",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: a}}\n---\n\
             {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: b}}\n",
        ),
    ]);
    assert_eq!(
        tree.failures(&tree.build("")),
        ["kustomization.yaml:2 the namespace makes two objects one: ConfigMap prod/c"]
    );
}

#[test]
fn prefixes_and_suffixes_leave_names_with_a_meaning_alone() {
    let tree = tree(&[
        ("kustomization.yaml", "resources: [all.yaml]\nnamePrefix: a-\nnameSuffix: -z\n"),
        (
            "all.yaml",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n---\n\
             {apiVersion: v1, kind: Namespace, metadata: {name: n}}\n---\n\
             {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x.y}}\n",
        ),
    ]);
    assert_eq!(names(&tree.build("")), ["ConfigMap/a-c-z", "Namespace/n", "CustomResourceDefinition/x.y"]);
}

const WORKLOAD: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: 'registry:5000/web:1@sha256:abc'}]
      initContainers: [{name: init, image: busybox}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}}
---
apiVersion: x/v1
kind: Custom
metadata: {name: x}
spec: {pod: {containers: [{image: busybox:2}]}}
";

#[test]
fn labels_go_where_each_list_says() {
    let labelled = |labels: &str| {
        let tree = tree(&[("kustomization.yaml", &format!("resources: [web.yaml]\n{labels}")), ("web.yaml", WORKLOAD)]);
        let build = tree.build("");
        assert_eq!(build.failures, []);
        let has =
            |kind: &str, path: &[&str]| object(&build, kind).at(path).is_some_and(|node| node.get("team").is_some());
        [
            has("Deployment", &["metadata", "labels"]),
            has("Deployment", &["spec", "template", "metadata", "labels"]),
            has("Deployment", &["spec", "selector", "matchLabels"]),
            has("Service", &["spec", "selector"]),
            has("Custom", &["metadata", "labels"]),
            has("Custom", &["spec", "labels"]),
        ]
    };
    assert_eq!(labelled("commonLabels: {team: a}\n"), [true, true, true, true, true, false]);
    assert_eq!(labelled("labels: [{pairs: {team: a}}]\n"), [true, false, false, false, true, false]);
    let templates = "labels: [{pairs: {team: a}, includeTemplates: true}]\n";
    assert_eq!(labelled(templates), [true, true, false, false, true, false]);
    let selectors = "labels: [{pairs: {team: a}, includeSelectors: true}]\n";
    assert_eq!(labelled(selectors), [true, true, true, true, true, false]);
    let fields = "labels: [{pairs: {team: a}, fields: [{path: spec/labels, kind: Custom, create: true}]}]\n";
    assert_eq!(labelled(fields), [true, false, false, false, true, true]);
}

#[test]
fn annotations_go_to_objects_and_their_pods() {
    let tree =
        tree(&[("kustomization.yaml", "resources: [web.yaml]\ncommonAnnotations: {a: b}\n"), ("web.yaml", WORKLOAD)]);
    let build = tree.build("");
    let text = |kind: &str, path: &[&str]| object(&build, kind).text_at(path).map(str::to_owned);
    assert_eq!(text("Service", &["metadata", "annotations", "a"]).as_deref(), Some("b"));
    assert_eq!(text("Deployment", &["spec", "template", "metadata", "annotations", "a"]).as_deref(), Some("b"));
}

#[test]
fn images_get_other_names_tags_and_digests() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources: [web.yaml]\nimages:\n- {name: 'registry:5000/web', newTag: '2'}\n- {name: busybox, newName: mirror/busybox, \
             digest: 'sha256:def'}\n",
        ),
        ("web.yaml", WORKLOAD),
    ]);
    let build = tree.build("");
    let image = |kind: &str, path: &[&str]| {
        let containers = object(&build, kind).at(path).unwrap();
        containers.as_seq().unwrap()[0].text_at(&["image"]).unwrap().to_owned()
    };
    let pod = ["spec", "template", "spec"];
    assert_eq!(image("Deployment", &[pod[0], pod[1], pod[2], "containers"]), "registry:5000/web:2");
    assert_eq!(image("Deployment", &[pod[0], pod[1], pod[2], "initContainers"]), "mirror/busybox@sha256:def");
    assert_eq!(image("Custom", &["spec", "pod", "containers"]), "mirror/busybox@sha256:def");
}

#[test]
fn replicas_are_set_by_the_name_an_object_was_read_with() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources: [web.yaml]\nnamePrefix: x-\nreplicas:\n- {name: web, count: 3}\n- {name: none, count: 1}\n",
        ),
        ("web.yaml", WORKLOAD),
    ]);
    let build = tree.build("");
    assert_eq!(object(&build, "Deployment").text_at(&["spec", "replicas"]), Some("3"));
    assert_eq!(tree.failures(&build), ["kustomization.yaml:5 no object named `none` has replicas"]);
}

#[test]
fn transformers_may_be_objects() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources: [config.yaml]\ntransformers:\n- prefix.yaml\n- |\n  apiVersion: builtin\n  kind: NamespaceTransformer\n  \
             metadata: {name: x, namespace: prod}\n- exec.yaml\ngenerators:\n- |\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n  \
             metadata: {name: made}\n  literals: [a=b]\n  options: {disableNameSuffixHash: true}\n",
        ),
        ("config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\n"),
        (
            "prefix.yaml",
            "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: p}\nprefix: p-\nfieldSpecs: [{path: metadata/name}]\n",
        ),
        ("exec.yaml", "apiVersion: example.org/v1\nkind: Runs\nmetadata: {name: r}\n"),
    ]);
    let build = tree.build("");
    assert_built(
        &build,
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: p-config, namespace: prod}}\n---\n\
         {apiVersion: v1, kind: ConfigMap, metadata: {name: p-made, namespace: prod}, data: {a: b}}\n",
    );
    let run = Overlooked::Plugin { kind: "Runs".to_owned(), name: "r".to_owned() };
    assert_eq!(build.blind.iter().map(|blind| blind.what.clone()).collect::<Vec<_>>(), [run]);
}
