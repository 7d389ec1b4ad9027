#!/usr/bin/env bash
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
TOP=$(dirname "$(dirname "$HERE")")
source "$HERE/../lib.sh"
apply_wide "$TOP"
kubectl apply -f "$TOP/system/begin.yaml"
