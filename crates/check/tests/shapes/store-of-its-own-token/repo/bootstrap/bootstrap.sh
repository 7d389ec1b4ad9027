#!/usr/bin/env bash
kubectl create namespace external-secrets
kubectl --namespace external-secrets create secret generic vault-token --from-literal=token="$TOKEN"
kubectl apply --server-side --filename stores/store.yaml
