#!/usr/bin/env bash
set -euo pipefail

warn() {
    echo "warning: $*" >&2
}

for ip in 192.0.2.11 192.0.2.12; do
    talosctl apply-config \
        --insecure \
        --nodes "$ip" \
        --file "$ip.yaml" \
        || warn "no configuration for $ip"
done
talosctl bootstrap --nodes 192.0.2.11

elapsed=0
while (( elapsed < 300 )); do
    if talosctl --nodes 192.0.2.11 kubeconfig ./kubeconfig; then
        echo "Kubernetes API is available"
        break
    fi
    sleep 10
    elapsed=$((elapsed + 10))
    (( elapsed < 300 )) || exit 1
done
kubectl config view --flatten > merged
