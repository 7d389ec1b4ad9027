#!/usr/bin/env bash
helm upgrade --install longhorn longhorn/longhorn \
  --namespace longhorn-system --create-namespace
