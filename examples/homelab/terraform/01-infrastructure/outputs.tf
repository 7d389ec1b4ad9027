output "kubeconfig" {
  value     = talos_cluster_kubeconfig.lab.kubeconfig_raw
  sensitive = true
}
