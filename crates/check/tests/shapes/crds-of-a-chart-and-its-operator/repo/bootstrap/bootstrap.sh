#!/usr/bin/env bash
helmfile --file bootstrap/crds.yaml template --include-crds --no-hooks | yq eval-all 'select(.kind == "CustomResourceDefinition")' | kubectl apply --server-side --filename -
