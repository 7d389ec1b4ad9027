#!/usr/bin/env bash
set -euo pipefail

FAILED=0
for ip in 192.0.2.11 192.0.2.12; do
    talosctl apply-config --insecure --nodes "$ip" --file "$ip.yaml" || { echo "no configuration for $ip"; FAILED=1; }
done
if [ "$FAILED" -ne 0 ]; then
    exit 1
fi
talosctl apply-config --insecure --nodes 192.0.2.13 --file worker.yaml || exit 1
talosctl bootstrap --nodes 192.0.2.11

for _ in {1..30}; do
    if talosctl --nodes 192.0.2.11 kubeconfig ./kubeconfig; then
        echo "fetched the kubeconfig, the Kubernetes API is ready soon"
        break
    fi
    sleep 10
done
timeout 300 bash -c 'until kubectl get --raw /readyz; do sleep 5; done'
