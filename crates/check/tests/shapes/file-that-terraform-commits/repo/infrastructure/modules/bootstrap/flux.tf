variable "cluster_name" {}
variable "repository" {}

locals {
  directory = "clusters/${var.cluster_name}"
}

resource "github_repository_file" "cluster_vars" {
  repository = var.repository
  file       = "${local.directory}/.cluster-vars.env"
  content    = "NAME=${var.cluster_name}"
}
