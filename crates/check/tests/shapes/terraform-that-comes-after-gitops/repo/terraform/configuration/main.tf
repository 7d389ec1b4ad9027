terraform {
  backend "local" {}
}

data "terraform_remote_state" "services" {
  backend = "local"
  config  = { path = "../services/terraform.tfstate" }
}

provider "vault" {
  address = "https://vault.example.org"
}

resource "vault_mount" "kv" {
  path = "kv"
  type = "kv"
}
