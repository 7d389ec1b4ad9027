#!/usr/bin/env bash
# From a cluster with nodes to a cluster with Flux.
set -euo pipefail
cd "$(dirname "$0")"

helmfile --file helmfile.yaml --selector tier=early sync
