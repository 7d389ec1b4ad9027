#!/usr/bin/env bash
set -euo pipefail
REPO_ROOT=$(git rev-parse --show-toplevel)
flux install
sed "s/{{CLUSTER_NAME}}/$CLUSTER_NAME/g" <"$REPO_ROOT"/setup/source.yaml.templ | kubectl apply -f -
kubectl apply -f "$REPO_ROOT"/system/operator.yaml
kubectl apply -f "$REPO_ROOT"/setup/system.yaml
sed "s/{{CLUSTER_NAME}}/$CLUSTER_NAME/g" <"$REPO_ROOT"/setup/sealed.yaml.templ | kubectl apply -f -
kubectl apply -f "$REPO_ROOT/clusters/$CLUSTER_NAME/cluster.yaml"
