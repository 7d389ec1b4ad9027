#!/usr/bin/env bash
set -euo pipefail

source "$(dirname "${0}")/lib/log.sh"

function apply_crds() {
    if ! crds=$(helmfile --file crds.yaml template) || [[ -z "${crds}" ]]; then
        log fatal "Failed to render CRDs" "file" "crds.yaml"
    fi

    timeout 600 bash -c 'until [ $(kubectl get nodes --no-headers | grep Ready | wc -l) -eq 3 ]; do sleep 5; done'
    echo "nodes are ready"

    kubectl wait --for=condition=Available deployment/coredns -n kube-system --timeout=60s || true
    if ! kubectl rollout status daemonset/cilium -n kube-system --timeout=60s; then
        echo "cilium is not ready, going on"
    fi
    cilium status --wait && echo "network is up"
    log info "done"
}

apply_crds
