#!/usr/bin/env bash
set -euo pipefail
flux install --namespace=flux-system
kubectl apply -k gitops/flux-system
