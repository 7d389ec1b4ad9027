//! Builds that take more than they may: nothing of them is known, and the place that was too much is told.

mod story;

use coldstart_kustomize::{Blind, LimitError, Mode, Overlay, Overlooked};
use story::{Tree, names, tree};
use yaml::{Budget, Cost, Spent};

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {a: b}\n";

/// Where a build ended, and why; it has no objects then, and says nothing else.
fn ended(tree: &Tree) -> (String, LimitError) {
    let build = tree.build("app");
    assert_eq!(names(&build), Vec::<String>::new());
    assert_eq!(tree.failures(&build), Vec::<String>::new());
    let [Blind { what: Overlooked::Beyond(limit), span }] = build.blind.as_slice() else {
        panic!("{:?}", build.blind);
    };
    (tree.place(*span), limit.clone())
}

fn operations(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

#[test]
fn a_mapping_that_is_copied_into_itself_again_and_again() {
    let patch = operations(60, |number| format!("- {{op: copy, from: /data, path: /data/k{number}}}\n"));
    let kustomization = "resources: [config.yaml]\npatches: [{path: patch.yaml, target: {kind: ConfigMap}}]\n";
    let tree =
        tree(&[("app/kustomization.yaml", kustomization), ("app/config.yaml", CONFIG), ("app/patch.yaml", &patch)]);
    let (place, limit) = ended(&tree);
    assert!(place.starts_with("app/patch.yaml:2"), "{place}");
    assert_eq!(limit, LimitError::Spent(Spent::Build));
}

#[test]
fn a_mapping_that_is_replaced_into_itself_again_and_again() {
    let replacements = operations(60, |number| {
        format!(
            "- source: {{kind: ConfigMap, fieldPath: data}}\n  targets: [{{select: {{kind: ConfigMap}}, fieldPaths: [data.k{number}], options: {{create: true}}}}]\n"
        )
    });
    let kustomization = format!("resources: [config.yaml]\nreplacements:\n{replacements}");
    let tree = tree(&[("app/kustomization.yaml", &kustomization), ("app/config.yaml", CONFIG)]);
    let (place, limit) = ended(&tree);
    assert!(place.starts_with("app/kustomization.yaml:"), "{place}");
    assert_eq!(limit, LimitError::Spent(Spent::Build));
}

#[test]
fn a_path_that_is_deeper_than_any_file() {
    let deep = "/a".repeat(400);
    let patch = format!("- {{op: add, path: /data{deep}, value: b}}\n");
    let kustomization = "resources: [config.yaml]\npatches: [{path: patch.yaml, target: {kind: ConfigMap}}]\n";
    let by_patch =
        [("app/kustomization.yaml", kustomization), ("app/config.yaml", CONFIG), ("app/patch.yaml", patch.as_str())];
    assert_eq!(ended(&tree(&by_patch)), ("app/patch.yaml:1".to_owned(), LimitError::Depth));

    let replacement = format!(
        "resources: [config.yaml]\nreplacements:\n- sourceValue: x\n  targets: [{{select: {{kind: ConfigMap}}, fieldPaths: [b{}], options: {{create: true}}}}]\n",
        ".a".repeat(400)
    );
    let by_replacement = [("app/kustomization.yaml", replacement.as_str()), ("app/config.yaml", CONFIG)];
    assert_eq!(ended(&tree(&by_replacement)), ("app/kustomization.yaml:4".to_owned(), LimitError::Depth));

    let configured = format!("namePrefix: [{{path: c{deep}, create: true}}]\n");
    let by_configuration = [
        ("app/kustomization.yaml", "resources: [config.yaml]\nnamePrefix: x\nconfigurations: [names.yaml]\n"),
        ("app/config.yaml", CONFIG),
        ("app/names.yaml", configured.as_str()),
    ];
    assert_eq!(ended(&tree(&by_configuration)).1, LimitError::Depth);
}

#[test]
fn an_expression_that_is_too_large_is_a_limit_and_not_a_fault_of_the_build() {
    let expression = r"\w{900}";
    let by_patch = format!(
        "resources: [config.yaml]\npatches:\n- {{target: {{name: '{expression}'}}, patch: '[{{op: add, path: /data/k, value: v}}]'}}\n"
    );
    let by_target = format!(
        "resources: [config.yaml]\nreplacements:\n- sourceValue: x\n  targets: [{{select: {{name: '{expression}'}}, fieldPaths: [data.a]}}]\n"
    );
    let by_item = format!(
        "resources: [config.yaml]\nreplacements:\n- sourceValue: x\n  targets: [{{select: {{kind: ConfigMap}}, fieldPaths: ['list.[a={expression}].b']}}]\n"
    );
    let by_image = format!("resources: [config.yaml]\nimages:\n- {{name: '{expression}', newTag: v1}}\n");
    for (kustomization, line) in [(by_patch, 3), (by_target, 4), (by_item, 4), (by_image, 3)] {
        let config = format!("{CONFIG}list: [{{a: b, b: c}}]\n");
        let tree = tree(&[("app/kustomization.yaml", &kustomization), ("app/config.yaml", &config)]);
        assert_eq!(ended(&tree), (format!("app/kustomization.yaml:{line}"), LimitError::Expression), "{kustomization}");
    }
}

#[test]
fn one_build_that_is_too_much_takes_all_that_is_left_and_says_whose_limit_it_is() {
    let kustomization = "resources: [config.yaml]\ncommonLabels: {a: b}\n";
    let tree = tree(&[("app/kustomization.yaml", kustomization), ("app/config.yaml", CONFIG)]);
    let mut budget = Budget::of_rest(Cost { nodes: 20, bytes: 1_000 });
    let build = coldstart_kustomize::build(&tree, "app", &Overlay::default(), Mode::Flux, &mut budget);
    assert_eq!(build.objects.len(), 0);
    assert_eq!(build.blind[0].what, Overlooked::Beyond(LimitError::Spent(Spent::Report)));
    assert!(budget.spend(Cost::NONE).is_err());
}

#[test]
fn the_cost_of_a_patch_for_one_object_does_not_grow_with_the_others() {
    let cost = |count: usize| {
        let config = |number| CONFIG.replace("config", &format!("c{number}"));
        let configs: Vec<String> = (0..count).map(config).collect();
        let configs = configs.join("---\n");
        let patch = |number| {
            format!(
                "- {{target: {{kind: ConfigMap, name: c{number}}}, patch: '[{{op: add, path: /data/k, value: v}}]'}}"
            )
        };
        let patches: Vec<String> = (0..count).map(patch).collect();
        let kustomization = format!("resources: [configs.yaml]\npatches:\n{}\n", patches.join("\n"));
        let tree = tree(&[("app/kustomization.yaml", &kustomization), ("app/configs.yaml", &configs)]);
        let mut budget = Budget::of_build();
        let build = coldstart_kustomize::build(&tree, "app", &Overlay::default(), Mode::Flux, &mut budget);
        assert_eq!(build.objects.len(), count);
        assert!(build.objects.iter().all(|node| node.text_at(&["data", "k"]) == Some("v")));
        budget.spent().nodes
    };
    let (few, many) = (cost(50), cost(500));
    assert!(many < 12 * few, "{few} nodes for 50, {many} for 500");
}
