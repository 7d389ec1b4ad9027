# Machines, Talos, the network, Flux: each step comes after the one before, and nothing shows that it works.
terraform {
  required_providers {
    proxmox = {
      source  = "bpg/proxmox"
      version = "~> 0.86.0"
    }
    talos = {
      source  = "siderolabs/talos"
      version = "~> 0.9.0"
    }
    helm = {
      source  = "hashicorp/helm"
      version = "~> 2.17.0"
    }
  }
}

provider "helm" {
  kubernetes {
    host = talos_cluster_kubeconfig.lab.kubernetes_client_configuration.host
  }
}

provider "kubernetes" {
  host = talos_cluster_kubeconfig.lab.kubernetes_client_configuration.host
}

variable "nodes" {
  default = {
    cp1 = { type = "controlplane", ip = "192.0.2.11" }
    w1  = { type = "worker", ip = "192.0.2.21" }
  }
}

resource "proxmox_virtual_environment_vm" "node" {
  for_each  = var.nodes
  name      = each.key
  node_name = "pve"
}

resource "talos_machine_secrets" "lab" {}

data "talos_machine_configuration" "node" {
  for_each         = var.nodes
  cluster_name     = "lab"
  cluster_endpoint = "https://192.0.2.10:6443"
  machine_type     = each.value.type
  machine_secrets  = talos_machine_secrets.lab.machine_secrets
  config_patches = [yamlencode({
    machine = { network = { hostname = each.key, interfaces = [{ interface = "eth0", vip = { ip = "192.0.2.10" } }] } }
    cluster = { network = { cni = { name = "none" } } }
  })]
}

resource "talos_machine_configuration_apply" "node" {
  for_each                    = var.nodes
  depends_on                  = [proxmox_virtual_environment_vm.node]
  client_configuration        = talos_machine_secrets.lab.client_configuration
  machine_configuration_input = data.talos_machine_configuration.node[each.key].machine_configuration
  node                        = each.value.ip
}

resource "talos_machine_bootstrap" "lab" {
  depends_on           = [talos_machine_configuration_apply.node]
  client_configuration = talos_machine_secrets.lab.client_configuration
  node                 = "192.0.2.10"
}

resource "talos_cluster_kubeconfig" "lab" {
  depends_on           = [talos_machine_bootstrap.lab]
  client_configuration = talos_machine_secrets.lab.client_configuration
  node                 = var.nodes["cp1"].ip
}

resource "local_sensitive_file" "kubeconfig" {
  content  = talos_cluster_kubeconfig.lab.kubeconfig_raw
  filename = "${path.module}/kubeconfig"
}

resource "helm_release" "cilium" {
  depends_on = [local_sensitive_file.kubeconfig]
  name       = "cilium"
  repository = "https://helm.cilium.io"
  chart      = "cilium"
  namespace  = "kube-system"
}

data "talos_cluster_health" "lab" {
  depends_on           = [talos_machine_bootstrap.lab]
  client_configuration = talos_machine_secrets.lab.client_configuration
  control_plane_nodes  = [var.nodes["cp1"].ip]
  worker_nodes         = [var.nodes["w1"].ip]
  endpoints            = [var.nodes["cp1"].ip]
}

resource "helm_release" "canary" {
  depends_on = [data.talos_cluster_health.lab]
  name       = "cilium-canary"
  repository = "https://helm.cilium.io"
  chart      = "cilium"
  namespace  = "cilium-canary"
}

resource "tls_private_key" "sealing" {
  algorithm = "RSA"
}

resource "kubernetes_secret_v1" "sealing" {
  depends_on = [helm_release.cilium]
  metadata {
    name      = "sealed-secrets-key"
    namespace = "kube-system"
    labels    = { "sealedsecrets.bitnami.com/sealed-secrets-key" = "active" }
  }
  type = "kubernetes.io/tls"
  data = { "tls.key" = tls_private_key.sealing.private_key_pem }
}

resource "kubernetes_secret_v1" "csi" {
  depends_on = [helm_release.cilium]
  metadata {
    name      = "proxmox-csi"
    namespace = "kube-system"
  }
  data = {
    "config.yaml" = <<-EOT
      clusters:
        - url: https://pve.lab.example.org:8006/api2/json
          token_id: csi@pve!csi
          token_secret: ${var.csi_token}
    EOT
  }
}

variable "csi_token" {
  type      = string
  sensitive = true
}

resource "null_resource" "flux" {
  depends_on = [helm_release.cilium]
  provisioner "local-exec" {
    command = "flux bootstrap github --owner=lab --repository=cluster --path=kubernetes/flux"
  }
}

data "talos_cluster_health" "machines" {
  depends_on             = [talos_machine_bootstrap.lab]
  client_configuration   = talos_machine_secrets.lab.client_configuration
  control_plane_nodes    = [var.nodes["cp1"].ip]
  worker_nodes           = [var.nodes["w1"].ip]
  endpoints              = [var.nodes["cp1"].ip]
  skip_kubernetes_checks = true
}

resource "null_resource" "flux_again" {
  depends_on = [data.talos_cluster_health.machines, helm_release.cilium, kubernetes_secret_v1.sealing]
  provisioner "local-exec" {
    command = "flux install --namespace=flux-system"
  }
}
