resource "terraform_data" "gitops" {
  depends_on = [kubernetes_secret_v1.key, null_resource.api]
  provisioner "local-exec" {
    command = "flux bootstrap github --owner=lab --repository=cases --path=clusters/test"
  }
}
