provider "null" {}

module "infrastructure" {
  source = "./modules/infrastructure"
}

resource "flux_bootstrap_git" "cluster" {
  depends_on = [module.infrastructure]
  path       = "clusters/test"
}
