terraform {
  backend "local" {}
}

provider "kubernetes" {
  config_path = "../cluster/kubeconfig"
}

data "kubernetes_secret" "root_token" {
  metadata {
    name      = "unseal-keys"
    namespace = "vault"
  }
}

provider "vault" {
  address = "http://127.0.0.1:8200"
  token   = data.kubernetes_secret.root_token.data["root"]
}

resource "vault_kv_secret_v2" "admin" {
  mount     = "kv"
  name      = "admin"
  data_json = jsonencode({ password = "x" })
}

resource "null_resource" "seal" {
  provisioner "local-exec" {
    command = <<-EOF
      set -e
      kubeseal --cert cert.pem < secret.yaml > sealed.yaml
      git add sealed.yaml
      git commit -m "Seal again"
    EOF
  }
}

resource "flux_bootstrap_git" "this" {
  path       = "clusters/test"
  depends_on = [vault_kv_secret_v2.admin]
}
