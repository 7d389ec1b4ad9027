terraform {
  backend "local" {}
}

provider "kubernetes" {
  config_path = "../cluster/kubeconfig"
}

resource "null_resource" "seal" {
  provisioner "local-exec" {
    command = <<-EOF
      set -e
      kubeseal --cert cert.pem < secret.yaml > sealed.yaml
      git commit -am "Seal again"
      git push
    EOF
  }
}

resource "tls_private_key" "deploy" {
  algorithm = "ED25519"
}

# To log in with, at a server that is there.
provider "flux" {
  git = {
    url = "ssh://git@git.example.org/cluster.git"
    ssh = { private_key = tls_private_key.deploy.private_key_pem }
  }
}

resource "flux_bootstrap_git" "this" {
  path       = "clusters/test"
  depends_on = [null_resource.seal]
}
