terraform {
  required_providers {
    kubectl = {
      source  = "gavinbunney/kubectl"
      version = ">= 1.7.0"
    }
  }
}

resource "digitalocean_kubernetes_cluster" "lab" {
  name = "lab"
}

provider "kubectl" {
  host             = digitalocean_kubernetes_cluster.lab.endpoint
  load_config_file = false
}

resource "kubectl_manifest" "issuer" {
  yaml_body = file("${path.module}/issuer.yaml")
}
