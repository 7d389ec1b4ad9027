#!/usr/bin/env bash
set -euo pipefail

elapsed=0
while [ "${elapsed}" -lt 600 ]; do
    code=$(curl -ks -o /dev/null -w '%{http_code}' "https://10.0.0.2:6443/livez" || echo 000)
    if [[ "${code}" != "000" ]]; then
        echo "API answers"
        break
    fi
    sleep 5
    elapsed=$((elapsed + 5))
done
if [ "${elapsed}" -ge 600 ]; then
    echo "no answer after ${elapsed} s"
    kubectl get nodes || true
fi
total=$(kubectl get nodes --no-headers | wc -l || echo 0)
echo "the cluster is up, ${total} nodes"
