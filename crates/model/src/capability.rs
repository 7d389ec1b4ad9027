use std::fmt;

use ecow::EcoString;

/// Something that one component can bring and another may not be able to do without.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capability {
    pub kind: CapabilityKind,
    /// Empty for what has no namespace.
    pub namespace: EcoString,
    /// For a CRD `group/Kind`; for a class, an object, a label, a device its name; empty for what there is one of.
    pub name: EcoString,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CapabilityKind {
    Crd,
    Webhook,
    Namespace,
    Secret,
    ConfigMap,
    Service,
    ServiceAccount,
    PersistentVolumeClaim,
    StorageClass,
    SnapshotClass,
    IngressClass,
    GatewayClass,
    PriorityClass,
    RuntimeClass,
    SecretStore,
    Issuer,
    Gateway,
    NetworkAttachment,
    Source,
    /// An object of the repository that another names, of a kind that has no word of its own here.
    Object,
    /// Something cluster-wide without an object: the pod network, cluster DNS, a device, a node label, a CSI driver.
    PodNetwork,
    ClusterDns,
    LoadBalancer,
    NodeLabel,
    NodeInitialized,
    Device,
    CsiDriver,
    SnapshotController,
    /// The program that works on a kind, as `group/Kind` or `group/*`.
    Controller,
    MetricsApi,
    SealingKey,
    /// The CRDs of a chart, by its name, where another chart holds them.
    ChartCrds,
    Other,
}

/// Namespaces that every API server makes by itself.
pub const GIVEN_NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

impl Capability {
    /// Whether its name, of which a `*` may stand for any part, means this one.
    pub fn means(&self, name: &str) -> bool {
        let Some((start, end)) = self.name.split_once('*') else { return self.name == name };
        name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
    }

    pub fn new(kind: CapabilityKind, namespace: impl Into<EcoString>, name: impl Into<EcoString>) -> Self {
        Self { kind, namespace: namespace.into(), name: name.into() }
    }

    pub fn cluster(kind: CapabilityKind, name: impl Into<EcoString>) -> Self {
        Self::new(kind, "", name)
    }

    pub fn crd(group: &str, kind: &str) -> Self {
        Self::cluster(CapabilityKind::Crd, ecow::eco_format!("{group}/{kind}"))
    }
}

/// The resource of a kind, as the API machinery guesses it: `ingresses` of an Ingress.
pub fn plural(kind: &str) -> EcoString {
    let kind = kind.to_lowercase();
    match kind.as_bytes() {
        [.., b's' | b'x'] | [.., b'c' | b's', b'h'] => ecow::eco_format!("{kind}es"),
        [.., before, b'y'] if !b"aeiou".contains(before) => ecow::eco_format!("{}ies", &kind[..kind.len() - 1]),
        _ => ecow::eco_format!("{kind}s"),
    }
}

impl CapabilityKind {
    /// The noun that findings use.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Crd => "CRD",
            Self::Webhook => "webhook of",
            Self::Namespace => "Namespace",
            Self::Secret => "Secret",
            Self::ConfigMap => "ConfigMap",
            Self::Service => "Service",
            Self::ServiceAccount => "ServiceAccount",
            Self::PersistentVolumeClaim => "PersistentVolumeClaim",
            Self::StorageClass => "StorageClass",
            Self::SnapshotClass => "VolumeSnapshotClass",
            Self::IngressClass => "IngressClass",
            Self::GatewayClass => "GatewayClass",
            Self::PriorityClass => "PriorityClass",
            Self::RuntimeClass => "RuntimeClass",
            Self::SecretStore => "secret store",
            Self::Issuer => "issuer",
            Self::Gateway => "Gateway",
            Self::NetworkAttachment => "NetworkAttachmentDefinition",
            Self::Source => "source",
            Self::Object | Self::Other => "",
            Self::ChartCrds => "the CRDs of",
            Self::PodNetwork => "the pod network",
            Self::ClusterDns => "cluster DNS",
            Self::LoadBalancer => "load balancer addresses",
            Self::NodeLabel => "node label",
            Self::NodeInitialized => "initialized nodes",
            Self::Device => "device",
            Self::CsiDriver => "CSI driver",
            Self::SnapshotController => "the snapshot controller",
            Self::Controller => "the controller of",
            Self::MetricsApi => "the metrics API",
            Self::SealingKey => "the sealing key",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = self.kind.noun();
        if self.name.is_empty() {
            return f.write_str(noun);
        }
        let name = match (self.kind, self.name.split_once('/')) {
            (CapabilityKind::Crd, Some((group, kind))) => format!("{kind}.{group}"),
            _ if self.namespace.is_empty() => self.name.to_string(),
            _ if self.kind == CapabilityKind::Object => {
                let (kind, name) = self.name.split_once(' ').unwrap_or(("", &self.name));
                format!("{kind} {}/{name}", self.namespace)
            }
            _ => format!("{}/{}", self.namespace, self.name),
        };
        if noun.is_empty() { f.write_str(&name) } else { write!(f, "{noun} {name}") }
    }
}

#[cfg(test)]
mod tests {
    use super::{Capability, CapabilityKind, plural};

    #[test]
    fn an_object_is_said_like_any_other_by_its_kind_first() {
        let object = Capability::new(CapabilityKind::Object, "database", "Cluster pg");
        assert_eq!(object.to_string(), "Cluster database/pg");
    }

    #[test]
    fn resources_are_guessed_by_how_their_kind_ends() {
        let guessed = ["Ingress", "NetworkPolicy", "Gateway", "Pod"].map(plural);
        assert_eq!(guessed, ["ingresses", "networkpolicies", "gateways", "pods"]);
    }
}
