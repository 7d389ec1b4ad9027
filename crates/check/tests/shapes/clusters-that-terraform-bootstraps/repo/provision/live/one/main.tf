module "cluster" {
  source      = "../../base"
  environment = "live"
  name        = "one"
}
