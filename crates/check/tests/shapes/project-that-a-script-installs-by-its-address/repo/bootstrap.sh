#!/usr/bin/env bash
set -euo pipefail
kubectl apply -f https://github.com/cert-manager/cert-manager/releases/download/v1.14.5/cert-manager.yaml
kubectl wait --for=condition=available --timeout=120s deployment/cert-manager-webhook -n cert-manager
flux bootstrap git --path=clusters/test
