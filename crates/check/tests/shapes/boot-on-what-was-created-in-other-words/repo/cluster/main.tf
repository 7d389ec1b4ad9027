terraform {
  required_providers {
    proxmox = { source = "bpg/proxmox", version = "~> 0.86.0" }
    talos   = { source = "siderolabs/talos", version = "~> 0.9.0" }
    helm    = { source = "hashicorp/helm", version = "~> 2.12" }
  }
}

provider "helm" {
  kubernetes {
    config_path = local_file.kubeconfig.filename
  }
}

provider "kubernetes" {
  config_path = local_file.kubeconfig.filename
}

# Machines, each with Talos on its disk.
module "machines" {
  for_each = var.nodes
  source   = "./modules/machine"
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
  node                        = module.machines[each.key].ip
}

resource "talos_machine_bootstrap" "first" {
  depends_on           = [talos_machine_configuration_apply.apply]
  client_configuration = talos_machine_secrets.talos.client_configuration
  node                 = var.nodes["cp1"].ip
}

resource "talos_cluster_kubeconfig" "talos" {
  depends_on           = [talos_machine_bootstrap.first]
  client_configuration = talos_machine_secrets.talos.client_configuration
  node                 = var.nodes["cp1"].ip
}

resource "local_file" "kubeconfig" {
  content  = talos_cluster_kubeconfig.talos.kubeconfig_raw
  filename = "${path.module}/kubeconfig"
}

resource "null_resource" "api" {
  depends_on = [local_file.kubeconfig]
  provisioner "local-exec" {
    command = "until kubectl get --raw=/readyz; do sleep 5; done"
  }
}

resource "tls_private_key" "sealed_secrets" {
  algorithm = "RSA"
}

resource "kubernetes_secret_v1" "key" {
  depends_on = [module.network]
  metadata {
    name      = "sealed-secrets-key"
    namespace = "kube-system"
    labels    = { "sealedsecrets.bitnami.com/sealed-secrets-key" = "active" }
  }
  type = "kubernetes.io/tls"
  data = { "tls.key" = tls_private_key.sealed_secrets.private_key_pem }
}

module "network" {
  source     = "./modules/network"
  depends_on = [talos_machine_bootstrap.first, talos_cluster_kubeconfig.talos]
}
