terraform {
  required_providers {
    coder      = { source = "coder/coder" }
    kubernetes = { source = "hashicorp/kubernetes" }
  }
}

provider "kubernetes" {}

data "coder_workspace" "me" {}

resource "kubernetes_persistent_volume_claim_v1" "home" {
  metadata {
    name      = "home-${data.coder_workspace.me.id}"
    namespace = "default"
  }
  wait_until_bound = false
  spec {
    access_modes = ["ReadWriteOnce"]
    resources {
      requests = { storage = "10Gi" }
    }
  }
}

resource "kubernetes_deployment_v1" "main" {
  depends_on       = [kubernetes_persistent_volume_claim_v1.home]
  wait_for_rollout = false
  metadata {
    name      = "workspace"
    namespace = "default"
  }
}
