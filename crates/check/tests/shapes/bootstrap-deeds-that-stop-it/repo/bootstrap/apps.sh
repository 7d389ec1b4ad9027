#!/usr/bin/env bash
set -euo pipefail

until curl -ksf https://192.0.2.11:6443/readyz; do sleep 5; done
timeout 300 kubectl wait nodes --for=condition=Ready=False --all --timeout=300s

secrets=("bootstrap/age.sops.yaml" "bootstrap/key.sops.yaml" "bootstrap/unused.sops.yaml")
for secret in "${secrets[@]}"; do
    if [ ! -f "${secret}" ]; then
        echo "no ${secret}"
        continue
    fi
    kubectl apply -f "${secret}"
done
kubeseal --cert cert.pem < secret.yaml > sealed.yaml
timeout 300 bash -c 'until kubectl get deployment webhook -n cert-manager; do sleep 5; done'
kubectl create namespace cert-manager --dry-run=client -o yaml | kubectl apply -f -
