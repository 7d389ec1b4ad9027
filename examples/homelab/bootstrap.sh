#!/usr/bin/env bash
# The cold start: every layer validated first, then applied in order. Stops at the first failure.
set -euo pipefail
cd "$(dirname "$0")"

layers=(01-infrastructure 02-services 03-configuration)

[ -z "$(git status --porcelain)" ] || { echo "commit first: Flux only sees what is pushed" >&2; exit 1; }
terraform -chdir=terraform/00-persistent-auth output -raw sealed_secrets_certificate >/dev/null

for layer in "${layers[@]}"; do
  terraform -chdir="terraform/$layer" init -input=false
  terraform -chdir="terraform/$layer" validate
done
for layer in "${layers[@]}"; do
  terraform -chdir="terraform/$layer" apply -input=false -auto-approve
done
