apply_wide() {
  top="${1}"
  kustomize build "$top/system/wide" |
    kubectl create -f -
}
