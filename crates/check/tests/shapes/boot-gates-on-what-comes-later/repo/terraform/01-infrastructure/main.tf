provider "null" {}

module "infrastructure" {
  source = "../modules/infrastructure"
}

resource "null_resource" "controller" {
  provisioner "local-exec" { command = "kubectl -n kube-system rollout status deployment/sealed-secrets-controller" }
}
