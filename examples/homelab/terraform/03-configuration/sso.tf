data "authentik_flow" "authorization" {
  slug = "default-provider-authorization-implicit-consent"
}

data "authentik_flow" "invalidation" {
  slug = "default-provider-invalidation-flow"
}

locals {
  services = {
    gitea  = "https://git.lab.example.org/user/oauth2/authentik/callback"
    harbor = "https://registry.lab.example.org/c/oidc/callback"
  }
}

resource "authentik_provider_oauth2" "service" {
  for_each = local.services

  name               = each.key
  client_id          = each.key
  authorization_flow = data.authentik_flow.authorization.id
  invalidation_flow  = data.authentik_flow.invalidation.id
  allowed_redirect_uris = [
    { matching_mode = "strict", url = each.value }
  ]
}

resource "authentik_application" "service" {
  for_each = local.services

  name              = each.key
  slug              = each.key
  protocol_provider = authentik_provider_oauth2.service[each.key].id
}

resource "harbor_config_auth" "oidc" {
  depends_on = [powerdns_record.wildcard, authentik_application.service]

  auth_mode          = "oidc_auth"
  oidc_name          = "authentik"
  oidc_endpoint      = "https://auth.lab.example.org/application/o/harbor/"
  oidc_client_id     = authentik_provider_oauth2.service["harbor"].client_id
  oidc_client_secret = authentik_provider_oauth2.service["harbor"].client_secret
  oidc_scope         = "openid,email,profile"
  oidc_verify_cert   = true
}
