output "csi_token" {
  value     = proxmox_virtual_environment_user_token.csi.value
  sensitive = true
}

output "ccm_token" {
  value     = proxmox_virtual_environment_user_token.ccm.value
  sensitive = true
}

output "sealed_secrets_key" {
  value     = tls_private_key.sealed_secrets.private_key_pem
  sensitive = true
}

output "sealed_secrets_certificate" {
  value = tls_self_signed_cert.sealed_secrets.cert_pem
}
