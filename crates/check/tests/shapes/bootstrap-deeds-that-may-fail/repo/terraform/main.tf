provider "null" {}

resource "null_resource" "seal" {
  provisioner "local-exec" {
    command = <<-EOF
      kubeseal --cert /tmp/cert.pem --format yaml < /tmp/secret.yaml > ../clusters/test/sealed.yaml
      echo "sealed"
    EOF
  }
}
