provider "kubernetes" {
  config_path = "${path.module}/../cluster/kubeconfig"
}

resource "kubernetes_namespace" "apps" {
  metadata { name = "apps" }
}
