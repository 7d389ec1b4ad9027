provider "helm" {
  kubernetes = { config_path = local_file.kubeconfig.filename }
}

resource "talos_cluster_kubeconfig" "this" {
  node = "192.0.2.11"
}

resource "local_file" "kubeconfig" {
  content  = talos_cluster_kubeconfig.this.kubeconfig_raw
  filename = "${path.module}/kubeconfig"
}

resource "helm_release" "dns" {
  depends_on = [talos_cluster_kubeconfig.this]
  name       = "dns"
  chart      = "coredns"
}
