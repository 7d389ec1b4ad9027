variable "cluster_name" {}

terraform {
  backend "local" {}
}

module "shop" {
  source    = "../modules/shop"
  namespace = "shop"
}

resource "flux_bootstrap_git" "this" {
  path = "clusters/test"
}

resource "kubectl_manifest" "vars" {
  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata = {
      name      = "cluster-${var.cluster_name}-vars"
      namespace = "flux-system"
    }
    data = { name = var.cluster_name }
  })
}

resource "helm_release" "cert_manager" {
  name             = "cert-manager"
  chart            = "cert-manager"
  repository       = "https://charts.jetstack.io"
  namespace        = "tools"
  create_namespace = true
}
