terraform {
  backend "local" {}
}

data "terraform_remote_state" "storage" {
  backend = "local"
  config  = { path = "../storage/terraform.tfstate" }
}

resource "terraform_data" "routes" {
  input = data.terraform_remote_state.storage.outputs.address
}

output "range" {
  value = "192.0.2.0/24"
}
