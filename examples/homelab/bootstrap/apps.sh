#!/usr/bin/env bash
# From a cluster with nodes to a cluster with Flux. Safe to run again.
set -euo pipefail
cd "$(dirname "$0")"

kubectl wait --for=condition=Ready nodes --all --timeout=10m
kubectl apply --server-side --filename resources/namespaces.yaml

# Applied by Terraform; without it there is nothing to unseal with and no way to reach Proxmox.
kubectl --namespace kube-system get secret sealed-secrets-key proxmox-cloud-controller-manager >/dev/null

helmfile --file helmfile.d/00-crds.yaml template --quiet |
  yq eval-all 'select(.kind == "CustomResourceDefinition")' |
  kubectl apply --server-side --filename -

helmfile --file helmfile.d/01-apps.yaml sync --hide-notes

kubectl --namespace flux-system wait kustomization/cluster-apps --for=condition=Ready --timeout=10m
