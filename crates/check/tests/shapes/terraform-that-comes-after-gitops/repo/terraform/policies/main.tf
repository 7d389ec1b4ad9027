provider "vault" {
  address = "https://vault.example.org"
}

resource "vault_policy" "reader" {
  name   = "reader"
  policy = "path \"kv/*\" { capabilities = [\"read\"] }"
}

resource "helm_release" "agent" {
  chart = "vault-agent"
  name  = "agent"
  wait  = false
}
