#!/usr/bin/env bash
set -euo pipefail
_kubectl="kubectl --kubeconfig=$1"
${_kubectl} create ns team-north
flux bootstrap git --path clusters/test
