#!/bin/sh
set -e
until kubectl get --raw /readyz; do
  if [ "$SECONDS" -gt 300 ]; then
    exit 1
  fi
  sleep 5
done
for i in {1..60}; do
  kubectl get nodes && break
  sleep 10
done
