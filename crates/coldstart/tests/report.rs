//! Stories of `coldstart report`.

mod story;

use std::fs;
use std::path::{Path, PathBuf};

use story::{SYNC, Tree, command, run};

fn homelab() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/homelab")
}

fn kustomization(name: &str, fields: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: flux-system\nspec:\n{fields}  interval: 10m\n  retryInterval: 1m\n  path: ./{name}\n  prune: true\n  wait: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n"
    )
}

const CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: widgets.example.org\nspec:\n  group: example.org\n  names:\n    kind: Widget\n    plural: widgets\n  scope: Namespaced\n  versions:\n    - {name: v1, served: true, storage: true}\n";
const WIDGET: &str = "apiVersion: example.org/v1\nkind: Widget\nmetadata:\n  name: one\n  namespace: default\n";

/// Widgets after their kind, or beside it.
fn widgets(ties: &str) -> Tree {
    Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/kinds.yaml", &kustomization("kinds", "")),
        ("clusters/home/widgets.yaml", &kustomization("widgets", ties)),
        ("kinds/crd.yaml", CRD),
        ("widgets/widget.yaml", WIDGET),
    ])
}

const TIED: &str = "  dependsOn:\n    - name: kinds\n";
const SENTENCE: &str = "`Kustomization flux-system/widgets` needs CRD Widget.example.org of `Kustomization flux-system/kinds`: \
    `flux-system/widgets` depends on `flux-system/kinds` (`clusters/home/widgets.yaml:";

#[test]
fn without_the_dependency_its_sentence_is_gone() {
    let with = run(command(&["report"]).arg(widgets(TIED).path())).exits(0).says(SENTENCE).stdout;
    let without = run(command(&["report"]).arg(widgets("").path())).exits(0).stdout;
    assert!(!without.contains("Widget.example.org of `Kustomization"), "{without}");
    assert!(!with.contains("`missing-dependency`") && without.contains("`missing-dependency`"), "{without}");
    // The change that closes it brings the edge back.
    assert!(without.contains("Closed by change 1.") && without.contains("+    - name: kinds"), "{without}");
    let after = without.split("## The order after the changes").nth(1).unwrap();
    assert!(after.contains("flux-system/kinds") && after.contains("flux-system/widgets"), "{after}");
    assert!(with.contains("| with `dependsOn` | 1 |") && without.contains("| with `dependsOn` | 0 |"));
    assert!(without.contains("| missing critical dependencies |"));
}

#[test]
fn the_same_files_give_the_same_document() {
    let once = run(command(&["report"]).arg(homelab())).exits(0).stdout;
    assert_eq!(once, run(command(&["report"]).arg(homelab())).stdout);
    for title in [
        "## Summary",
        "## Stages",
        "### Stage 1: Preflight, keys and credentials",
        "## Changes, by priority",
        "## Tiers by declared dependencies",
        "## Dependency tree",
        "## Layers",
        "## APIs and providers by layer",
        "### Hard: nothing comes up without",
        "### Soft: comes up without, and lacks something",
        "## Critical services that must not be disrupted",
        "## Circular dependencies",
        "## Key files",
        "## Component versions",
        "## Expected timeline",
        "## The order after the changes",
        "## Verification",
    ] {
        assert!(once.contains(title), "no {title}");
    }
    assert!(!once.contains("## How reliable it is"), "only with --boots");
}

#[test]
fn the_report_of_the_example_is_as_it_was_committed() {
    let committed = homelab().join("cold-start.md");
    run(command(&["report", "--check"]).arg(&committed).arg(homelab())).exits(0);
}

#[test]
fn a_report_that_is_no_longer_true_is_told_with_what_differs() {
    let tree = widgets(TIED);
    let file = tree.path().join("cold-start.md");
    run(command(&["report", "--out"]).arg(&file).arg(tree.path())).exits(0);
    run(command(&["report", "--check"]).arg(&file).arg(tree.path())).exits(0);
    let edited = kustomization("widgets", "");
    tree.write("clusters/home/widgets.yaml", edited.as_bytes());
    let ran = run(command(&["report", "--check"]).arg(&file).arg(tree.path())).exits(1);
    ran.says("-| with `dependsOn` | 1 |  |").says("+| with `dependsOn` | 0 |  |").says("next: coldstart report");
    assert!(fs::read_to_string(&file).unwrap().contains("| with `dependsOn` | 1 |"), "compared, not written");
    run(command(&["report", "--check", "nowhere.md"]).arg(tree.path())).exits(2).says("cannot read nowhere.md");
}

#[test]
fn boots_say_how_reliable_it_is_now_and_after_the_changes() {
    let beside = Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/hen.yaml", &kustomization("hen", "  dependsOn:\n    - name: eg\n")),
        ("clusters/home/egg.yaml", &kustomization("egg", "")),
        ("hen/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hen\n  namespace: default\n"),
        ("egg/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: egg\n  namespace: default\n"),
    ]);
    let ran = run(command(&["report", "--boots", "5"]).arg(beside.path())).exits(0);
    ran.says("| now | 0 of 5 (0 %) |")
        .says("| after the changes | 5 of 5 (100 %) |")
        .says("| | simulated boots that come up | median |");
}

#[test]
fn programs_get_the_same_sections() {
    let tree = widgets(TIED);
    let ran = run(command(&["report", "--format", "json"]).arg(tree.path())).exits(0).json();
    let sections = ran["clusters"][0]["sections"].as_array().unwrap();
    let of = |name: &str| &sections.iter().find(|it| it["section"] == name).unwrap()["content"];
    assert_eq!(of("summary")["with_depends_on"], 1);
    let stages = of("stages").as_array().unwrap();
    let gitops = stages.iter().find(|it| it["stage"] == "git-ops" || it["stage"] == "gitops").unwrap();
    assert_eq!(gitops["guarantees"][0]["ties"][0]["at"]["path"], "clusters/home/widgets.yaml");
    assert_eq!(of("tiers")[1]["areas"][0]["members"][0]["depends_on"][0][0]["name"], "kinds");
}

#[test]
fn one_stage_is_a_document_by_itself() {
    let ran = run(command(&["report", "--stage", "network"]).arg(homelab())).exits(0);
    assert!(!ran.stdout.contains("## Summary") && ran.stdout.contains("### Stage 1: Pod network"), "{}", ran.stdout);
    run(command(&["report", "--stage", "cellar"]).arg(homelab())).exits(2);
}

/// A boot by Terraform and a script: machines, Talos, a network, and what starts Flux.
const RELEASE: &str = r#"
resource "helm_release" "cilium" {
  depends_on = [null_resource.api]
  name       = "cilium"
  repository = "https://helm.cilium.io"
  chart      = "cilium"
  version    = "1.18.4"
  namespace  = "kube-system"
}
"#;
const MACHINES: &str = r#"
resource "proxmox_virtual_environment_vm" "node" {
  name      = "cp1"
  node_name = "pve1"
  agent { enabled = true }
}

resource "talos_machine_bootstrap" "this" {
  node       = "192.0.2.11"
  depends_on = [proxmox_virtual_environment_vm.node]
}

resource "null_resource" "api" {
  depends_on = [talos_machine_bootstrap.this]
  provisioner "local-exec" {
    command = "for i in $(seq 1 60); do kubectl get nodes && exit 0; sleep 5; done; exit 1"
  }
}
"#;
const FLUX: &str = r#"
resource "null_resource" "flux" {
  depends_on = [null_resource.api]
  provisioner "local-exec" {
    command = "flux bootstrap github --owner=lab --repository=home --path=clusters/home"
  }
}
"#;
const SCRIPT: &str = "#!/usr/bin/env bash\nset -e\ngit diff-index --quiet HEAD --\nfor layer in machines dns; do\n  terraform -chdir=\"terraform/$layer\" apply\ndone\n";

fn by_terraform(release: &str) -> Tree {
    let main = format!("{MACHINES}{release}{FLUX}");
    Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/kinds.yaml", &kustomization("kinds", "")),
        ("kinds/crd.yaml", CRD),
        ("bootstrap.sh", SCRIPT),
        ("terraform/machines/main.tf", &main),
    ])
}

#[test]
fn what_terraform_installs_is_part_of_every_section_and_gone_without_its_resource() {
    let with = run(command(&["report"]).arg(by_terraform(RELEASE).path())).exits(0);
    with.says("- **Consists of**: `kube-system/cilium`")
        .says("terraform -chdir=terraform/machines apply -target=helm_release.cilium")
        .says("| `kube-system/cilium` | `cilium` | `1.18.4` | bootstrap | `terraform/machines/main.tf:")
        .says("network/kube-system/cilium")
        .says("`terraform/machines/null_resource.api` (`terraform/machines/main.tf:13`) waits")
        .says("this shows the Kubernetes API")
        .says("this shows a started machine with an address");
    let without = run(command(&["report"]).arg(by_terraform("").path())).exits(0).stdout;
    assert!(!without.contains("cilium"), "{without}");
    run(command(&["impact", "cilium"]).arg(by_terraform(RELEASE).path()))
        .exits(0)
        .says("TerraformRelease kube-system/cilium");
}

#[test]
fn what_is_wrong_in_the_boot_stands_in_its_stage_and_no_time_is_told() {
    let text = run(command(&["report"]).arg(by_terraform(RELEASE).path())).exits(0).stdout;
    let stage = |title: &str| {
        let from = text.split(&format!(": {title}\n")).nth(1).unwrap_or_default();
        let own = from.split("\n### Stage").next().unwrap_or_default();
        own.split("\n## ").next().unwrap_or_default().to_owned()
    };
    let first = text.split("## Stages").next().unwrap_or_default();
    assert!(first.contains("**Rebuilt today: does not come up. 1 error.**") && !first.contains("Estimated"), "{first}");
    assert!(first.contains("runs Terraform in `terraform/dns`, which does not exist"), "{first}");
    assert!(!text.contains("## Expected timeline"), "{text}");
    let preflight = stage("Preflight, keys and credentials");
    assert!(preflight.contains("`bootstrap.sh` (`bootstrap.sh:3`) checks whether the boot can begin"), "{preflight}");
    assert!(stage("What Flux applies").contains("none found"), "{text}");
    assert!(text.contains("`missing-layer`") && !stage("What Flux applies").contains("missing-layer"), "{text}");
    assert!(text.contains("n1[\"Talos\"]") || text.contains("[\"Talos\"]"), "{text}");
}

#[test]
fn the_example_says_what_its_machines_run_and_how_each_is_reset() {
    run(command(&["report"]).arg(homelab()))
        .exits(0)
        .says("`qm reset 1501` on `pve1` (controller-1)")
        .says("the kubeconfig is written to `kubeconfig` (`terraform/01-infrastructure/talos.tf:")
        .says("| `Talos` |  | `v1.11.5` | bootstrap | `terraform/01-infrastructure/vms.tf:");
}
