//! Whatever the files hold, a build ends, and without a panic.

mod story;

use coldstart_kustomize::Overlay;
use proptest::prelude::*;
use story::tree;

/// Pieces that kustomizations and manifests are made of, so that chance gets past the first line.
fn line() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("a.yaml"),
        Just("b.yaml"),
        Just("../x"),
        Just("."),
        Just(".."),
        Just("null"),
        Just("5"),
        Just("{}"),
        Just("[]"),
        Just("v1"),
        Just("ConfigMap"),
        Just("Deployment"),
        Just("name"),
        Just("'('"),
        Just("a=b"),
        Just("spec.*.[a=b].0"),
        Just("{name: a, kind: ConfigMap}"),
        Just("{op: add, path: /metadata/name, value: [1]}"),
        Just("$patch"),
        Just("delete"),
        Just("&a"),
        Just("*a"),
        Just("|"),
        Just("https://x/y"),
        Just("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"),
    ];
    let key = prop_oneof![
        Just("resources"),
        Just("patches"),
        Just("components"),
        Just("namespace"),
        Just("namePrefix"),
        Just("commonLabels"),
        Just("labels"),
        Just("images"),
        Just("replicas"),
        Just("replacements"),
        Just("configMapGenerator"),
        Just("transformers"),
        Just("generators"),
        Just("configurations"),
        Just("vars"),
        Just("kind"),
        Just("apiVersion"),
        Just("metadata"),
        Just("name"),
        Just("patch"),
        Just("path"),
        Just("target"),
        Just("source"),
        Just("targets"),
        Just("select"),
        Just("fieldPaths"),
        Just("spec"),
        Just("data"),
        Just("literals"),
        Just("files"),
        Just("$patch"),
        Just("sortOptions"),
        Just("crds"),
    ];
    let indent = prop_oneof![Just(""), Just("  "), Just("    "), Just("- "), Just("  - ")];
    prop_oneof![
        (indent.clone(), key.clone(), word.clone()).prop_map(|(indent, key, word)| format!("{indent}{key}: {word}\n")),
        (indent.clone(), key).prop_map(|(indent, key)| format!("{indent}{key}:\n")),
        (indent, word).prop_map(|(indent, word)| format!("{indent}{word}\n")),
        Just("---\n".to_owned()),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::collection::vec(line(), 0..14).prop_map(|lines| lines.concat()),
        1 => any::<Vec<u8>>().prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn a_build_always_ends(kustomization in text(), a in text(), b in text(), other in text()) {
        let tree = tree(&[
            ("kustomization.yaml", &kustomization),
            ("a.yaml", &a),
            ("b.yaml", &b),
            ("x/kustomization.yaml", &other),
            ("x/a.yaml", &a),
        ]);
        tree.build("");
        tree.build("x");
        tree.flux("", &Overlay::default());
    }

    #[test]
    fn a_patch_of_anything_never_panics(object in text(), patch in text()) {
        let kustomization = "resources: [a.yaml]\npatches:\n- path: b.yaml\n  target: {kind: '.*'}\n- path: b.yaml\n";
        let object = format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\n{object}");
        let patch = format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\n{patch}");
        tree(&[("kustomization.yaml", kustomization), ("a.yaml", &object), ("b.yaml", &patch)]).build("");
    }
}
