terraform {
  required_version = ">= 1.10"
  required_providers {
    proxmox = {
      source  = "bpg/proxmox"
      version = "~> 0.86"
    }
    talos = {
      source  = "siderolabs/talos"
      version = "~> 0.9"
    }
    helm = {
      source  = "hashicorp/helm"
      version = "~> 3.1"
    }
    kubernetes = {
      source  = "hashicorp/kubernetes"
      version = "~> 2.38"
    }
    local = {
      source  = "hashicorp/local"
      version = "~> 2.5"
    }
    null = {
      source  = "hashicorp/null"
      version = "~> 3.2"
    }
  }
}

data "terraform_remote_state" "auth" {
  backend = "local"
  config = {
    path = "${path.module}/../00-persistent-auth/terraform.tfstate"
  }
}

provider "proxmox" {
  endpoint  = var.proxmox_endpoint
  api_token = var.proxmox_token
}

# Straight from the Talos outputs: no file that could be stale or missing.
provider "kubernetes" {
  host                   = talos_cluster_kubeconfig.lab.kubernetes_client_configuration.host
  client_certificate     = base64decode(talos_cluster_kubeconfig.lab.kubernetes_client_configuration.client_certificate)
  client_key             = base64decode(talos_cluster_kubeconfig.lab.kubernetes_client_configuration.client_key)
  cluster_ca_certificate = base64decode(talos_cluster_kubeconfig.lab.kubernetes_client_configuration.ca_certificate)
}

provider "helm" {
  kubernetes = {
    host                   = talos_cluster_kubeconfig.lab.kubernetes_client_configuration.host
    client_certificate     = base64decode(talos_cluster_kubeconfig.lab.kubernetes_client_configuration.client_certificate)
    client_key             = base64decode(talos_cluster_kubeconfig.lab.kubernetes_client_configuration.client_key)
    cluster_ca_certificate = base64decode(talos_cluster_kubeconfig.lab.kubernetes_client_configuration.ca_certificate)
  }
}
