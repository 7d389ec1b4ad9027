provider "helm" {}

resource "helm_release" "coredns" {
  name  = "coredns"
  chart = "coredns"
}

resource "null_resource" "dns" {
  depends_on = [helm_release.coredns]
  provisioner "local-exec" { command = "kubectl -n kube-system rollout status deployment/coredns" }
}
