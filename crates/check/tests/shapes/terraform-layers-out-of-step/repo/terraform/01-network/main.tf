terraform {
  backend "local" {}
}

data "terraform_remote_state" "cluster" {
  backend = "local"
  config  = { path = "../02-cluster/terraform.tfstate" }
}

resource "terraform_data" "network" {
  input = data.terraform_remote_state.cluster.outputs.name
}
