#!/bin/bash
set -e
for layer in 00-auth 01-infrastructure 02-services; do
  (cd "terraform/$layer" && terraform apply -auto-approve)
done
