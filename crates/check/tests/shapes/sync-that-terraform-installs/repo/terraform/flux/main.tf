variable "environment" {
  type = string
}

resource "helm_release" "sync" {
  name  = "sync"
  chart = "flux2-sync"

  set {
    name  = "kustomization.spec.path"
    value = "clusters/${var.environment}"
  }
}
