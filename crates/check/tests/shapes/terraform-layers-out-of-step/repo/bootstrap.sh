#!/usr/bin/env bash
set -e
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
TERRAFORM="${ROOT}/terraform"

for layer in "01-network" "02-cluster" "03-services"; do
    echo "checking ${layer}"
    cd "${TERRAFORM}/${layer}"
    if ! terraform validate; then
        exit 1
    fi
done

cd "${TERRAFORM}/01-network"
terraform apply -auto-approve
terraform -chdir="${TERRAFORM}/02-cluster" apply -auto-approve
