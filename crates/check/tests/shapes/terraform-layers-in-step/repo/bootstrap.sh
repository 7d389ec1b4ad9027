#!/usr/bin/env bash
set -e
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
TERRAFORM="${ROOT}/terraform"

for layer in "01-network" "02-cluster"; do
    cd "${TERRAFORM}/${layer}"
    terraform validate
done

# What a person may have beside it.
if [ -d "${TERRAFORM}/99-private" ]; then
    cd "${TERRAFORM}/99-private"
    terraform apply
fi
cd "${TERRAFORM}/98-private" || exit 0
terraform apply
# Made by a tool.
cd "${ROOT}/build/rendered" && terraform apply
