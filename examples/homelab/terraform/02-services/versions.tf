terraform {
  required_version = ">= 1.10"
  required_providers {
    null = {
      source  = "hashicorp/null"
      version = "~> 3.2"
    }
  }
}

variable "kubeconfig" {
  type    = string
  default = "../../kubeconfig"
}
