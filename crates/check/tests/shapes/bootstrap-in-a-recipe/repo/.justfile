set quiet

mod kube 'ops'

[private]
default:
    just --list

# Bring up a new cluster.
bootstrap-cluster name="lab": (settings name)
    just kube storage
    flux install

settings name:
    kubectl apply -f settings/cluster-settings.yaml
