variable "name" {}
variable "ip" {}

resource "proxmox_virtual_environment_vm" "vm" {
  name      = var.name
  node_name = "pve"
  initialization {
    ip_config {
      ipv4 {
        address = "${var.ip}/24"
      }
    }
  }
}

output "ip" {
  value = var.ip
}
