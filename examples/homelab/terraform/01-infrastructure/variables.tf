variable "proxmox_endpoint" {
  type    = string
  default = "https://pve.lab.example.org:8006"
}

variable "proxmox_token" {
  type      = string
  sensitive = true
}

variable "cluster_name" {
  type    = string
  default = "lab"
}

variable "cluster_vip" {
  description = "The address people use. It exists only once the cluster does, so the bootstrap goes to a controller."
  type        = string
  default     = "10.0.3.1"
}

variable "nodes" {
  type = map(object({
    role   = string
    ip     = string
    host   = string
    vm_id  = number
    cores  = number
    memory = number
  }))
  default = {
    controller-1 = { role = "controlplane", ip = "10.0.1.1", host = "pve1", vm_id = 1501, cores = 4, memory = 16384 }
    controller-2 = { role = "controlplane", ip = "10.0.1.2", host = "pve2", vm_id = 1502, cores = 4, memory = 16384 }
    controller-3 = { role = "controlplane", ip = "10.0.1.3", host = "pve3", vm_id = 1503, cores = 4, memory = 16384 }
    worker-1     = { role = "worker", ip = "10.0.2.1", host = "pve1", vm_id = 1511, cores = 8, memory = 32768 }
    worker-2     = { role = "worker", ip = "10.0.2.2", host = "pve2", vm_id = 1512, cores = 8, memory = 32768 }
  }
}

locals {
  controllers      = { for name, node in var.nodes : name => node if node.role == "controlplane" }
  first_controller = local.controllers["controller-1"].ip
}
