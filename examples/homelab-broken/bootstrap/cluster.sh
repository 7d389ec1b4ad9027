#!/usr/bin/env bash
# Starts etcd, waits for the nodes, and installs what Flux needs.
set -euo pipefail

until talosctl bootstrap --nodes 192.0.2.11; do sleep 10; done
until kubectl get --raw /readyz; do sleep 5; done

timeout 600 bash -c 'until [ "$(kubectl get nodes --no-headers | grep -c Ready)" -eq 3 ]; do sleep 5; done'

kubectl apply --server-side -k bootstrap/resources
kubectl wait pod -l k8s-app=sealed-secrets -n kube-system --for=condition=Ready --timeout=120s

helmfile --file bootstrap/helmfile.d/01-apps.yaml sync
kubectl -n cert-manger rollout status deployment/cert-manager --timeout=300s

answer=$(kubectl -n flux-system get fluxinstance flux -o yaml 2>&1)
if echo "$answer" | grep -qi error; then
  echo "Flux is not there: $answer"
fi
