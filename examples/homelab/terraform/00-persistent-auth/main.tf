# What must outlive the cluster: API users and the keypair that SealedSecrets are sealed with.
# Destroying the layers above never touches this state.

resource "proxmox_virtual_environment_role" "csi" {
  role_id    = "csi"
  privileges = ["VM.Audit", "VM.Config.Disk", "Datastore.Allocate", "Datastore.AllocateSpace", "Datastore.Audit"]
}

resource "proxmox_virtual_environment_user" "csi" {
  user_id = "kubernetes-csi@pve"

  acl {
    path      = "/"
    propagate = true
    role_id   = proxmox_virtual_environment_role.csi.role_id
  }
}

resource "proxmox_virtual_environment_user_token" "csi" {
  user_id    = proxmox_virtual_environment_user.csi.user_id
  token_name = "csi"
}

resource "proxmox_virtual_environment_role" "ccm" {
  role_id    = "ccm"
  privileges = ["VM.Audit"]
}

resource "proxmox_virtual_environment_user" "ccm" {
  user_id = "kubernetes-ccm@pve"

  acl {
    path      = "/"
    propagate = true
    role_id   = proxmox_virtual_environment_role.ccm.role_id
  }
}

resource "proxmox_virtual_environment_user_token" "ccm" {
  user_id    = proxmox_virtual_environment_user.ccm.user_id
  token_name = "ccm"
}

resource "tls_private_key" "sealed_secrets" {
  algorithm = "RSA"
  rsa_bits  = 4096
}

resource "tls_self_signed_cert" "sealed_secrets" {
  private_key_pem       = tls_private_key.sealed_secrets.private_key_pem
  validity_period_hours = 87600
  allowed_uses          = ["encipher_only"]

  subject {
    common_name = "sealed-secrets"
  }
}
