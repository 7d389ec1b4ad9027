//! Directories as people write them.

use std::fs;

use proptest::prelude::*;

use super::evaluate::tests::expressions;
use super::{Directory, Purpose, find};
use crate::machines::MachineGroup;
use crate::repository::Repository;

fn found(files: &[(&str, &str)]) -> (Vec<Directory>, Vec<MachineGroup>) {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    find(&Repository::open(directory.path()).unwrap())
}

fn said(group: &MachineGroup) -> Vec<String> {
    let one = |machine: &crate::machines::Machine| {
        let role = if machine.is_control_plane { "cp" } else { "w" };
        format!("{role} {} {}", machine.name, machine.address.as_deref().unwrap_or("-"))
    };
    group.machines.iter().map(one).collect()
}

const CLUSTER: &str = r#"
variable "counts" {
  type    = object({ cp = number, worker = optional(number, 2) })
  default = { cp = 3 }
}
variable "shared" { default = "192.0.2.250" }
locals {
  kinds = {
    controlplane = { count = var.counts.cp, cidr = "192.0.2.0/26" }
    worker       = { count = var.counts.worker, cidr = cidrsubnet("192.0.2.0/24", 2, 1) }
  }
  nodes = merge([
    for kind, one in local.kinds : {
      for i in range(one.count) : format("%s-%02d", kind, i + 1) => {
        kind = kind
        ip   = cidrhost(one.cidr, i + 10)
      }
    }
  ]...)
}
module "node" {
  for_each = local.nodes
  source   = "../parts/node"
  kind     = each.value.kind
  ip       = each.value.ip
  shared   = var.shared
}
resource "talos_machine_bootstrap" "this" {
  node = local.nodes["controlplane-02"].ip
}
output "kubeconfig" {
  value     = talos_cluster_kubeconfig.this.kubeconfig_raw
  sensitive = true
}
"#;

const NODE: &str = r#"
variable "kind" { type = string }
variable "ip" {}
variable "shared" {}
resource "talos_machine_secrets" "this" {}
data "talos_machine_configuration" "this" {
  machine_type     = var.kind
  cluster_endpoint = "https://${var.shared}:6443"
  machine_secrets  = talos_machine_secrets.this.machine_secrets
  config_patches = concat([yamlencode({ machine = { install = { image = data.external.image.result.url } } })],
    var.kind != "controlplane" ? [] : [
      yamlencode({ machine = { network = { interfaces = [{ interface = "eth0", vip = { ip = var.shared } }] } } }),
    ])
}
resource "talos_machine_configuration_apply" "this" {
  node                        = var.ip
  machine_configuration_input = data.talos_machine_configuration.this.machine_configuration
}
"#;

#[test]
fn counts_times_addresses_are_machines() {
    let (directories, groups) = found(&[("infra/main.tf", CLUSTER), ("parts/node/main.tf", NODE)]);
    let purposes: Vec<(&str, Purpose)> = directories.iter().map(|one| (one.path.as_str(), one.purpose)).collect();
    assert_eq!(purposes, [("infra", Purpose::Machines)]);
    assert_eq!(
        said(&groups[0]),
        [
            // The bootstrap is told to start etcd there.
            "cp controlplane-02 192.0.2.11",
            "cp controlplane-01 192.0.2.10",
            "cp controlplane-03 192.0.2.12",
            "w worker-01 192.0.2.74",
            "w worker-02 192.0.2.75",
        ]
    );
    assert_eq!(groups[0].vip.as_deref(), Some("192.0.2.250:6443"));
    assert_eq!(groups[0].endpoint.as_deref(), Some("192.0.2.250:6443"));
}

#[test]
fn values_beside_it_win_over_defaults() {
    let files = [
        ("infra/main.tf", CLUSTER),
        ("parts/node/main.tf", NODE),
        ("infra/terraform.tfvars", "counts = { cp = 5, worker = 5 }\nshared = \"192.0.2.9\"\n"),
        ("infra/a.auto.tfvars", "counts = { cp = 1, worker = 0 }\n"),
    ];
    let (_, groups) = found(&files);
    assert_eq!(said(&groups[0]), ["cp controlplane-01 192.0.2.10"]);
    assert_eq!(groups[0].vip.as_deref(), Some("192.0.2.9:6443"));
}

#[test]
fn what_a_provider_decides_is_not_guessed() {
    let unknown = CLUSTER.replace("range(one.count)", "range(data.external.size.result.n)");
    let (directories, groups) = found(&[("infra/main.tf", &unknown), ("parts/node/main.tf", NODE)]);
    assert_eq!(groups, []);
    assert_eq!(directories[0].purpose, Purpose::Machines, "the bootstrap of a machine is there whatever their number");
}

#[test]
fn templates_and_files_are_read() {
    let main = r#"
locals { all = yamldecode(file("${path.module}/nodes.yaml")) }
data "talos_machine_configuration" "this" {
  for_each         = local.all
  machine_type     = each.value.role
  cluster_endpoint = "https://api.example.org:6443"
  config_patches   = [templatefile("${path.module}/patch.yaml.tftpl", { name = upper(each.key), vip = "192.0.2.1" })]
}
resource "talos_machine_configuration_apply" "this" {
  for_each                    = local.all
  node                        = each.value.ip
  machine_configuration_input = data.talos_machine_configuration.this[each.key].machine_configuration
}
"#;
    let patch = "machine:\n  network:\n    hostname: ${lower(name)}.lan\n%{ if vip != \"\" ~}\n    interfaces:\n%{ for i in [0] ~}\n      - vip: {ip: ${vip}}\n%{ endfor ~}\n%{ endif ~}\n";
    let nodes = "a: {role: controlplane, ip: 192.0.2.5}\nb: {role: worker, ip: 192.0.2.6}\n";
    let (_, groups) = found(&[("t/main.tofu", main), ("t/nodes.yaml", nodes), ("t/patch.yaml.tftpl", patch)]);
    assert_eq!(said(&groups[0]), ["cp a.lan 192.0.2.5", "w b.lan 192.0.2.6"]);
    assert_eq!(groups[0].vip.as_deref(), Some("192.0.2.1:6443"));
    assert_eq!(groups[0].endpoint.as_deref(), Some("api.example.org:6443"));
}

#[test]
fn directories_are_sorted_by_what_they_do() {
    let keys = "data \"external\" \"key\" { program = [\"keyring\"] }\noutput \"key\" {\n  value = data.external.key.result\n  sensitive = true\n}\n";
    let state = "data \"terraform_remote_state\" \"keys\" {\n  backend = \"local\"\n  config = { path = \"../0-keys/terraform.tfstate\" }\n}\n";
    let infra = format!(
        "{state}resource \"hcloud_server\" \"one\" {{ name = \"one\" }}\nterraform {{\n  required_providers {{\n    vault = {{ source = \"hashicorp/vault\" }}\n  }}\n}}\n"
    );
    let object =
        "apiVersion: infra.contrib.fluxcd.io/v1alpha2\nkind: Terraform\nmetadata: {name: sso}\nspec: {path: ./4-sso}\n";
    let (directories, _) = found(&[
        ("0-keys/main.tf", keys),
        ("1-infra/main.tf", &infra),
        ("2-flux/main.tf", "resource \"flux_bootstrap_git\" \"this\" { path = \"clusters/home\" }\n"),
        ("3-dns/main.tf", "resource \"powerdns_zone\" \"one\" { name = \"example.org.\" }\n"),
        ("4-sso/main.tf", "resource \"authentik_user\" \"one\" { username = \"one\" }\n"),
        ("clusters/home/sso.yaml", object),
        ("5-cloud/main.tf", "provider \"cloudflare\" {}\nresource \"random_id\" \"one\" { byte_length = 8 }\n"),
        ("5-more/main.tf", &state.replace("0-keys", "1-infra")),
        // Of a module that wants values, it is not known that it is run.
        ("6-part/main.tf", "variable \"name\" {}\nresource \"vault_mount\" \"one\" { path = var.name }\n"),
        // There is none of it.
        (
            "7-none/main.tf",
            "variable \"on\" { default = false }\nresource \"vault_mount\" \"one\" { count = var.on ? 1 : 0 }\n",
        ),
    ]);
    let told: Vec<(&str, Purpose)> = directories.iter().map(|one| (one.path.as_str(), one.purpose)).collect();
    assert_eq!(
        told,
        [
            ("0-keys", Purpose::Keys),
            ("1-infra", Purpose::Machines),
            ("2-flux", Purpose::Cluster),
            ("3-dns", Purpose::Services),
            ("4-sso", Purpose::Flux),
            ("5-cloud", Purpose::Other),
            ("5-more", Purpose::Cluster),
            ("7-none", Purpose::Other),
        ]
    );
    assert_eq!(directories[1].reads, ["0-keys"]);
    assert_eq!(directories[1].providers, ["hcloud"], "one that is only required is not spoken to");
}

#[test]
fn a_long_chain_of_locals_is_not_a_deep_stack() {
    let link = |n: usize| format!("  l{n} = [local.l{}, local.l{}]\n", n + 1, n + 1);
    let locals: String = (0..2000).map(link).collect();
    let main = format!("provider \"talos\" {{}}\nlocals {{\n{locals}  l2000 = \"x\"\n}}\n");
    let (directories, groups) = found(&[("a/main.tf", &main)]);
    assert_eq!((directories.len(), groups.len()), (1, 0));
}

#[test]
fn modules_that_call_each_other_and_locals_in_circles_come_to_an_end() {
    let a = "locals {\n  x = local.y\n  y = [local.x, local.x]\n  z = \"${local.z}\"\n}\nprovider \"talos\" {}\nmodule \"b\" {\n  source = \"../b\"\n  v = module.b.o\n}\n";
    let b = "variable \"v\" {}\noutput \"o\" { value = var.v }\nmodule \"a\" { source = \"../a\" }\nmodule \"many\" {\n  source = \"../b\"\n  count = 1000\n  v = 1\n}\n";
    let (directories, groups) =
        found(&[("a/main.tf", a), ("b/main.tf", b), ("c/main.tf", "module \"a\" { source = \"../a\" }\n")]);
    assert_eq!(groups, []);
    assert_eq!(directories.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_directory_makes_it_panic(parts in prop::collection::vec(expressions(), 5)) {
        let [a, b, many, node, patch] = parts.as_slice() else { unreachable!() };
        let main = format!(
            "variable \"x\" {{ default = {a} }}\nlocals {{ l = {b} }}\nmodule \"m\" {{\n  source = \"../m\"\n  for_each = {many}\n  x = {node}\n}}\n"
        );
        let inner = format!(
            "variable \"x\" {{ type = object({{ a = optional(set(number), {a}) }}) }}\ndata \"talos_machine_configuration\" \"d\" {{\n  machine_type = \"controlplane\"\n  config_patches = {patch}\n}}\nresource \"talos_machine_configuration_apply\" \"r\" {{\n  count = {b}\n  node = {node}\n  machine_configuration_input = data.talos_machine_configuration.d.machine_configuration\n}}\n"
        );
        let _ = found(&[("r/main.tf", &main), ("m/main.tf", &inner)]);
    }
}

/// What Terraform makes in a cluster, a line each.
fn made(files: &[(&str, &str)]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let provided = super::provided(&Repository::open(directory.path()).unwrap());
    let objects = provided.objects.iter().map(|it| format!("{} {}/{}", it.kind.as_str(), it.namespace, it.name));
    let charts = provided.charts.iter().map(|it| format!("chart {}", it.name));
    objects.chain(charts).chain(provided.files.iter().map(|it| format!("file {it}"))).collect()
}

#[test]
fn objects_are_found_by_name_through_modules_and_manifests() {
    let root = r#"
variable "cluster" {}
terraform {
  backend "local" {}
}
module "shop" {
  source    = "../modules/shop"
  namespace = "shop"
}
resource "kubectl_manifest" "vars" {
  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "cluster-${var.cluster}-vars", namespace = "flux-system" }
  })
}
resource "helm_release" "certs" {
  chart            = "oci://registry.example.org/charts/cert-manager"
  namespace        = "certs"
  create_namespace = true
}
"#;
    let module = r#"
variable "namespace" {}
variable "region" {}
resource "kubernetes_namespace_v1" "shop" {
  metadata { name = var.namespace }
}
resource "kubernetes_secret" "each" {
  for_each = toset(["a", "b"])
  metadata {
    name      = "shop-${each.key}"
    namespace = kubernetes_namespace_v1.shop.metadata[0].name
  }
}
resource "kubectl_manifest" "region" {
  yaml_body = <<-YAML
    apiVersion: v1
    kind: Secret
    metadata:
      name: region
      namespace: ${var.namespace}
    stringData:
      region: ${var.region}
  YAML
}
resource "local_file" "vars" {
  filename = "${path.module}/../../../clusters/lab/vars.env"
}
"#;
    let files = [("terraform/lab/main.tf", root), ("terraform/modules/shop/main.tf", module)];
    let wanted = [
        "Namespace /certs",
        "Namespace /shop",
        "Secret shop/region",
        "Secret shop/shop-a",
        "Secret shop/shop-b",
        "ConfigMap flux-system/cluster-*-vars",
        "chart cert-manager",
        "file clusters/lab/vars.env",
    ];
    assert_eq!(made(&files), wanted);
}
