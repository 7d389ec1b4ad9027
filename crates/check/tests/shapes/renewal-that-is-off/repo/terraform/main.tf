provider "kubernetes" {}

resource "kubernetes_secret" "sealing_key" {
  metadata {
    name      = "restored"
    namespace = "kube-system"
    labels    = { "sealedsecrets.bitnami.com/sealed-secrets-key" = "active" }
  }
  data = { "tls.key" = file("${path.module}/tls.key") }
}
