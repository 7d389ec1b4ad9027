#!/usr/bin/env bash
set -euo pipefail
kubectl -n flux-system create secret generic sops-age --from-file=age.agekey
