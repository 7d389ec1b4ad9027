#!/usr/bin/env bash
set -euo pipefail

for attempt in $(seq 1 30); do
    kubectl get crd gateways.example.io && break
    sleep 2
done
echo "CRDs are there"
