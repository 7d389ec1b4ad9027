#!/usr/bin/env bash
kubectl create secret generic sops-age --namespace flux-system --from-file=age.agekey
