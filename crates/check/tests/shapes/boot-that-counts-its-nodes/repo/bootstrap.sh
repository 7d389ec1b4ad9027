#!/bin/bash
set -e
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
TERRAFORM="$HERE/terraform"

cd "$TERRAFORM/infrastructure"
terraform apply -auto-approve
export KUBECONFIG="$TERRAFORM/infrastructure/kubeconfig"
timeout 600 bash -c 'until [ $(kubectl get nodes --no-headers | grep Ready | wc -l) -eq 5 ]; do sleep 10; done'

cd "$TERRAFORM/services"
terraform apply -auto-approve
