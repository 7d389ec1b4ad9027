# CRDs, then cilium → coredns → … → flux-instance, each waited for. The same helmfile repairs a single release:
# `helmfile --file bootstrap/helmfile.d -l name=coredns sync`.
resource "null_resource" "flux_bootstrap" {
  triggers = {
    crds = filesha256("${path.module}/../../bootstrap/helmfile.d/00-crds.yaml")
    apps = filesha256("${path.module}/../../bootstrap/helmfile.d/01-apps.yaml")
  }

  provisioner "local-exec" {
    command     = "./bootstrap/apps.sh"
    working_dir = "${path.module}/../.."
    environment = {
      KUBECONFIG = abspath(var.kubeconfig)
    }
  }
}

resource "null_resource" "wait_for_platform" {
  depends_on = [null_resource.flux_bootstrap]

  provisioner "local-exec" {
    environment = {
      KUBECONFIG = abspath(var.kubeconfig)
    }
    command = <<-EOT
      set -eu
      kubectl --namespace flux-system wait kustomization/cluster-apps --for=condition=Ready --timeout=10m
      kubectl --namespace dns-system wait kustomization/powerdns --for=condition=Ready --timeout=30m
      kubectl --namespace authentik wait kustomization/authentik --for=condition=Ready --timeout=30m
      kubectl --namespace harbor wait kustomization/harbor --for=condition=Ready --timeout=30m
      kubectl --namespace gitea wait kustomization/gitea --for=condition=Ready --timeout=30m
    EOT
  }
}
