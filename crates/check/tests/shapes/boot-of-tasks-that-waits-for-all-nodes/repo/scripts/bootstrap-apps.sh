#!/usr/bin/env bash
set -Eeuo pipefail

kubectl wait --for=create node/cp1 node/w1 node/w2 --timeout=600s
cilium install --version 1.18.2
kubectl wait --for=condition=Ready node/cp1 node/w1 node/w2 --timeout=600s
helmfile --file bootstrap/helmfile.d/01-apps.yaml sync --hide-notes
