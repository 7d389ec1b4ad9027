//! Generated ConfigMaps and Secrets, their hashes, and the fields that follow a changed name.

mod story;

use story::{assert_built, names, object, tree};

#[test]
fn hashes_equal_those_of_kustomize() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "configMapGenerator:\n- name: literals\n  literals: [a=b, 'c=\"d=e\"', 'f=<&>']\n- name: files\n  files: [x.conf, \
             renamed=x.conf]\n- name: envs\n  envs: [vars.env]\n- name: empty\nsecretGenerator:\n- name: secret\n  \
             literals: [password=hunter2]\n  type: example.org/x\n- name: none\n",
        ),
        ("x.conf", "line one\nline two\n"),
        ("vars.env", "# comment\n\nA=1\n  B=two words\nC\n"),
    ]);
    let build = tree.build("");
    assert_eq!(build.failures, []);
    assert_eq!(
        names(&build),
        [
            "ConfigMap/literals-gdf75hc278",
            "ConfigMap/files-2766mt7466",
            "ConfigMap/envs-fbg265c954",
            "ConfigMap/empty-6ct58987ht",
            "Secret/secret-hh4k46htcg",
            "Secret/none-46f8b28mk5",
        ]
    );
    let data = |at: usize| build.objects[at].get("data");
    assert_eq!(data(0).unwrap().text_at(&["c"]), Some("d=e"));
    assert_eq!(data(1).unwrap().text_at(&["renamed"]), Some("line one\nline two\n"));
    assert_eq!(data(2).unwrap().text_at(&["B"]), Some("two words"));
    assert_eq!(data(2).unwrap().text_at(&["C"]), Some(""));
    assert_eq!(data(3), None);
    assert_eq!(data(4).unwrap().text_at(&["password"]), Some("aHVudGVyMg=="));
    assert_eq!(build.objects[4].text_at(&["type"]), Some("example.org/x"));
}

#[test]
fn options_of_the_generator_come_before_those_of_all() {
    let tree = tree(&[(
        "kustomization.yaml",
        "generatorOptions:\n  disableNameSuffixHash: true\n  labels: {a: all, b: all}\n  annotations: {n: all}\n  immutable: true\n\
         configMapGenerator:\n- name: c\n  namespace: ns\n  literals: [k=v]\n  options: {labels: {a: own}}\n",
    )]);
    assert_built(
        &tree.build(""),
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: ns, labels: {a: own, b: all}, annotations: {n: all}}, \
         data: {k: v}, immutable: true}\n",
    );
}

#[test]
fn an_overlay_merges_with_or_replaces_what_its_base_generated() {
    let tree = tree(&[
        (
            "base/kustomization.yaml",
            "generatorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator:\n- name: merged\n  literals: [a=1, b=1]\n- name: replaced\n  \
             literals: [a=1]\n",
        ),
        (
            "overlay/kustomization.yaml",
            "resources: [../base]\ngeneratorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator:\n- name: merged\n  behavior: merge\n  \
             literals: [b=2, c=2]\n- name: replaced\n  behavior: replace\n  literals: [z=2]\n",
        ),
        (
            "bad/kustomization.yaml",
            "resources: [../base]\nconfigMapGenerator:\n- name: merged\n- name: new\n  behavior: merge\n",
        ),
    ]);
    assert_built(
        &tree.build("overlay"),
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: merged}, data: {a: '1', b: '2', c: '2'}}\n---\n\
         {apiVersion: v1, kind: ConfigMap, metadata: {name: replaced}, data: {z: '2'}}\n",
    );
    assert_eq!(
        tree.failures(&tree.build("bad")),
        [
            "bad/kustomization.yaml:3 ConfigMap default/merged exists; the generator's behavior must be merge or replace",
            "bad/kustomization.yaml:4 ConfigMap default/new does not exist, so there is nothing to merge with or replace",
        ]
    );
}

const REFERRERS: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      serviceAccountName: sa
      volumes: [{name: v, configMap: {name: config}}, {name: w, configMap: {name: foreign}}]
      containers: [{name: c, env: [{name: X, valueFrom: {secretKeyRef: {name: secret, key: x}}}]}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {scaleTargetRef: {kind: Deployment, name: web}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app}
spec: {valuesFrom: [{kind: ConfigMap, name: config}]}
";

#[test]
fn references_follow_changed_names() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources: [all.yaml]\nnamePrefix: p-\nconfigMapGenerator: [{name: config, literals: [a=b]}]\n\
             secretGenerator: [{name: secret, literals: [x=y]}]\nconfigurations: [kustomizeconfig.yaml]\n",
        ),
        ("all.yaml", REFERRERS),
        (
            "kustomizeconfig.yaml",
            "nameReference:\n- kind: ConfigMap\n  version: v1\n  fieldSpecs:\n  - {path: spec/valuesFrom/name, kind: HelmRelease}\n",
        ),
    ]);
    let build = tree.build("");
    assert_eq!(build.failures, []);
    let pod = object(&build, "Deployment").at(&["spec", "template", "spec"]).unwrap();
    assert_eq!(pod.text_at(&["serviceAccountName"]), Some("p-sa"));
    let config = object(&build, "ConfigMap").text_at(&["metadata", "name"]).unwrap();
    assert!(config.starts_with("p-config-"), "{config}");
    assert_eq!(pod.items_at("volumes")[0].text_at(&["configMap", "name"]), Some(config));
    assert_eq!(pod.items_at("volumes")[1].text_at(&["configMap", "name"]), Some("foreign"));
    let secret = object(&build, "Secret").text_at(&["metadata", "name"]).unwrap();
    let env = &pod.items_at("containers")[0].items_at("env")[0];
    assert_eq!(env.text_at(&["valueFrom", "secretKeyRef", "name"]), Some(secret));
    let autoscaler = object(&build, "HorizontalPodAutoscaler");
    assert_eq!(autoscaler.text_at(&["spec", "scaleTargetRef", "name"]), Some("p-web"));
    let release = object(&build, "HelmRelease").get("spec").unwrap();
    assert_eq!(release.items_at("valuesFrom")[0].text_at(&["name"]), Some(config));
}

#[test]
fn a_name_that_could_mean_two_objects_of_other_overlays_is_left_alone() {
    let tree = tree(&[
        ("kustomization.yaml", "resources: [a, b, pod.yaml]\n"),
        ("a/kustomization.yaml", "namePrefix: a-\nresources: [c.yaml]\n"),
        ("a/c.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: config}}\n"),
        ("b/kustomization.yaml", "namePrefix: b-\nresources: [c.yaml]\n"),
        ("b/c.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: config}}\n"),
        (
            "pod.yaml",
            "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {volumes: [{configMap: {name: config}}]}}\n",
        ),
    ]);
    let build = tree.build("");
    assert_eq!(names(&build), ["ConfigMap/a-config", "ConfigMap/b-config", "Pod/p"]);
    let volume = &object(&build, "Pod").get("spec").unwrap().items_at("volumes")[0];
    assert_eq!(volume.text_at(&["configMap", "name"]), Some("config"));
}

#[test]
fn vars_are_copied_to_where_they_stand() {
    let tree = tree(&[
        (
            "kustomization.yaml",
            "resources: [all.yaml]\nnamePrefix: p-\nvars:\n- name: SERVICE\n  objref: {apiVersion: v1, kind: Service, name: db}\n- name: PORT\n  \
             objref: {apiVersion: v1, kind: Service, name: db}\n  fieldref: {fieldpath: 'spec.ports[0].port'}\n",
        ),
        (
            "all.yaml",
            "{apiVersion: v1, kind: Service, metadata: {name: db}, spec: {ports: [{port: 5432}]}}\n---\n\
             {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, args: \
             [$(SERVICE):$(PORT), $(PORT), $$(PORT), $(OTHER)]}]}}\n",
        ),
    ]);
    let build = tree.build("");
    let pod = object(&build, "Pod").get("spec").unwrap();
    let args: Vec<_> = pod.items_at("containers")[0].items_at("args").iter().map(|arg| arg.text().unwrap()).collect();
    assert_eq!(args, ["p-db:5432", "5432", "$(PORT)", "$(OTHER)"]);
}
