//! Which layer well-known software belongs to, by the labels that its charts and manifests set.

use crate::facts::{Meta, ObjectKey};
use crate::status::LayerName;

/// A name, or with `*` at its end the start of one.
type Name = &'static str;

/// Agents that give pods of their node a network.
pub(crate) const AGENTS: [Name; 12] = [
    "cilium",
    "calico-node",
    "canal",
    "flannel",
    "kube-flannel",
    "kube-flannel-ds",
    "kindnet",
    "kube-router",
    "antrea-agent",
    "weave-net",
    "kube-ovn-cni",
    "rke2-canal",
];

const NETWORK: [Name; 8] =
    ["cilium*", "hubble*", "calico*", "tigera-operator", "antrea*", "kube-proxy", "multus*", "kube-multus*"];
const DNS: [Name; 4] = ["kube-dns", "coredns", "rke2-coredns*", "node-local-dns*"];
const SECRETS: [Name; 5] = ["sealed-secrets*", "external-secrets*", "vault*", "openbao*", "onepassword-connect*"];
const STORAGE: [Name; 9] = [
    "rook-ceph*",
    "longhorn*",
    "local-path-provisioner*",
    "openebs*",
    "piraeus*",
    "linstor*",
    "democratic-csi*",
    "snapshot-controller*",
    "nfs-subdir-external-provisioner*",
];
const CERTIFICATES: [Name; 3] = ["cert-manager*", "cainjector", "trust-manager*"];
const GITOPS: [Name; 7] = [
    "flux-operator*",
    "source-controller",
    "kustomize-controller",
    "helm-controller",
    "notification-controller",
    "image-reflector-controller",
    "image-automation-controller",
];
const PLATFORM: [Name; 26] = [
    "ingress-nginx*",
    "traefik*",
    "envoy-gateway*",
    "envoy",
    "metallb*",
    "external-dns*",
    "kube-prometheus-stack*",
    "prometheus*",
    "alertmanager*",
    "grafana*",
    "loki*",
    "spegel*",
    "harbor*",
    "zot*",
    "kyverno*",
    "gatekeeper*",
    "cloudnative-pg*",
    "metrics-server*",
    "descheduler*",
    "reloader*",
    "node-feature-discovery*",
    "keda*",
    "kube-state-metrics*",
    "node-exporter*",
    "kubelet-serving-cert-approver*",
    "cloud-controller-manager*",
];

fn is(name: &str, known: &[Name]) -> bool {
    known.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *known,
    })
}

/// The names by which software is known: labels first, its own name last.
fn names(meta: &Meta) -> impl Iterator<Item = &str> {
    const LABELS: [&str; 5] =
        ["k8s-app", "app.kubernetes.io/name", "io.cilium/app", "app", "app.kubernetes.io/part-of"];
    LABELS.iter().filter_map(|label| meta.labels.get(label)).chain([meta.name.as_str()])
}

fn any(meta: &Meta, known: &[Name]) -> bool {
    names(meta).any(|name| is(name, known))
}

/// Whether it is the agent of a pod network.
pub(crate) fn is_agent(meta: &Meta) -> bool {
    // Cilium's operator and envoy carry the name of their part.
    meta.labels.get("io.cilium/app").is_none() && any(meta, &AGENTS)
}

pub(crate) fn is_dns(meta: &Meta) -> bool {
    any(meta, &DNS[..3])
}

pub(crate) fn is_sealed_secrets(meta: &Meta) -> bool {
    any(meta, &["sealed-secrets*"])
}

pub(crate) fn is_flux(meta: &Meta) -> bool {
    meta.labels.is("app.kubernetes.io/part-of", "flux") || any(meta, &GITOPS)
}

/// Whether images make it the part of a CSI driver that runs on nodes.
pub(crate) fn registers_driver(images: &[ecow::EcoString]) -> bool {
    images.iter().any(|image| image.contains("node-driver-registrar"))
}

/// Whether images make it the part of a CSI driver that provisions.
pub(crate) fn provisions(images: &[ecow::EcoString]) -> bool {
    images.iter().any(|image| image.contains("csi-provisioner"))
}

/// Where a workload belongs.
pub(crate) fn layer(meta: &Meta, images: &[ecow::EcoString]) -> LayerName {
    let is_csi = || registers_driver(images) || provisions(images) || names(meta).any(|name| name.contains("csi-"));
    match () {
        () if is_agent(meta) || any(meta, &NETWORK) => LayerName::Network,
        () if any(meta, &DNS) => LayerName::Dns,
        () if is_flux(meta) => LayerName::GitOps,
        () if any(meta, &SECRETS) => LayerName::Secrets,
        () if any(meta, &STORAGE) || is_csi() => LayerName::Storage,
        () if any(meta, &CERTIFICATES) => LayerName::Certificates,
        () if is_control_plane(meta) => LayerName::Api,
        () if any(meta, &PLATFORM) || meta.namespace == "kube-system" => LayerName::Platform,
        () => LayerName::Applications,
    }
}

fn is_control_plane(meta: &Meta) -> bool {
    meta.labels.get("component").is_some_and(|name| is(name, &["kube-*", "etcd"])) && meta.namespace == "kube-system"
}

/// Where an object belongs by its kind, if that decides it.
pub(crate) fn layer_of_kind(object: &ObjectKey) -> Option<LayerName> {
    Some(match object.kind.as_str() {
        "Node" => LayerName::Nodes,
        "APIService" | "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" | "Namespace" | "Lease" => {
            LayerName::Api
        }
        "Secret" | "SealedSecret" | "ExternalSecret" | "SecretStore" | "ClusterSecretStore" => LayerName::Secrets,
        "PersistentVolumeClaim"
        | "PersistentVolume"
        | "StorageClass"
        | "CSIDriver"
        | "CSINode"
        | "VolumeAttachment"
        | "CephCluster" => LayerName::Storage,
        "Certificate" | "Issuer" | "ClusterIssuer" => LayerName::Certificates,
        "Kustomization" | "HelmRelease" | "GitRepository" | "OCIRepository" | "HelmRepository" | "HelmChart"
        | "Bucket" | "FluxInstance" | "ResourceSet" | "ExternalArtifact" => LayerName::GitOps,
        "CustomResourceDefinition" | "Gateway" | "GatewayClass" | "HTTPRoute" => LayerName::Platform,
        _ if object.group.ends_with(".toolkit.fluxcd.io") => LayerName::GitOps,
        _ => return None,
    })
}
