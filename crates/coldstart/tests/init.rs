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
        .says("# control-planes: one 10.0.0.1, two\n  # workers: 42 10.0.0.3\n");
}

#[test]
fn what_files_tell_is_named_and_not_proposed_again_and_a_plan_comes_of_it() {
    let tree = repository();
    run(command(&["init", "--yes"]).arg(tree.path())).exits(0).says("next: coldstart plan");
    let written = fs::read_to_string(tree.path().join("coldstart.yaml")).unwrap_or_default();
    for line in [
        "up:",
        "  # Read from talos/talconfig.yaml, and not to be repeated here; what is set here overrides it:",
        "  # workers: 42 10.0.0.3",
        "  # endpoint: 10.0.0.1:6443",
        "  # vip: 10.0.0.100:6443",
        "  # Read from files: keys: [terraform/keys]",
        "  #   - directory: terraform/services",
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
    run(command(&["init"]).arg(tree.path())).exits(2).says("confirmation required, but there is no terminal");
    assert!(!tree.path().join("coldstart.yaml").exists());
    let tree = tree.with(&[("coldstart.yaml", "world: simulated\n")]);
    run(command(&["init", "--yes"]).arg(tree.path())).exits(2).says("already exists");
    assert_eq!(fs::read_to_string(tree.path().join("coldstart.yaml")).unwrap_or_default(), "world: simulated\n");
    run(command(&["init", "--print"]).arg(tree.path())).exits(0).says("# control-planes: one 10.0.0.1, two\n");
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

/// Layers as many write them: keys, machines, Flux, what Flux applies; and an older directory that makes the same machines.
#[test]
fn layers_of_terraform_are_told_by_what_they_do() {
    let keys = "data \"external\" \"key\" { program = [\"keyring\"] }\noutput \"key\" {\n  value = data.external.key.result\n  sensitive = true\n}\n";
    let nodes = "variable \"size\" { default = 2 }\nlocals {\n  nodes = { for i in range(var.size) : \"cp${i}\" => { ip = cidrhost(\"192.0.2.0/24\", i + 1) } }\n}\ndata \"talos_machine_configuration\" \"this\" {\n  machine_type = \"controlplane\"\n  cluster_endpoint = \"https://api.example.org:6443\"\n}\nresource \"talos_machine_configuration_apply\" \"this\" {\n  for_each = local.nodes\n  node = each.value.ip\n  machine_configuration_input = data.talos_machine_configuration.this.machine_configuration\n}\noutput \"kubeconfig\" { value = \"\" }\n";
    let state = |of: &str| {
        format!(
            "data \"terraform_remote_state\" \"before\" {{\n  backend = \"local\"\n  config = {{ path = \"../{of}/terraform.tfstate\" }}\n}}\n"
        )
    };
    let object = "apiVersion: infra.contrib.fluxcd.io/v1alpha2\nkind: Terraform\nmetadata: {name: sso}\nspec: {path: ./terraform/sso}\n";
    let tree = Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/sso.yaml", object),
        ("terraform/0-keys/main.tf", keys),
        ("terraform/1-infra/main.tf", &format!("{nodes}{}", state("0-keys"))),
        ("terraform/2-flux/main.tf", &format!("resource \"flux_bootstrap_git\" \"this\" {{}}\n{}", state("1-infra"))),
        ("terraform/main.tf", nodes),
        ("terraform/sso/main.tf", SERVICES),
    ]);
    let said = run(command(&["init", "--print"]).arg(tree.path())).exits(0);
    said.says("# Read from terraform/1-infra, and not to be repeated here; what is set here overrides it:")
        .says("# terraform describes the same machines.")
        .says("  # control-planes: cp0 192.0.2.1, cp1 192.0.2.2\n")
        .says("  # endpoint: 192.0.2.1:6443\n  # vip: api.example.org:6443\n")
        .says("  # Read from files: keys: [terraform/0-keys]\n")
        .says("  # configuration:\n")
        .says("# Flux applies 1 more through tofu-controller.")
        .says("# terraform/1-infra makes or configures machines")
        .says("# terraform/2-flux installs into the new cluster (flux)");
}

#[test]
fn a_base_for_all_machines_is_no_machine_and_its_endpoint_is_theirs() {
    let base = "machine:\n  type: {% if is_controller %}controlplane{% else %}worker{% endif %}\n  install:\n    diskSelector: {model: any}\ncluster:\n  controlPlane:\n    endpoint: https://api.home.example:6443\n";
    let node = "machine:\n  type: controlplane\n---\napiVersion: v1alpha1\nkind: HostnameConfig\nhostname: alpha\n";
    let tree = Tree::new(&[
        ("talos/machineconfig.yaml.j2", base),
        ("talos/controlplane.yaml.j2", "machine:\n  type: controlplane\n  install: {disk: /dev/sda}\n"),
        ("talos/nodes/alpha.yaml.j2", node),
        ("talos/nodes/beta.yaml.j2", &node.replace("alpha", "beta")),
    ]);
    let said = run(command(&["init", "--print"]).arg(tree.path())).exits(0);
    said.says("# control-planes: alpha, beta\n").says("  # endpoint:").says("  # vip: api.home.example:6443\n");
    let alone = Tree::new(&[("talos/machineconfig.yaml.j2", base), ("talos/nodes/alpha.yaml.j2", node)]);
    let said = run(command(&["init", "--print"]).arg(alone.path())).exits(0);
    said.says("# control-planes: alpha\n  # endpoint: api.home.example:6443\n\n");
}

#[test]
fn an_endpoint_that_is_the_machine_is_no_virtual_address() {
    let topf = "clusterEndpoint: https://192.0.2.7:6443\nnodes:\n  - {host: one, ip: 192.0.2.7, role: control-plane}\n  - {host: two, ip: 192.0.2.8, role: worker}\n";
    let tree = Tree::new(&[("talos/home/topf.yaml", topf)]);
    let said = run(command(&["init", "--print"]).arg(tree.path())).exits(0);
    said.says("# control-planes: one 192.0.2.7\n  # workers: two 192.0.2.8\n  # endpoint: 192.0.2.7:6443\n\n");
}
