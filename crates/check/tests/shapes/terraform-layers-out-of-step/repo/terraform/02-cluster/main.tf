terraform {
  backend "local" {}
}

data "terraform_remote_state" "network" {
  backend = "local"
  config  = { path = "${path.module}/../01-network/terraform.tfstate" }
}

resource "terraform_data" "cluster" {
  input = data.terraform_remote_state.network.outputs.id
}
