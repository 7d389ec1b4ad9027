variable "environment" {}
variable "name" {}

locals {
  target_path = "clusters/${var.environment}/${var.name}"
}

resource "flux_bootstrap_git" "this" {
  path = local.target_path
}
