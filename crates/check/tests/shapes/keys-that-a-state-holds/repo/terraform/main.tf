provider "talos" {}

resource "talos_machine_secrets" "this" {}

resource "talos_machine_configuration_apply" "this" {
  client_configuration        = talos_machine_secrets.this.client_configuration
  machine_configuration_input = "x"
  node                        = "192.0.2.11"
}

resource "kubernetes_secret_v1" "sealing_key" {
  metadata {
    name      = "restored"
    namespace = "kube-system"
    labels    = { "sealedsecrets.bitnami.com/sealed-secrets-key" = "active" }
  }
  data = {
    "tls.crt" = file("${path.module}/tls.crt")
    "tls.key" = file("${path.module}/tls.key")
  }
}

resource "kubernetes_secret_v1" "config" {
  metadata {
    name      = "config"
    namespace = "kube-system"
  }
  data = { "region" = "lab" }
}

data "external" "cache-signing-key" {
  program = ["bash", "-c", "lookup signing"]
}

data "external" "preauth_key" {
  program = ["bash", "-c", "ssh host preauthkeys create"]
}

data "external" "public_key" {
  program = ["bash", "-c", "lookup public"]
}

data "external" "nodes" {
  program = ["bash", "-c", "list"]
}
