//! What kustomize's built-in schema (Kubernetes 1.21, plus a few later kinds) says about kinds: which are cluster-scoped,
//! and which lists a strategic merge joins by key instead of replacing.
//!
//! Kinds that are not in here, custom resources above all, count as namespaced and have all their lists replaced. That is
//! not a gap: the real tool knows no more.

/// Whether the kind is certainly not namespaced.
pub(crate) fn is_cluster_scoped(group: &str, version: &str, kind: &str) -> bool {
    match (group, version) {
        ("", "v1") => {
            matches!(kind, "Namespace" | "Node" | "PersistentVolume" | "ComponentStatus" | "NodeProxyOptions")
        }
        ("admissionregistration.k8s.io", "v1") => matches!(
            kind,
            "MutatingWebhookConfiguration"
                | "ValidatingWebhookConfiguration"
                | "ValidatingAdmissionPolicy"
                | "ValidatingAdmissionPolicyBinding"
        ),
        ("admissionregistration.k8s.io", "v1beta1") => {
            matches!(kind, "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration")
        }
        ("apiextensions.k8s.io", "v1" | "v1beta1") => kind == "CustomResourceDefinition",
        ("apiregistration.k8s.io", "v1" | "v1beta1") => kind == "APIService",
        ("certificates.k8s.io", "v1" | "v1beta1") => kind == "CertificateSigningRequest",
        ("flowcontrol.apiserver.k8s.io", "v1beta1") => matches!(kind, "FlowSchema" | "PriorityLevelConfiguration"),
        ("networking.k8s.io", "v1" | "v1beta1") => kind == "IngressClass",
        ("node.k8s.io", "v1" | "v1beta1") => kind == "RuntimeClass",
        ("policy", "v1beta1") => kind == "PodSecurityPolicy",
        ("rbac.authorization.k8s.io", "v1" | "v1beta1") => matches!(kind, "ClusterRole" | "ClusterRoleBinding"),
        ("scheduling.k8s.io", "v1" | "v1beta1") => kind == "PriorityClass",
        ("storage.k8s.io", "v1" | "v1beta1") => {
            matches!(kind, "CSIDriver" | "CSINode" | "StorageClass" | "VolumeAttachment")
        }
        _ => false,
    }
}

/// A place in the schema of a built-in kind, as far as it matters for merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Root(Root),
    /// `spec` of a kind with a pod template in it.
    WorkloadSpec,
    CronJobSpec,
    JobTemplate,
    PodTemplate,
    PodSpec,
    ServiceSpec,
    Metadata,
    Status,
    NodeSpec,
    CsiNodeSpec,
    Container,
    List(List),
    /// Known to the schema, and nothing below it is merged in a special way.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    Plain,
    Pod,
    PodTemplate,
    Workload,
    CronJob,
    Service,
    ServiceAccount,
    Webhooks,
    Node,
    CsiNode,
}

/// A list that is merged, by the fields that tell its items apart; none for lists of plain values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Containers,
    ByName,
    ByType,
    ByIp,
    ByUid,
    ByMountPath,
    ByDevicePath,
    ContainerPorts,
    ServicePorts,
    TopologySpread,
    Values,
}

impl List {
    pub(crate) fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Containers | Self::ByName => &["name"],
            Self::ByType => &["type"],
            Self::ByIp => &["ip"],
            Self::ByUid => &["uid"],
            Self::ByMountPath => &["mountPath"],
            Self::ByDevicePath => &["devicePath"],
            Self::ContainerPorts => &["containerPort", "protocol"],
            Self::ServicePorts => &["port", "protocol"],
            Self::TopologySpread => &["topologyKey", "whenUnsatisfiable"],
            Self::Values => &[],
        }
    }

    pub(crate) fn element(self) -> Shape {
        if self == Self::Containers { Shape::Container } else { Shape::Other }
    }
}

impl Shape {
    /// The schema of a whole object, if kustomize has one for exactly this version of the kind.
    pub(crate) fn of(api_version: &str, kind: &str) -> Option<Self> {
        root(api_version, kind).map(Self::Root)
    }

    pub(crate) fn field(self, name: &str) -> Self {
        match (self, name) {
            (Self::Root(_) | Self::PodTemplate | Self::JobTemplate, "metadata") => Self::Metadata,
            (Self::Root(root), _) => root_field(root, name),
            (Self::WorkloadSpec, "template") => Self::PodTemplate,
            (Self::CronJobSpec, "jobTemplate") => Self::JobTemplate,
            (Self::JobTemplate, "spec") => Self::WorkloadSpec,
            (Self::PodTemplate, "spec") => Self::PodSpec,
            (Self::PodSpec, _) => pod_field(name),
            (Self::Container, _) => container_field(name),
            (Self::ServiceSpec, "ports") => Self::List(List::ServicePorts),
            (Self::Metadata, "finalizers") | (Self::NodeSpec, "podCIDRs") => Self::List(List::Values),
            (Self::Metadata, "ownerReferences") => Self::List(List::ByUid),
            (Self::Status, "conditions" | "addresses") => Self::List(List::ByType),
            (Self::Status, "podIPs") => Self::List(List::ByIp),
            (Self::CsiNodeSpec, "drivers") => Self::List(List::ByName),
            _ => Self::Other,
        }
    }
}

fn root_field(root: Root, name: &str) -> Shape {
    match (root, name) {
        (Root::Pod, "spec") => Shape::PodSpec,
        (Root::PodTemplate, "template") => Shape::PodTemplate,
        (Root::Workload, "spec") => Shape::WorkloadSpec,
        (Root::CronJob, "spec") => Shape::CronJobSpec,
        (Root::Service, "spec") => Shape::ServiceSpec,
        (Root::Node, "spec") => Shape::NodeSpec,
        (Root::CsiNode, "spec") => Shape::CsiNodeSpec,
        (Root::ServiceAccount, "secrets") | (Root::Webhooks, "webhooks") => Shape::List(List::ByName),
        (_, "status") => Shape::Status,
        _ => Shape::Other,
    }
}

fn pod_field(name: &str) -> Shape {
    match name {
        "containers" | "initContainers" | "ephemeralContainers" => Shape::List(List::Containers),
        "volumes" | "imagePullSecrets" => Shape::List(List::ByName),
        "hostAliases" => Shape::List(List::ByIp),
        "topologySpreadConstraints" => Shape::List(List::TopologySpread),
        _ => Shape::Other,
    }
}

fn container_field(name: &str) -> Shape {
    match name {
        "env" => Shape::List(List::ByName),
        "ports" => Shape::List(List::ContainerPorts),
        "volumeMounts" => Shape::List(List::ByMountPath),
        "volumeDevices" => Shape::List(List::ByDevicePath),
        _ => Shape::Other,
    }
}

fn root(api_version: &str, kind: &str) -> Option<Root> {
    let root = match (api_version, kind) {
        ("v1", "Pod") => Root::Pod,
        ("v1", "PodTemplate") => Root::PodTemplate,
        ("v1", "ReplicationController")
        | ("apps/v1", "DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet")
        | ("batch/v1", "Job") => Root::Workload,
        ("batch/v1" | "batch/v1beta1", "CronJob") => Root::CronJob,
        ("v1", "Service") => Root::Service,
        ("v1", "ServiceAccount") => Root::ServiceAccount,
        ("v1", "Node") => Root::Node,
        ("storage.k8s.io/v1" | "storage.k8s.io/v1beta1", "CSINode") => Root::CsiNode,
        (
            "admissionregistration.k8s.io/v1" | "admissionregistration.k8s.io/v1beta1",
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration",
        ) => Root::Webhooks,
        _ if is_plain(api_version, kind) => Root::Plain,
        _ => return None,
    };
    Some(root)
}

/// Kinds that the schema has, of which only the metadata merges in a special way.
fn is_plain(api_version: &str, kind: &str) -> bool {
    match api_version {
        "v1" => matches!(
            kind,
            "ConfigMap"
                | "Endpoints"
                | "Event"
                | "LimitRange"
                | "Namespace"
                | "PersistentVolume"
                | "PersistentVolumeClaim"
                | "ResourceQuota"
                | "Secret"
        ),
        "apps/v1" => kind == "ControllerRevision",
        "apiextensions.k8s.io/v1" | "apiextensions.k8s.io/v1beta1" => kind == "CustomResourceDefinition",
        "apiregistration.k8s.io/v1" | "apiregistration.k8s.io/v1beta1" => kind == "APIService",
        "autoscaling/v1" | "autoscaling/v2beta1" | "autoscaling/v2beta2" => kind == "HorizontalPodAutoscaler",
        "certificates.k8s.io/v1" | "certificates.k8s.io/v1beta1" => kind == "CertificateSigningRequest",
        "coordination.k8s.io/v1" | "coordination.k8s.io/v1beta1" => kind == "Lease",
        "discovery.k8s.io/v1" | "discovery.k8s.io/v1beta1" => kind == "EndpointSlice",
        "extensions/v1beta1" => kind == "Ingress",
        "flowcontrol.apiserver.k8s.io/v1beta1" => matches!(kind, "FlowSchema" | "PriorityLevelConfiguration"),
        "networking.k8s.io/v1" => matches!(kind, "Ingress" | "IngressClass" | "NetworkPolicy"),
        "networking.k8s.io/v1beta1" => matches!(kind, "Ingress" | "IngressClass"),
        "node.k8s.io/v1" | "node.k8s.io/v1beta1" => kind == "RuntimeClass",
        "policy/v1" => kind == "PodDisruptionBudget",
        "policy/v1beta1" => matches!(kind, "PodDisruptionBudget" | "PodSecurityPolicy"),
        "rbac.authorization.k8s.io/v1" | "rbac.authorization.k8s.io/v1beta1" => {
            matches!(kind, "ClusterRole" | "ClusterRoleBinding" | "Role" | "RoleBinding")
        }
        "scheduling.k8s.io/v1" | "scheduling.k8s.io/v1beta1" => kind == "PriorityClass",
        "storage.k8s.io/v1" => matches!(kind, "CSIDriver" | "StorageClass" | "VolumeAttachment"),
        "storage.k8s.io/v1beta1" => {
            matches!(kind, "CSIDriver" | "CSIStorageCapacity" | "StorageClass" | "VolumeAttachment")
        }
        _ => false,
    }
}
