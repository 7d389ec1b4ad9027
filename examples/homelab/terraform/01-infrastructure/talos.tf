resource "talos_machine_secrets" "lab" {}

data "talos_machine_configuration" "node" {
  for_each = var.nodes

  cluster_name     = var.cluster_name
  cluster_endpoint = "https://${var.cluster_vip}:6443"
  machine_type     = each.value.role
  machine_secrets  = talos_machine_secrets.lab.machine_secrets
}

data "talos_client_configuration" "lab" {
  cluster_name         = var.cluster_name
  client_configuration = talos_machine_secrets.lab.client_configuration
  endpoints            = [for node in local.controllers : node.ip]
  nodes                = [for node in var.nodes : node.ip]
}

resource "talos_machine_configuration_apply" "node" {
  for_each = var.nodes

  depends_on = [proxmox_virtual_environment_vm.node]

  node                        = each.value.ip
  client_configuration        = talos_machine_secrets.lab.client_configuration
  machine_configuration_input = data.talos_machine_configuration.node[each.key].machine_configuration

  config_patches = concat(
    [for patch in fileset("${path.module}/../../talos/patches/global", "*.yaml") : file("${path.module}/../../talos/patches/global/${patch}")],
    [for patch in fileset("${path.module}/../../talos/patches/${each.value.role}", "*.yaml") : file("${path.module}/../../talos/patches/${each.value.role}/${patch}")],
  )
}

# The virtual address is held by a member of etcd, so it can't be what bootstraps etcd.
resource "talos_machine_bootstrap" "lab" {
  depends_on = [talos_machine_configuration_apply.node]

  node                 = local.first_controller
  client_configuration = talos_machine_secrets.lab.client_configuration
}

resource "talos_cluster_kubeconfig" "lab" {
  depends_on = [talos_machine_bootstrap.lab]

  node                 = local.first_controller
  client_configuration = talos_machine_secrets.lab.client_configuration
}

resource "local_sensitive_file" "kubeconfig" {
  content         = talos_cluster_kubeconfig.lab.kubeconfig_raw
  filename        = "${path.module}/../../kubeconfig"
  file_permission = "0600"
}

resource "local_sensitive_file" "talosconfig" {
  content         = data.talos_client_configuration.lab.talos_config
  filename        = "${path.module}/../../talosconfig"
  file_permission = "0600"
}

# A worker whose kubelet waits for its volume is seen here, not an hour later.
resource "null_resource" "kubelet_running" {
  for_each   = var.nodes
  depends_on = [talos_machine_bootstrap.lab, local_sensitive_file.talosconfig]

  provisioner "local-exec" {
    command = <<-EOT
      timeout 300 sh -c 'until talosctl --talosconfig ${local_sensitive_file.talosconfig.filename} -n ${each.value.ip} service kubelet | grep -q Running; do sleep 5; done'
    EOT
  }
}
