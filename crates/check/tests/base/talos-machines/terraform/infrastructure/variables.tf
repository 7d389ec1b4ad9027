variable "nodes" {
  default = {
    cp1 = { type = "controlplane", ip = "192.0.2.11" }
    cp2 = { type = "controlplane", ip = "192.0.2.12" }
    cp3 = { type = "controlplane", ip = "192.0.2.13" }
    w1  = { type = "worker", ip = "192.0.2.21" }
    w2  = { type = "worker", ip = "192.0.2.22" }
  }
}
