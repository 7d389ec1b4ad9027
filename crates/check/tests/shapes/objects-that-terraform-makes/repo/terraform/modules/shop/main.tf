variable "namespace" {}
variable "password" {}
variable "region" {}

resource "kubernetes_namespace_v1" "shop" {
  metadata {
    name = var.namespace
  }
}

resource "kubernetes_secret" "values" {
  count = var.password == "" ? 0 : 1
  metadata {
    name      = "shop-values"
    namespace = kubernetes_namespace_v1.shop.metadata[0].name
  }
  data = { "values.yaml" = var.password }
}

resource "kubernetes_manifest" "settings" {
  manifest = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata = {
      name      = "shop-settings"
      namespace = var.namespace
    }
  }
}

resource "kubectl_manifest" "region" {
  yaml_body = <<-YAML
    apiVersion: v1
    kind: Secret
    metadata:
      name: region-values
      namespace: ${var.namespace}
    stringData:
      values.yaml: |
        region: ${var.region}
  YAML
}
