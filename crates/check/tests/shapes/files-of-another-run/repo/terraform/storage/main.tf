provider "kubernetes" {
  config_path = "${path.module}/../cluster/kubeconfig.yaml"
}

resource "kubernetes_namespace" "storage" {
  metadata { name = "storage" }
}
