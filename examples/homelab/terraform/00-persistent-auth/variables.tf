variable "proxmox_endpoint" {
  type    = string
  default = "https://pve.lab.example.org:8006"
}

variable "proxmox_bootstrap_token" {
  description = "Token of an administrator; only this layer uses it."
  type        = string
  sensitive   = true
}
