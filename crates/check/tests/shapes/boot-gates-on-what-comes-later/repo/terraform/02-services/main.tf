provider "flux" {}

resource "flux_bootstrap_git" "cluster" {
  path = "clusters/test"
}

resource "null_resource" "controller" {
  depends_on = [flux_bootstrap_git.cluster]
  provisioner "local-exec" {
    command = <<-EOF
      kubectl wait --for=condition=Available deployment/sealed-secrets-controller -n kube-system --timeout=300s
      echo "the controller runs"
    EOF
  }
}
