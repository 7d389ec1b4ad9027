resource "flux_bootstrap_git" "this" {
  path = "./flux/clusters/dev"
}
