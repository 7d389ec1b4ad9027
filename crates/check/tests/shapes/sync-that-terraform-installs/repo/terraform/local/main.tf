module "flux" {
  source      = "../flux"
  environment = "local"
}
