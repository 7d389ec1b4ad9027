#!/usr/bin/env bash
set -Eeuo pipefail

export ROOT_DIR="$(git rev-parse --show-toplevel)"

function wait_for_nodes() {
    if kubectl wait nodes --for=condition=Ready=True --all --timeout=10s &>/dev/null; then
        echo "Nodes are ready"
        return
    fi

    until kubectl wait nodes --for=condition=Ready=False --all --timeout=10s &>/dev/null; do
        echo "Nodes are not available"
        sleep 10
    done
}

function sync_helm_releases() {
    local -r helmfile_file="${ROOT_DIR}/bootstrap/helmfile.d/01-apps.yaml"

    if ! helmfile --file "${helmfile_file}" sync --hide-notes; then
        echo "Failed to sync Helm releases"
        exit 1
    fi
}

function main() {
    wait_for_nodes
    sync_helm_releases
}

main "$@"
