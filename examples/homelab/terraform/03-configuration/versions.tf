terraform {
  required_version = ">= 1.10"
  required_providers {
    powerdns = {
      source  = "pan-net/powerdns"
      version = "~> 1.5"
    }
    authentik = {
      source  = "goauthentik/authentik"
      version = "~> 2025.10"
    }
    harbor = {
      source  = "goharbor/harbor"
      version = "~> 3.11"
    }
  }
}

variable "powerdns_api_key" {
  type      = string
  sensitive = true
}

variable "authentik_token" {
  type      = string
  sensitive = true
}

variable "harbor_password" {
  type      = string
  sensitive = true
}

# These providers talk to services of layer 2, so they live in a layer of their own.
provider "powerdns" {
  server_url = "http://10.0.3.3:8081"
  api_key    = var.powerdns_api_key
}

provider "authentik" {
  url   = "https://auth.lab.example.org"
  token = var.authentik_token
}

provider "harbor" {
  url      = "https://registry.lab.example.org"
  username = "admin"
  password = var.harbor_password
}
