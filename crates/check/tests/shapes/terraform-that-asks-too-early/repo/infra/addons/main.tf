resource "null_resource" "crds" {
  provisioner "local-exec" {
    command = "kubectl apply -k https://example.org/crds"
  }
}
