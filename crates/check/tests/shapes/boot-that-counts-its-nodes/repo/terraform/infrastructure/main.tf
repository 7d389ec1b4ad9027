terraform {
  required_providers {
    proxmox = { source = "bpg/proxmox", version = "~> 0.86.0" }
    talos   = { source = "siderolabs/talos", version = "~> 0.9.0" }
    helm    = { source = "hashicorp/helm", version = "~> 2.12" }
  }
}

# Machines, each with Talos on its disk.
module "nodes" {
  for_each = var.nodes
  source   = "./modules/node"
  name     = each.key
  ip       = each.value.ip
}

resource "talos_machine_secrets" "talos" {}

data "talos_machine_configuration" "config" {
  for_each         = var.nodes
  cluster_name     = "lab"
  cluster_endpoint = "https://192.0.2.10:6443"
  machine_type     = each.value.type
  machine_secrets  = talos_machine_secrets.talos.machine_secrets
  config_patches = [yamlencode({
    machine = { network = { hostname = each.key, interfaces = [{ interface = "eth0", vip = { ip = "192.0.2.10" } }] } }
    cluster = { network = { cni = { name = "none" } } }
  })]
}

resource "talos_machine_configuration_apply" "apply" {
  for_each                    = var.nodes
  client_configuration        = talos_machine_secrets.talos.client_configuration
  machine_configuration_input = data.talos_machine_configuration.config[each.key].machine_configuration
  node                        = module.nodes[each.key].ip
}

resource "talos_machine_bootstrap" "talos" {
  depends_on           = [talos_machine_configuration_apply.apply]
  client_configuration = talos_machine_secrets.talos.client_configuration
  node                 = var.nodes["cp1"].ip
}

resource "talos_cluster_kubeconfig" "talos" {
  depends_on           = [talos_machine_bootstrap.talos]
  client_configuration = talos_machine_secrets.talos.client_configuration
  node                 = var.nodes["cp1"].ip
}

resource "local_file" "kubeconfig" {
  content  = talos_cluster_kubeconfig.talos.kubeconfig_raw
  filename = "${path.module}/kubeconfig"
}
