//! `coldstart init`.

mod story;

use std::fs;

use story::{SYNC, Tree, command, run};

const TALCONFIG: &str = "\
clusterName: home
endpoint: https://10.0.0.100:6443
nodes:
  - {hostname: one, ipAddress: 10.0.0.1, controlPlane: true}
  - {hostname: 'two.${DOMAIN}', ipAddress: '${PREFIX}.2', controlPlane: true}
  - {hostname: \"42\", ipAddress: 10.0.0.3, controlPlane: false}
";

const SERVICES: &str = "\
terraform {
  required_providers {
    authentik = { source = \"goauthentik/authentik\" }
  }
}
provider \"authentik\" {}
";

const KEYS: &str = "\
provider \"proxmox\" {}
resource \"tls_private_key\" \"sealing\" {}
";

const MODULE: &str = "provider \"grafana\" {}\n";

fn repository() -> Tree {
    Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("talos/talconfig.yaml", TALCONFIG),
        ("terraform/keys/main.tf", KEYS),
        ("terraform/services/main.tf", SERVICES),
        ("terraform/modules/grafana/main.tf", MODULE),
    ])
}

#[test]
fn a_machine_that_is_described_twice_is_named_once() {
    let twice = format!("{TALCONFIG}  - {{hostname: one, ipAddress: 10.0.0.9, controlPlane: false}}\n");
    let tree = repository().with(&[("talos/talconfig.yaml", &twice)]);
    run(command(&["init", "--print"]).arg(tree.path()))
        .exits(0)
        .says("control-planes: [one, two]\n  workers: [\"42\"]\n");
}

#[test]
fn what_files_tell_is_filled_in_and_a_plan_comes_of_it() {
    let tree = repository();
    run(command(&["init", "--yes"]).arg(tree.path())).exits(0).says("next: coldstart plan");
    let written = fs::read_to_string(tree.path().join("coldstart.yaml")).unwrap_or_default();
    for line in [
        "  control-planes: [one, two]",
        "  workers: [\"42\"]",
        "  endpoint: \"10.0.0.1:6443\"",
        "  vip: \"10.0.0.100:6443\"",
        "  keys: [terraform/keys]",
        "    - directory: terraform/services",
    ] {
        assert!(written.lines().any(|one| one == line), "no {line} in\n{written}");
    }
    assert!(!written.contains("modules"), "{written}");
    let plan = run(command(&["plan"]).arg(tree.path())).exits(0);
    plan.says("power on").says("terraform/keys").says("terraform/services");
}

#[test]
fn nothing_is_written_without_a_yes_or_over_what_is_there() {
    let tree = repository();
    run(command(&["init"]).arg(tree.path())).exits(2).says("nobody is there to ask");
    assert!(!tree.path().join("coldstart.yaml").exists());
    let tree = tree.with(&[("coldstart.yaml", "world: simulated\n")]);
    run(command(&["init", "--yes"]).arg(tree.path())).exits(2).says("is there already");
    assert_eq!(fs::read_to_string(tree.path().join("coldstart.yaml")).unwrap_or_default(), "world: simulated\n");
    run(command(&["init", "--print"]).arg(tree.path())).exits(0).says("control-planes: [one, two]");
}

#[test]
fn templates_of_single_machines_are_read_line_by_line() {
    let node = |kind: &str| format!("---\nmachine:\n  type: {kind}\n  install:\n    disk: {{{{ disk }}}}\n");
    let named = "kind: HostnameConfig\nhostname: alpha\n";
    let tree = Tree::new(&[
        ("talos/nodes/n1.yaml.j2", &node("controlplane")),
        ("talos/nodes/n2.yaml.j2", &node("worker")),
        ("talos/main/controlplane/alpha.yaml", named),
        ("talos/main/controlplane/controlplane.yaml", named),
        ("talos/main/controlplane/patch.yaml", "machine: {sysctls: {}}\n"),
        ("talos/schematic.yaml", "customization: {}\n"),
    ]);
    let said = run(command(&["init", "--print"]).arg(tree.path())).exits(0);
    said.says("control-planes: [n1]").says("workers: [n2]").says("# talos/main describes others: alpha");
}

#[test]
fn names_can_not_break_out_of_the_file() {
    let hostile = "nodes:\n  - {hostname: \"x]\\nworld: simulated\", controlPlane: true}\n";
    let tree = Tree::new(&[("clusters/home/flux-system/gotk-sync.yaml", SYNC), ("a\nb/talconfig.yaml", hostile)]);
    run(command(&["init", "--yes"]).arg(tree.path())).exits(0);
    run(command(&["plan"]).arg(tree.path())).exits(0).says("power on");
}
