#!/bin/bash
set -euo pipefail
kubectl -n vault port-forward svc/vault 8200 &
sleep 2
terraform -chdir=terraform/configuration apply -auto-approve
kill %1
