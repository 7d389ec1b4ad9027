#!/usr/bin/env bash
set -euo pipefail

ROOT="$(git rev-parse --show-toplevel)"

wait_for_nodes() {
    until kubectl wait nodes --for=condition=Ready=False --all --timeout=10s; do
        sleep 10
    done
}

apply_secrets() {
    local -r secrets=(
        "${ROOT}/bootstrap/deploy-key.sops.yaml"
        "${ROOT}/bootstrap/age.sops.yaml"
    )
    for secret in "${secrets[@]}"; do
        if [ ! -f "${secret}" ]; then
            echo "no ${secret}"
            continue
        fi
        sops exec-file "${secret}" "kubectl apply -f {}"
    done
}

wait_for_nodes
apply_secrets
timeout 300 bash -c 'until kubectl get deployment webhook -n cert-manger; do sleep 5; done'
kubectl wait --for=condition=Available deployment/webhook -n cert-manger --timeout=300s

while [ "${tries:-0}" -lt 60 ]; do
    # 401 means that it answers
    code=$(curl -k -s -o /dev/null -w "%{http_code}" https://192.0.2.10:6443/livez || echo "000")
    if [ "$code" != "000" ]; then
        break
    fi
    tries=$((${tries:-0} + 1))
done
if [ "${tries:-0}" -ge 60 ]; then
    exit 1
fi
