//! Facts about API groups and kinds: who serves them, where they live, whether their status tells anything. Knows nothing of
//! the objects in a repository.

/// API groups that Kubernetes itself serves.
const BUILT_IN_GROUPS: [&str; 22] = [
    "",
    "apps",
    "batch",
    "autoscaling",
    "policy",
    "networking.k8s.io",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "admissionregistration.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "certificates.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "resource.k8s.io",
    "extensions",
];

/// Kinds whose controller writes no condition that a health check could read.
const UNREPORTED_KINDS: [&str; 8] = [
    "SealedSecret",
    "Gateway",
    "PostgresCluster",
    "Dragonfly",
    "ObjectBucketClaim",
    "CephObjectStoreUser",
    "RedisReplication",
    "VaultStaticSecret",
];

/// Whether somebody brings an API group with CRDs, other than Flux itself.
pub fn is_custom(group: &str) -> bool {
    !is_built_in(group) && !is_flux(group)
}

/// Whether Kubernetes itself serves an API group.
pub(crate) fn is_built_in(group: &str) -> bool {
    BUILT_IN_GROUPS.contains(&group)
}

/// Kinds that come with Flux itself, which is there before anything it applies.
pub(crate) fn is_flux(group: &str) -> bool {
    group.ends_with("toolkit.fluxcd.io") || group == "fluxcd.controlplane.io" || group == "source.extensions.fluxcd.io"
}

/// Whether the status of a kind says nothing that a health check could read.
pub fn is_unreported(kind: &str) -> bool {
    UNREPORTED_KINDS.contains(&kind)
}

/// Kinds that only decorate: most people hold a need of theirs to be soft.
pub(crate) fn is_soft(kind: &str) -> bool {
    matches!(
        kind,
        "ServiceMonitor"
            | "PodMonitor"
            | "PrometheusRule"
            | "Probe"
            | "ScrapeConfig"
            | "GrafanaDashboard"
            | "GrafanaDatasource"
            | "GrafanaFolder"
            | "HTTPRoute"
            | "GRPCRoute"
            | "VMServiceScrape"
            | "VMPodScrape"
            | "VMRule"
            | "Ingress"
            | "Silence"
            | "Alert"
            | "Provider"
            | "Receiver"
    )
}

/// Kinds that live in no namespace, of those that Kubernetes itself has and those that operators here bring most.
pub fn is_cluster_scoped(group: &str, kind: &str) -> bool {
    matches!(
        kind,
        "Namespace"
            | "CustomResourceDefinition"
            | "ClusterRole"
            | "ClusterRoleBinding"
            | "StorageClass"
            | "VolumeSnapshotClass"
            | "VolumeGroupSnapshotClass"
            | "IngressClass"
            | "GatewayClass"
            | "PriorityClass"
            | "RuntimeClass"
            | "PersistentVolume"
            | "Node"
            | "APIService"
            | "ValidatingWebhookConfiguration"
            | "MutatingWebhookConfiguration"
            | "ValidatingAdmissionPolicy"
            | "ValidatingAdmissionPolicyBinding"
            | "CSIDriver"
            | "ClusterIssuer"
            | "ClusterSecretStore"
            | "ClusterExternalSecret"
            | "ClusterPolicy"
            | "CiliumClusterwideNetworkPolicy"
            | "CiliumLoadBalancerIPPool"
            | "CiliumL2AnnouncementPolicy"
            | "CiliumNode"
            | "ClusterImageCatalog"
            | "NodeFeatureRule"
            | "DeviceClass"
            | "Bundle"
            | "FlowSchema"
            | "LinstorCluster"
            | "GpuDevicePlugin"
    ) && !(kind == "Bundle" && group != "trust.cert-manager.io")
}
