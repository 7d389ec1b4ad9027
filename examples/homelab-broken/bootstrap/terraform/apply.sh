#!/usr/bin/env bash
set -eu
cd "$(dirname "$0")"

for layer in network storage dns cluster; do
  terraform -chdir="$layer" init
  terraform -chdir="$layer" apply -auto-approve
done
