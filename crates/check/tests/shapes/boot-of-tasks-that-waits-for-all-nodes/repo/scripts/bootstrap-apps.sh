#!/usr/bin/env bash
set -Eeuo pipefail

kubectl wait --for=create node/cp1 node/w1 node/w2 --timeout=600s
helmfile --file bootstrap/helmfile.d/00-network.yaml sync --hide-notes
kubectl wait --for=condition=Ready node/cp1 node/w1 node/w2 --timeout=600s
helmfile --file bootstrap/helmfile.d/01-apps.yaml sync --hide-notes
