terraform {
  backend "local" {}
}

data "terraform_remote_state" "network" {
  backend = "local"
  config  = { path = "../network/terraform.tfstate" }
}

output "address" {
  value = cidrhost(data.terraform_remote_state.network.outputs.range, 5)
}

resource "terraform_data" "pool" {}
