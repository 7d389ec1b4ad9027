provider "vault" {
  address = "http://localhost:8200"
}

resource "vault_kv_secret_v2" "admin" {
  mount = "kv"
  name  = "admin"
}
