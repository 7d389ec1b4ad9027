//! ResourceSets into the objects that the operator applies.

use coldstart_read::resource_set::{expand, expand_with};
use model::{Cause, Unseen, WhyUnseen};
use proptest::prelude::*;
use source::FileId;
use yaml::{Budget, Node};

fn node(text: &str) -> Node {
    yaml::parse_value(FileId(3), text).expect("a fixture that can be read")
}

/// What of a template was not worked out.
fn causes(why: &WhyUnseen) -> String {
    match why {
        WhyUnseen::NotWorkedOut(causes) => causes.iter().map(Cause::to_string).collect::<Vec<_>>().join("; "),
        WhyUnseen::BeyondLimit(cause) => format!("beyond the limit: {cause}"),
        other => panic!("no template is at fault, but {other:?}"),
    }
}

/// `Kind namespace/name` of every object.
fn titles(objects: &[Node]) -> Vec<String> {
    let text = |object: &Node, path: &[&str]| object.text_at(path).unwrap_or("-").to_owned();
    objects
        .iter()
        .map(|object| {
            let name = text(object, &["metadata", "name"]);
            format!("{} {}/{name}", text(object, &["kind"]), text(object, &["metadata", "namespace"]))
        })
        .collect()
}

const SHOPS: &str = r#"
apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSet
metadata: {name: shops, namespace: flux-system}
spec:
  commonMetadata:
    labels: {team: retail}
  inputs:
    - shop: north
      replicas: "2"
      values: {tls: true, hosts: [a, b]}
    - shop: south
      replicas: "3"
      values: {tls: false, hosts: []}
  resources:
    - apiVersion: source.toolkit.fluxcd.io/v1
      kind: OCIRepository
      metadata: {name: shop, namespace: shops}
    - apiVersion: helm.toolkit.fluxcd.io/v2
      kind: HelmRelease
      metadata:
        name: shop-<< inputs.shop >>
        namespace: shops
        labels:
          << inputs.shop >>: "yes"
          count: << inputs.replicas | quote >>
      spec:
        values:
          replicas: << inputs.replicas | int >>
          more: << inputs.values | toYaml | nindent 12 >>
          name: << inputs.shop | upper | default "x" >>
"#;

#[test]
fn every_input_makes_its_objects_and_shared_ones_come_once() {
    let expansion = expand(&node(SHOPS));
    assert_eq!(
        titles(&expansion.objects),
        ["OCIRepository shops/shop", "HelmRelease shops/shop-north", "HelmRelease shops/shop-south"]
    );
    assert!(expansion.blind.is_empty() && expansion.steps.is_empty());
    let values = expansion.objects[1].at(&["spec", "values"]).unwrap();
    assert_eq!(values, &node("{replicas: 2, more: {tls: true, hosts: [a, b]}, name: NORTH}"));
    let labels = expansion.objects[2].at(&["metadata", "labels"]).unwrap();
    assert_eq!(labels, &node(r#"{south: "yes", count: "3", team: retail}"#));
}

#[test]
fn values_point_at_the_template_they_came_from() {
    let expansion = expand(&node(SHOPS));
    let span = expansion.objects[1].at(&["metadata", "name"]).unwrap().span;
    assert_eq!(&SHOPS[span.start as usize..span.end as usize], "shop-<< inputs.shop >>");
    let deep = expansion.objects[1].at(&["spec", "values", "more", "tls"]).unwrap().span;
    assert_eq!(&SHOPS[deep.start as usize..deep.end as usize], "<< inputs.values | toYaml | nindent 12 >>");
}

#[test]
fn a_template_of_many_documents_may_range_and_choose() {
    let expansion = expand(&node(
        r"
kind: ResourceSet
spec:
  inputs:
    - bundle: base
      sealed: false
      apps: [dns, certs]
    - bundle: apps
      sealed: true
      apps: [shop]
  resourcesTemplate: |
    ---
    apiVersion: source.toolkit.fluxcd.io/v1
    kind: OCIRepository
    metadata:
      name: << inputs.bundle >>
    <<- range $at, $app := inputs.apps >>
    ---
    apiVersion: kustomize.toolkit.fluxcd.io/v1
    kind: Kustomization
    metadata:
      name: << $app >>
    spec:
      <<- /* only where secrets are */ ->>
      <<- if and inputs.sealed (eq inputs.bundle `apps`) >>
      decryption: {provider: sops}
      <<- else if gt $at 0 >>
      dependsOn: [{name: << index inputs.apps 0 | quote >>}]
      <<- else >>
      prune: true
      <<- end >>
      path: ./<< printf `%s/%s` inputs.bundle . >>
    <<- end >>
",
    ));
    assert_eq!(expansion.blind, []);
    let objects = &expansion.objects;
    assert_eq!(
        titles(objects),
        [
            "OCIRepository -/base",
            "Kustomization -/dns",
            "Kustomization -/certs",
            "OCIRepository -/apps",
            "Kustomization -/shop"
        ]
    );
    assert_eq!(objects[1].get("spec").unwrap(), &node("{prune: true, path: ./base/dns}"));
    assert_eq!(objects[2].get("spec").unwrap(), &node("{dependsOn: [{name: dns}], path: ./base/certs}"));
    assert_eq!(objects[4].get("spec").unwrap(), &node("{decryption: {provider: sops}, path: ./apps/shop}"));
}

#[test]
fn what_can_not_be_worked_out_is_a_blind_spot_and_the_rest_is_kept() {
    let expansion = expand(&node(
        r"
kind: ResourceSet
spec:
  inputs: [{name: a}]
  resources:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: << inputs.name >>}}
    - {apiVersion: v1, kind: Secret, metadata: {name: s}, data: {x: << genPrivateKey `rsa` >>}}
    - {apiVersion: v1, kind: Service, metadata: {name: << inputs.nothing >>}}
  resourcesTemplate: |
    apiVersion: v1
    kind: ServiceAccount
    metadata: {name: << uuidv4 >>}
    ---
    apiVersion: v1
    kind: Namespace
    metadata: {name: << inputs.name >>}
",
    ));
    assert_eq!(titles(&expansion.objects), ["ConfigMap -/a", "Namespace -/a"]);
    let blind: Vec<(&Unseen, String)> = expansion.blind.iter().map(|(what, why, _)| (what, causes(why))).collect();
    let manifest = |kind: &str, name: &str| Unseen::Manifest { kind: Some(kind.into()), name: Some(name.into()) };
    assert_eq!(
        blind,
        [
            (
                &manifest("Secret", "s"),
                "the function `genPrivateKey` is not known, or not with such arguments".to_owned()
            ),
            (&manifest("Service", "<< inputs.nothing >>"), "no input has the field `nothing`".to_owned()),
            (
                &manifest("ServiceAccount", "?"),
                "the function `uuidv4` is not known, or not with such arguments".to_owned()
            ),
        ]
    );
}

#[test]
fn a_template_that_is_none_makes_nothing_and_says_so() {
    for template in
        ["<< if inputs.a >>x", "<< end >>", "<< ( >>", "<< inputs.a", "<< >>", "<< `x >>", "<< define `a` >>"]
    {
        let text = format!("kind: ResourceSet\nspec:\n  inputs: [{{a: 1}}]\n  resourcesTemplate: |\n    {template}\n");
        let expansion = expand(&node(&text));
        assert!(expansion.objects.is_empty() && expansion.blind.len() == 1, "{template}: {expansion:?}");
    }
}

#[test]
fn steps_keep_their_order() {
    let expansion = expand(&node(
        r"
kind: ResourceSet
spec:
  inputs: [{app: shop}]
  steps:
    - name: migrate
      resources:
        - {apiVersion: batch/v1, kind: Job, metadata: {name: migrate-<< inputs.app >>}}
    - name: nothing
      resources:
        - {apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {fluxcd.controlplane.io/reconcile: disabled}}}
    - name: serve
      resources:
        - {apiVersion: apps/v1, kind: Deployment, metadata: {name: << inputs.app >>}}
        - {apiVersion: v1, kind: Service, metadata: {name: << inputs.app >>}}
",
    ));
    assert_eq!(titles(&expansion.objects), ["Job -/migrate-shop", "Deployment -/shop", "Service -/shop"]);
    let steps: Vec<(&str, _)> = expansion.steps.iter().map(|(name, range)| (name.as_str(), range.clone())).collect();
    assert_eq!(steps, [("migrate", 0..1), ("nothing", 1..1), ("serve", 1..3)]);
}

#[test]
fn without_inputs_the_templates_are_taken_once() {
    let expansion = expand(&node(
        "kind: ResourceSet\nspec:\n  resources:\n    - {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n",
    ));
    assert_eq!(titles(&expansion.objects), ["Namespace -/a"]);
}

const PROVIDED: &str = "
kind: ResourceSet
metadata: {name: My-Set, namespace: x}
spec:
  STRATEGY
  inputs: [{colour: red}, {colour: blue}]
  inputsFrom:
    - {kind: ResourceSetInputProvider, name: sizes}
    - {kind: ResourceSetInputProvider, selector: {matchLabels: {live: 'yes'}, matchExpressions: [{key: env, operator: In, values: [dev]}]}}
  resources:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: NAME}}
";

fn providers() -> [Node; 3] {
    let provider = |rest: &str| node(&format!("kind: ResourceSetInputProvider\n{rest}"));
    [
        provider(
            "metadata: {name: sizes, namespace: x}\nspec: {type: Static, defaultValues: {colour: grey, size: xl}}\n",
        ),
        provider(
            "metadata: {name: pulls, namespace: x, labels: {live: 'yes', env: dev}}\nspec: {type: GitHubPullRequest}\n",
        ),
        provider("metadata: {name: sizes, namespace: elsewhere}\nspec: {type: Static, defaultValues: {colour: no}}\n"),
    ]
}

#[test]
fn static_providers_add_their_inputs_and_others_are_blind_spots() {
    let text = PROVIDED.replace("STRATEGY", "{}").replace("{}\n", "wait: true\n");
    let set = node(&text.replace("NAME", "<< inputs.provider.name >>-<< inputs.colour >>"));
    let expansion = expand_with(&set, &providers(), &mut Budget::of_build());
    let names = titles(&expansion.objects);
    assert_eq!(names, ["ConfigMap -/My-Set-red", "ConfigMap -/My-Set-blue", "ConfigMap -/sizes-grey"]);
    let (what, why, _) = &expansion.blind[0];
    assert_eq!((expansion.blind.len(), what), (1, &Unseen::InputProvider { name: Some("pulls".into()) }));
    assert!(why.is_other_inputs() && !why.is_other_repository());
    let missing = expand(&set);
    assert_eq!(missing.blind.len(), 2, "neither provider is given");
}

#[test]
fn permuted_inputs_stand_under_the_names_of_their_providers() {
    let text = PROVIDED.replace("STRATEGY", "inputStrategy: {name: Permute}");
    let set = node(&text.replace("NAME", "<< inputs.my_set.colour >>-<< inputs.sizes.size >>-<< inputs.id >>"));
    let expansion = expand_with(&set, &providers(), &mut Budget::of_build());
    let names = titles(&expansion.objects);
    assert_eq!(names, ["ConfigMap -/red-xl-869664201", "ConfigMap -/blue-xl-870254026"]);
}

#[test]
fn slugs_are_fit_for_labels() {
    for (text, slug) in [
        (">=1.0.0-rc.0", "1-0-0-rc-0"),
        ("Hello World", "hello-world"),
        ("a_b & c", "a_b-and-c"),
        (
            "one-two-three-four-five-six-seven-eight-nine-ten-eleven-twelve-thirteen",
            "one-two-three-four-five-six-seven-eight-nine-ten-eleven-twelve",
        ),
    ] {
        let expansion = expand(&node(&format!(
            "kind: ResourceSet\nspec:\n  inputs: [{{v: '{text}'}}]\n  resources:\n    - {{apiVersion: v1, kind: Pod, metadata: {{name: << inputs.v | slugify >>}}}}\n"
        )));
        assert_eq!(titles(&expansion.objects), [format!("Pod -/{slug}")]);
    }
}

/// What is left unknown of a template that wants too much.
fn reasons(template: &str) -> String {
    let set = format!("kind: ResourceSet\nspec:\n  inputs: [{{a: b}}]\n  resourcesTemplate: {template:?}\n");
    expand(&node(&set)).blind.iter().map(|(_, why, _)| causes(why)).collect()
}

#[test]
fn a_template_that_grows_without_end_is_given_up() {
    let doubled = r#"<< $x := printf "%s%s" $x $x >>"#.repeat(60);
    let said = reasons(&format!(r#"<< $x := "aaaaaaaa" >>{doubled}"#));
    assert!(said.starts_with("beyond the limit"), "{said}");
    let said = reasons(&format!("<< $x := list >>{}", "<< $x := list $x >>".repeat(5_000)));
    assert!(said.contains("nested deeper"), "{said}");
    let long = format!(r#"<< $x := "{}" >>"#, "a".repeat(100_000));
    assert!(reasons(&format!(r#"{long}<< $y := replace "a" $x $x >>"#)).contains("`replace` makes too much text"));
    assert!(reasons(&format!(r#"{long}<< $y := join $x (splitList "a" $x) >>"#)).contains("`join` makes too much"));
}

#[test]
fn a_way_of_many_names_is_as_deep_as_a_short_one() {
    let said = reasons(&format!("<< inputs{} >>", ".a".repeat(200_000)));
    assert!(said.contains("no input has the field `a`"), "{said}");
}

proptest! {
    #[test]
    fn no_template_makes_it_panic(text in "([a-z$.|()\"`:=, 0-9ä-]|<<-? |-?>>| if | range | else | end |inputs){0,40}") {
        let span = source::Span::GENERATED;
        let mut set = node("kind: ResourceSet\nspec: {inputs: [{a: {b: [1, x]}, c: d}], resourcesTemplate: x, resources: [{kind: y}]}");
        let spec = set.get_mut("spec").and_then(Node::as_map_mut).expect("a mapping");
        spec.insert("resourcesTemplate", span, Node::string(text.as_str(), span));
        spec.insert("resources", span, Node::seq(vec![Node::string(text, span)], span));
        let _ = expand(&set);
    }
}
