#!/bin/sh
# Only the last command counts, and each of these ends the script by itself.
i=1
while [ $i -le 60 ]; do
  if kubectl get nodes --request-timeout=10s >/dev/null 2>&1; then
    kubectl wait --for=condition=Ready node/one node/two --timeout=600s || exit 1
    kubectl get nodes --no-headers | grep -v NotReady | grep -c Ready
    exit 0
  fi
  sleep 10
  i=$((i + 1))
done
echo "API failed to become ready"
exit 1
