terraform {
  # The state is no place that others can read.
  encryption {
    method "aes_gcm" "state" {}
  }
}

provider "kubernetes" {
  host = talos_cluster_kubeconfig.this.kubernetes_client_configuration.host
}

provider "helm" {
  kubernetes = {
    host = talos_cluster_kubeconfig.this.kubernetes_client_configuration.host
  }
}

resource "talos_machine_bootstrap" "this" {
  node = "192.0.2.10"
}

resource "talos_cluster_kubeconfig" "this" {
  node       = "192.0.2.10"
  depends_on = [talos_machine_bootstrap.this]
}

# Read only once there is a cluster.
data "kubernetes_namespace" "default" {
  metadata {
    name = "default"
  }
  depends_on = [talos_machine_bootstrap.this]
}

# Renders, and asks no server.
data "helm_template" "network" {
  name  = "network"
  chart = "./charts/network"
}

module "addons" {
  source     = "./addons"
  depends_on = [talos_machine_bootstrap.this]
}

resource "helm_release" "cert_manager" {
  name             = "cert-manager"
  chart            = "oci://registry.example.org/charts/cert-manager"
  namespace        = "cert-manager"
  create_namespace = true
  # Looks at the files of the chart alone.
  lint = true
}

# Renders, and asks no server.
resource "null_resource" "rendered" {
  provisioner "local-exec" {
    command = "kubectl kustomize --enable-helm ./network > network.yaml"
  }
}

# Does not wait by itself, and is waited for.
resource "helm_release" "metrics" {
  name             = "metrics"
  chart            = "kube-prometheus-stack"
  namespace        = "monitoring"
  create_namespace = true
  wait             = false
}

resource "terraform_data" "metrics_run" {
  depends_on = [helm_release.metrics]
  provisioner "local-exec" {
    command = "kubectl -n monitoring rollout status deployment/metrics --timeout=300s"
  }
}

# It waits whatever the other argument says.
resource "helm_release" "dns" {
  name   = "dns"
  chart  = "coredns"
  wait   = false
  atomic = true
}

resource "kubernetes_config_map" "dashboards" {
  metadata {
    name      = "dashboards"
    namespace = helm_release.metrics.namespace
  }
}

# Of a kind that the API server has from the start.
resource "kubernetes_manifest" "class" {
  count = 0
  manifest = {
    apiVersion = "cert-manager.io/v1"
    kind       = "ClusterIssuer"
    metadata   = { name = "test" }
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
    "config.yaml" = yamlencode({ token = tls_private_key.sealing.id })
    "plain.yaml"  = <<-EOF
      nothing: that is put in
    EOF
  }
}

# Creates the namespace only where it is missing, and it never is.
resource "helm_release" "agent" {
  name             = "agent"
  chart            = "agent"
  repository       = "https://charts.example.org"
  namespace        = "kube-system"
  create_namespace = true
  # Looks at the files of the chart alone.
  lint = true
}

# Renders, and asks no server.
resource "null_resource" "rendered" {
  provisioner "local-exec" {
    command = "kubectl kustomize --enable-helm ./network > network.yaml"
  }
}
