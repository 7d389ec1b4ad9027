#!/usr/bin/env bash
kubectl wait --for=condition=Ready nodes --all --timeout=600s
echo "all nodes are ready"
talosctl health --wait-timeout 10m | tee health.log
