resource "talos_image_factory_schematic" "lab" {
  schematic = yamlencode({
    customization = {
      systemExtensions = {
        officialExtensions = ["siderolabs/qemu-guest-agent", "siderolabs/util-linux-tools"]
      }
    }
  })
}

resource "proxmox_virtual_environment_download_file" "talos" {
  for_each = toset(distinct([for node in var.nodes : node.host]))

  node_name    = each.key
  content_type = "iso"
  datastore_id = "local"
  file_name    = "talos-${talos_image_factory_schematic.lab.id}.img"
  url          = "https://factory.talos.dev/image/${talos_image_factory_schematic.lab.id}/v1.11.5/nocloud-amd64.raw"
  overwrite    = false
}

resource "proxmox_virtual_environment_vm" "node" {
  for_each = var.nodes

  name      = each.key
  node_name = each.value.host
  vm_id     = each.value.vm_id
  tags      = ["talos", each.value.role]
  machine   = "q35"
  bios      = "ovmf"

  agent {
    enabled = true
  }

  cpu {
    cores = each.value.cores
    type  = "host"
  }

  memory {
    dedicated = each.value.memory
  }

  efi_disk {
    datastore_id = "local-zfs"
    type         = "4m"
  }

  disk {
    datastore_id = "local-zfs"
    interface    = "scsi0"
    file_id      = proxmox_virtual_environment_download_file.talos[each.value.host].id
    size         = 64
  }

  # Controllers carry one Ceph OSD each.
  dynamic "disk" {
    for_each = each.value.role == "controlplane" ? [1] : []
    content {
      datastore_id = "local-zfs"
      interface    = "scsi1"
      size         = 200
    }
  }

  network_device {
    bridge = "vmbr0"
  }

  initialization {
    datastore_id = "local-zfs"
    ip_config {
      ipv4 {
        address = "${each.value.ip}/16"
        gateway = "10.0.0.1"
      }
    }
  }
}
