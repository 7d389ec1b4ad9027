resource "null_resource" "ready" {
  provisioner "local-exec" { command = "true" }
}
