module "cluster" {
  source      = "../../base"
  environment = "dev"
  name        = "two"
}
