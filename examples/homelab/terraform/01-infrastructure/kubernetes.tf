resource "helm_release" "cilium" {
  depends_on = [talos_machine_bootstrap.lab, null_resource.kubelet_running]

  name       = "cilium"
  namespace  = "kube-system"
  repository = "oci://quay.io/cilium/charts"
  chart      = "cilium"
  version    = "1.18.4"
  wait       = true
  timeout    = 600

  values = [
    yamlencode(yamldecode(file("${path.module}/../../kubernetes/apps/kube-system/cilium/app/helmrelease.yaml")).spec.values)
  ]
}

# `wait` is satisfied by the agents that were scheduled. This counts the nodes that were asked for.
resource "null_resource" "wait_for_nodes_ready" {
  depends_on = [helm_release.cilium, local_sensitive_file.kubeconfig]

  provisioner "local-exec" {
    environment = {
      KUBECONFIG = local_sensitive_file.kubeconfig.filename
    }
    command = <<-EOT
      set -eu
      timeout 600 sh -c 'until [ "$(kubectl get nodes --no-headers | wc -l)" -eq ${length(var.nodes)} ]; do sleep 5; done'
      kubectl wait --for=condition=Ready nodes --all --timeout=600s
      kubectl --namespace kube-system rollout status daemonset/cilium --timeout=300s
    EOT
  }
}

resource "kubernetes_secret_v1" "sealed_secrets_key" {
  depends_on = [null_resource.wait_for_nodes_ready]

  type = "kubernetes.io/tls"
  metadata {
    name      = "sealed-secrets-key"
    namespace = "kube-system"
    labels = {
      "sealedsecrets.bitnami.com/sealed-secrets-key" = "active"
    }
  }
  data = {
    "tls.key" = data.terraform_remote_state.auth.outputs.sealed_secrets_key
    "tls.crt" = data.terraform_remote_state.auth.outputs.sealed_secrets_certificate
  }
}

resource "kubernetes_secret_v1" "proxmox_ccm" {
  depends_on = [null_resource.wait_for_nodes_ready]

  metadata {
    name      = "proxmox-cloud-controller-manager"
    namespace = "kube-system"
  }
  data = {
    # jsonencode is YAML too, and quotes the token whatever is in it.
    "config.yaml" = jsonencode({
      clusters = [{
        url          = "${var.proxmox_endpoint}/api2/json"
        insecure     = false
        token_id     = "kubernetes-ccm@pve!ccm"
        token_secret = data.terraform_remote_state.auth.outputs.ccm_token
        region       = "lab"
      }]
    })
  }
}
