resource "kubernetes_secret" "values" {
  metadata {
    name      = "example-values"
    namespace = "shop"
  }
}
