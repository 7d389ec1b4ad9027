#!/usr/bin/env bash
set -Eeuo pipefail

while read -r chart version; do
    helm pull "${chart}" --version "${version}" --untar --untardir "${tmpdir}"
    kubectl apply --server-side -f "${tmpdir}/crds"
done < <(yq '.charts[]' charts.lock)
flux install
