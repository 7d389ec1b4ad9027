#!/usr/bin/env bash
set -Eeuo pipefail

function apply_crds() {
    local -r charts=(
        # renovate: datasource=docker depName=charts.example.org/longhorn
        "oci://charts.example.org/storage/longhorn 1.9.0"
    )

    for entry in "${charts[@]}"; do
        local chart="${entry% *}"
        local version="${entry#* }"
        local tmpdir crds_dir

        tmpdir="$(mktemp -d)"
        if helm pull "${chart}" --version "${version}" --untar --untardir "${tmpdir}" &>/dev/null; then
            crds_dir="$(find "${tmpdir}" -type d -name crds | head -1)"
            kubectl apply --server-side -f "${crds_dir}" --recursive
        fi
    done

    helm show crds oci://charts.example.org/keda --version 2.17.0 | kubectl apply --server-side -f -
    helm template es external-secrets/external-secrets --include-crds \
        | yq 'select(.kind == "CustomResourceDefinition")' \
        | kubectl apply --server-side -f -
    helm template cm jetstack/cert-manager | kubeconform
}

apply_crds
flux install
