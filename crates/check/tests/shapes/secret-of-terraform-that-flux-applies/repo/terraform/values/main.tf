resource "kubernetes_secret" "values" {
  metadata {
    name      = "late-values"
    namespace = "shop"
  }
}
