#!/usr/bin/env bash
version=v0.80.0
if ! everything=$(kustomize build "https://github.com/prometheus-operator/prometheus-operator/?ref=${version}"); then
  exit 1
fi
crds=$(echo "${everything}" | yq 'select(.kind == "CustomResourceDefinition")')
echo "${crds}" | kubectl apply --server-side --filename -
