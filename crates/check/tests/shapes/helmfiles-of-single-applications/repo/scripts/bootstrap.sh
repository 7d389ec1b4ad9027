#!/usr/bin/env bash
set -e
helmfile --file helm/cache/helmfile.yaml apply
