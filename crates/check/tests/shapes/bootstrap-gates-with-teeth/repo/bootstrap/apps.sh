#!/usr/bin/env bash
set -Eeuo pipefail

die() {
    echo "$*" >&2
    exit 1
}

kubectl create namespace flux-system || true
timeout 300 bash -c 'until kubectl cluster-info; do sleep 5; done'
timeout 300 bash -c 'until kubectl get deployment web -n web; do sleep 5; done'
kubectl wait --for=condition=Available deployment/coredns -n kube-system --timeout=60s || die "no DNS"
kubectl create namespace web --dry-run=client -o yaml | kubectl apply -f -
kubectl apply -f web.yaml
kubectl -n web rollout status deployment/web --timeout=120s
kubectl wait pod -l app=web -n web --for=condition=Ready --timeout=120s
kubectl wait pod -l app=old -n web --for=delete --timeout=120s

ready=false
for _ in {1..60}; do
    if [[ "$(curl -ks -o /dev/null -w '%{http_code}' https://10.0.0.2:6443/readyz)" == "200" ]]; then
        ready=true
        break
    fi
    sleep 5
done
[[ "${ready}" == true ]] || die "API is not ready"

until talosctl bootstrap >out 2>&1 || grep -q AlreadyExists out; do
    sleep 5
done

if kubectl wait nodes --for=condition=Ready --all --timeout=10s; then
    echo "ready already"
    exit 0
fi

for attempt in 1 2 3; do
    helm upgrade --install cilium cilium/cilium --wait && break
    [ "${attempt}" -lt 3 ] || die "cilium failed"
    sleep 10
done
