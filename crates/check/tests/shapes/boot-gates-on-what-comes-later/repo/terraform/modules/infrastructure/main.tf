resource "null_resource" "wait" {
  provisioner "local-exec" {
    command = <<-EOF
      kubectl wait --for=condition=Available deployment/sealed-secrets-controller -n kube-system --timeout=300s
      echo "the controller runs"
    EOF
  }
}
