terraform {
  required_providers {
    talos = {
      source  = "siderolabs/talos"
      version = "~> 0.9.0"
    }
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

locals {
  kubeconfig = talos_cluster_kubeconfig.this.kubernetes_client_configuration
}

provider "kubernetes" {
  host = local.kubeconfig.host
}

provider "helm" {
  kubernetes = {
    host = local.kubeconfig.host
  }
}

resource "talos_machine_bootstrap" "this" {
  node = "192.0.2.10"
}

resource "talos_cluster_kubeconfig" "this" {
  node       = "192.0.2.10"
  depends_on = [talos_machine_bootstrap.this]
}

# Read when the run is planned: there is no cluster yet.
data "kubernetes_namespace" "default" {
  metadata {
    name = "default"
  }
}

module "addons" {
  source = "./addons"
}

resource "helm_release" "cert_manager" {
  name             = "cert-manager"
  chart            = "oci://registry.example.org/charts/cert-manager"
  namespace        = "cert-manager"
  create_namespace = true
  wait             = false
}

resource "kubernetes_manifest" "issuer" {
  manifest = {
    apiVersion = "cert-manager.io/v1"
    kind       = "ClusterIssuer"
    metadata   = { name = "test" }
  }
  depends_on = [helm_release.cert_manager]
}

resource "helm_release" "metrics" {
  name             = "metrics"
  chart            = "kube-prometheus-stack"
  namespace        = "monitoring"
  create_namespace = true
  wait             = false
}

resource "kubernetes_config_map" "dashboards" {
  metadata {
    name      = "dashboards"
    namespace = "monitoring"
  }
}

resource "tls_private_key" "sealing" {
  algorithm = "RSA"
}

resource "kubernetes_secret" "storage" {
  metadata {
    name      = "storage"
    namespace = "kube-system"
  }
  data = {
    "config.yaml" = <<-EOF
      token: ${tls_private_key.sealing.id}
    EOF
  }
}
