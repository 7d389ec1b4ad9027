variable "around" {
  default = "flux/clusters"
}
