#!/usr/bin/env bash
# From a cluster with nodes to a cluster with Flux.
set -euo pipefail
cd "$(dirname "$0")"

helmfile --file helmfile.d/00-crds.yaml template --quiet |
  yq eval-all 'select(.kind == "CustomResourceDefinition")' |
  kubectl apply --server-side --filename -
