remote_state {
  backend = "local"
}
