#!/usr/bin/env bash
set -euo pipefail

kubectl apply -f "${ROOT_DIR}/pool.yaml"
kubectl wait pod -l app=pool -n kube-system --for=condition=Ready --timeout=120s
kubectl -n cert-manger rollout status deployment/cert-manager --timeout=120s
