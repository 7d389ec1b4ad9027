terraform {
  backend "local" {}
  required_providers {
    kubernetes = {
      source  = "hashicorp/kubernetes"
      version = "~> 2.35"
    }
    helm = {
      source  = "hashicorp/helm"
      version = "~> 3.0"
    }
  }
}

resource "local_sensitive_file" "kubeconfig" {
  content  = file("/run/secrets/kubeconfig")
  filename = "${path.module}/kubeconfig"
}

provider "kubernetes" {
  config_path = local_sensitive_file.kubeconfig.filename
}

resource "helm_release" "metallb" {
  name             = "metallb"
  repository       = "https://metallb.github.io/metallb"
  chart            = "metallb"
  namespace        = "metallb-system"
  create_namespace = true
  wait             = false
}

resource "kubernetes_manifest" "pool" {
  manifest = {
    apiVersion = "metallb.io/v1beta1"
    kind       = "IPAddressPool"
    metadata   = { name = "home", namespace = "metallb-system" }
    spec       = { addresses = ["192.0.2.64/27"] }
  }
  depends_on = [helm_release.metallb]
}

resource "kubernetes_config_map" "speaker" {
  metadata {
    name      = "speaker"
    namespace = "metallb-system"
  }
  data = { level = "info" }
}

resource "tls_private_key" "sealing" {
  algorithm = "RSA"
}

variable "password" {
  type      = string
  sensitive = true
}

resource "kubernetes_secret" "csi" {
  metadata {
    name      = "csi"
    namespace = "kube-system"
  }
  data = {
    "config.yaml" = <<-EOF
      user: csi
      password: ${var.password}
    EOF
  }
}

resource "terraform_data" "seal" {
  input = tls_private_key.sealing.public_key_pem
  provisioner "local-exec" {
    command = <<-EOF
      set -eu
      ./seal-all.sh
      git commit -am "Seal again"
    EOF
  }
}

resource "flux_bootstrap_git" "this" {
  path       = "kubernetes/flux/cluster"
  depends_on = [terraform_data.seal]
}
