provider "kubernetes" {
  config_path = "${path.module}/../cluster/admin.conf"
}

resource "kubernetes_namespace" "machines" {
  metadata { name = "machines" }
}
