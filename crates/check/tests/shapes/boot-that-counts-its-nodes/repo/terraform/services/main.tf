provider "flux" {
  kubernetes = { config_path = "${path.module}/../infrastructure/kubeconfig" }
}

resource "flux_bootstrap_git" "cluster" {
  path = "clusters/test"
}
