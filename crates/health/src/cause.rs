//! The catalogue: faults that are known, and the facts that show each.
//!
//! An entry matches a root by its problem and evidence. One without a matcher takes facts that are not read yet: logs, the
//! hypervisor, other machines of the network. It is listed all the same, so that what is not looked for is known. The sentences
//! of an entry (cause, remedy, guard, proof) are in `draw`.

use serde::Serialize;

use crate::facts::{ObjectKey, Why};
use crate::status::{AlarmKind, Automatic, LayerName, Problem, Step};
use crate::symptom::Symptom;
use crate::view::View;

/// Where the facts come from that show an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    Kubernetes,
    Machines,
    Hypervisor,
    Network,
}

/// A root, and whether it is a cycle.
struct Case<'a> {
    symptom: &'a Symptom,
    cycle: &'a [Step],
    view: &'a View<'a>,
}

type Matcher = fn(&Case<'_>) -> bool;

/// One row of the catalogue.
struct Entry {
    cause: Cause,
    id: &'static str,
    layer: LayerName,
    automatic: Automatic,
    origin: Origin,
    matches: Option<Matcher>,
}

/// A known fault, by its name in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Cause {
    Pve01,
    Pve02,
    Tal01,
    Tal02,
    Tal03,
    Tal04,
    Tal05,
    Tal06,
    Tal07,
    Tal08,
    Tal09,
    Tal10,
    Etcd01,
    Etcd02,
    Etcd03,
    Etcd04,
    Etcd05,
    Etcd06,
    Cp01,
    Cp02,
    Cp03,
    Ns01,
    Node01,
    Node02,
    Node03,
    Cni01,
    Cni02,
    Cni03,
    Cni04,
    Cni05,
    Cni06,
    Dns01,
    Dns02,
    Dns03,
    Ccm01,
    Ccm02,
    Csi01,
    Csi02,
    Csi03,
    Csi04,
    Csi05,
    Wh01,
    Wh02,
    Wh03,
    Wh04,
    Sec01,
    Sec02,
    Sec03,
    Sec04,
    Sec05,
    Sec06,
    Flux01,
    Flux02,
    Flux03,
    Flux04,
    Flux05,
    Flux06,
    Flux07,
    Flux08,
    Flux09,
    Flux10,
    Flux11,
    Cert01,
    Lb01,
    Gw01,
    Gw02,
    Img01,
    Img02,
    Img03,
    Ceph01,
    Ceph02,
    Ceph03,
    K8s01,
}

const fn entry(
    cause: Cause,
    id: &'static str,
    layer: LayerName,
    automatic: Automatic,
    origin: Origin,
    matches: Option<Matcher>,
) -> Entry {
    Entry { cause, id, layer, automatic, origin, matches }
}

/// All of it, in the order of [`Cause`]. Of two that match, the one of [`FIRST`] is meant, else the first.
const ENTRIES: [Entry; 73] = [
    entry(Cause::Pve01, "PVE-01", LayerName::Machines, Automatic::Ask, Origin::Hypervisor, None),
    entry(Cause::Pve02, "PVE-02", LayerName::Machines, Automatic::Ask, Origin::Hypervisor, None),
    entry(Cause::Tal01, "TAL-01", LayerName::Machines, Automatic::Ask, Origin::Machines, Some(time_not_synced)),
    entry(Cause::Tal02, "TAL-02", LayerName::Machines, Automatic::Guarded, Origin::Machines, Some(kubelet_waits)),
    entry(Cause::Tal03, "TAL-03", LayerName::Machines, Automatic::Guarded, Origin::Machines, None),
    entry(Cause::Tal04, "TAL-04", LayerName::Machines, Automatic::Ask, Origin::Machines, Some(volume_not_ready)),
    entry(Cause::Tal05, "TAL-05", LayerName::Machines, Automatic::Ask, Origin::Machines, Some(maintenance)),
    entry(Cause::Tal06, "TAL-06", LayerName::Machines, Automatic::Guarded, Origin::Machines, Some(shutdown_hangs)),
    entry(Cause::Tal07, "TAL-07", LayerName::Nodes, Automatic::Guarded, Origin::Kubernetes, Some(request_pending)),
    entry(Cause::Tal08, "TAL-08", LayerName::Machines, Automatic::Ask, Origin::Machines, None),
    entry(Cause::Tal09, "TAL-09", LayerName::Access, Automatic::Ask, Origin::Kubernetes, None),
    entry(Cause::Tal10, "TAL-10", LayerName::Machines, Automatic::Ask, Origin::Kubernetes, Some(kube_prism)),
    entry(Cause::Etcd01, "ETCD-01", LayerName::Etcd, Automatic::Always, Origin::Machines, Some(etcd_quorum)),
    entry(Cause::Etcd02, "ETCD-02", LayerName::Etcd, Automatic::Guarded, Origin::Machines, Some(etcd_space)),
    entry(Cause::Etcd03, "ETCD-03", LayerName::Etcd, Automatic::Guarded, Origin::Machines, None),
    entry(Cause::Etcd04, "ETCD-04", LayerName::Etcd, Automatic::Ask, Origin::Machines, None),
    entry(Cause::Etcd05, "ETCD-05", LayerName::Machines, Automatic::Always, Origin::Machines, None),
    entry(Cause::Etcd06, "ETCD-06", LayerName::Etcd, Automatic::Never, Origin::Machines, Some(etcd_corrupt)),
    entry(Cause::Cp01, "CP-01", LayerName::Etcd, Automatic::Always, Origin::Network, None),
    entry(Cause::Cp02, "CP-02", LayerName::Api, Automatic::Always, Origin::Kubernetes, Some(static_pod)),
    entry(Cause::Cp03, "CP-03", LayerName::Api, Automatic::Guarded, Origin::Kubernetes, Some(api_service)),
    entry(Cause::Ns01, "NS-01", LayerName::Api, Automatic::Always, Origin::Kubernetes, Some(namespace_stuck)),
    entry(Cause::Node01, "NODE-01", LayerName::Network, Automatic::Always, Origin::Kubernetes, Some(no_cni)),
    entry(Cause::Node02, "NODE-02", LayerName::Nodes, Automatic::Always, Origin::Kubernetes, None),
    entry(Cause::Node03, "NODE-03", LayerName::Nodes, Automatic::Guarded, Origin::Kubernetes, Some(cordoned)),
    entry(Cause::Cni01, "CNI-01", LayerName::Network, Automatic::Ask, Origin::Kubernetes, Some(operator_unschedulable)),
    entry(Cause::Cni02, "CNI-02", LayerName::Network, Automatic::Always, Origin::Kubernetes, Some(agent_taint)),
    entry(Cause::Cni03, "CNI-03", LayerName::Network, Automatic::Guarded, Origin::Kubernetes, Some(before_boot)),
    entry(Cause::Cni04, "CNI-04", LayerName::Network, Automatic::Ask, Origin::Kubernetes, Some(multus_sandbox)),
    entry(Cause::Cni05, "CNI-05", LayerName::Network, Automatic::Guarded, Origin::Kubernetes, Some(multus_busy)),
    entry(Cause::Cni06, "CNI-06", LayerName::Network, Automatic::Ask, Origin::Kubernetes, None),
    entry(Cause::Dns01, "DNS-01", LayerName::Dns, Automatic::Ask, Origin::Kubernetes, Some(dns_loop)),
    entry(Cause::Dns02, "DNS-02", LayerName::Dns, Automatic::Always, Origin::Kubernetes, Some(dns_not_ready)),
    entry(Cause::Dns03, "DNS-03", LayerName::Dns, Automatic::Ask, Origin::Kubernetes, Some(dns_upstream)),
    entry(Cause::Ccm01, "CCM-01", LayerName::Nodes, Automatic::Ask, Origin::Kubernetes, Some(uninitialized)),
    entry(Cause::Ccm02, "CCM-02", LayerName::Nodes, Automatic::Ask, Origin::Kubernetes, Some(ccm_lookup)),
    entry(Cause::Csi01, "CSI-01", LayerName::Storage, Automatic::Guarded, Origin::Kubernetes, Some(csi_labels)),
    entry(Cause::Csi02, "CSI-02", LayerName::Storage, Automatic::Ask, Origin::Kubernetes, Some(csi_nobody)),
    entry(Cause::Csi03, "CSI-03", LayerName::Storage, Automatic::Guarded, Origin::Kubernetes, Some(csi_unregistered)),
    entry(Cause::Csi04, "CSI-04", LayerName::Storage, Automatic::Always, Origin::Kubernetes, Some(csi_topology)),
    entry(Cause::Csi05, "CSI-05", LayerName::Storage, Automatic::Guarded, Origin::Kubernetes, Some(multi_attach)),
    entry(Cause::Wh01, "WH-01", LayerName::Api, Automatic::Guarded, Origin::Kubernetes, Some(webhook_dead)),
    entry(Cause::Wh02, "WH-02", LayerName::Api, Automatic::Always, Origin::Kubernetes, Some(webhook_ca)),
    entry(Cause::Wh03, "WH-03", LayerName::Api, Automatic::Always, Origin::Kubernetes, Some(webhook_refused)),
    entry(Cause::Wh04, "WH-04", LayerName::Api, Automatic::Ask, Origin::Kubernetes, None),
    entry(Cause::Sec01, "SEC-01", LayerName::Secrets, Automatic::Guarded, Origin::Kubernetes, Some(cannot_unseal)),
    entry(Cause::Sec02, "SEC-02", LayerName::Secrets, Automatic::Ask, Origin::Kubernetes, Some(sops_key)),
    entry(Cause::Sec03, "SEC-03", LayerName::Secrets, Automatic::Ask, Origin::Kubernetes, Some(sops_not_configured)),
    entry(Cause::Sec04, "SEC-04", LayerName::Secrets, Automatic::Ask, Origin::Kubernetes, Some(vault_sealed)),
    entry(Cause::Sec05, "SEC-05", LayerName::Secrets, Automatic::Guarded, Origin::Kubernetes, Some(store_not_ready)),
    entry(Cause::Sec06, "SEC-06", LayerName::Secrets, Automatic::Ask, Origin::Kubernetes, Some(secret_cycle)),
    entry(Cause::Flux01, "FLUX-01", LayerName::GitOps, Automatic::Always, Origin::Kubernetes, Some(source_fails)),
    entry(Cause::Flux02, "FLUX-02", LayerName::GitOps, Automatic::Guarded, Origin::Kubernetes, Some(source_inside)),
    entry(Cause::Flux03, "FLUX-03", LayerName::GitOps, Automatic::Always, Origin::Kubernetes, Some(dependency)),
    entry(Cause::Flux04, "FLUX-04", LayerName::GitOps, Automatic::Ask, Origin::Kubernetes, Some(dependency_cycle)),
    entry(Cause::Flux05, "FLUX-05", LayerName::GitOps, Automatic::Always, Origin::Kubernetes, Some(crd_missing)),
    entry(Cause::Flux06, "FLUX-06", LayerName::GitOps, Automatic::Guarded, Origin::Kubernetes, Some(immutable)),
    entry(Cause::Flux07, "FLUX-07", LayerName::GitOps, Automatic::Guarded, Origin::Kubernetes, Some(release_locked)),
    entry(Cause::Flux08, "FLUX-08", LayerName::GitOps, Automatic::Always, Origin::Kubernetes, Some(retries_exceeded)),
    entry(Cause::Flux09, "FLUX-09", LayerName::GitOps, Automatic::Ask, Origin::Kubernetes, Some(no_rollback)),
    entry(Cause::Flux10, "FLUX-10", LayerName::GitOps, Automatic::Guarded, Origin::Kubernetes, Some(suspended)),
    entry(Cause::Flux11, "FLUX-11", LayerName::GitOps, Automatic::Always, Origin::Kubernetes, Some(health_check)),
    entry(Cause::Cert01, "CERT-01", LayerName::Certificates, Automatic::Always, Origin::Kubernetes, Some(issuer)),
    entry(Cause::Lb01, "LB-01", LayerName::Platform, Automatic::Always, Origin::Kubernetes, Some(no_address)),
    entry(Cause::Gw01, "GW-01", LayerName::Platform, Automatic::Guarded, Origin::Kubernetes, Some(gateway_class)),
    entry(Cause::Gw02, "GW-02", LayerName::Platform, Automatic::Always, Origin::Kubernetes, Some(gateway)),
    entry(Cause::Img01, "IMG-01", LayerName::Platform, Automatic::Always, Origin::Kubernetes, Some(rate_limit)),
    entry(Cause::Img02, "IMG-02", LayerName::Platform, Automatic::Guarded, Origin::Kubernetes, None),
    entry(Cause::Img03, "IMG-03", LayerName::Platform, Automatic::Ask, Origin::Kubernetes, None),
    entry(Cause::Ceph01, "CEPH-01", LayerName::Storage, Automatic::Guarded, Origin::Kubernetes, Some(ceph_mons)),
    entry(Cause::Ceph02, "CEPH-02", LayerName::Storage, Automatic::Always, Origin::Kubernetes, Some(ceph_osds)),
    entry(Cause::Ceph03, "CEPH-03", LayerName::Storage, Automatic::Always, Origin::Kubernetes, None),
    entry(Cause::K8s01, "K8S-01", LayerName::Nodes, Automatic::Ask, Origin::Machines, None),
];

/// More exact than others that match as well.
const FIRST: [Cause; 9] = [
    Cause::Flux04,
    Cause::Flux02,
    Cause::Sec06,
    Cause::Ccm02,
    Cause::Dns01,
    Cause::Cni01,
    Cause::Flux07,
    Cause::Dns03,
    Cause::Img01,
];

impl Cause {
    fn entry(self) -> &'static Entry {
        &ENTRIES[self as usize]
    }

    /// Its name in the catalogue, such as `CNI-01`.
    pub fn id(self) -> &'static str {
        self.entry().id
    }

    /// The layer whose fault it is.
    pub fn layer(self) -> LayerName {
        self.entry().layer
    }

    pub fn automatic(self) -> Automatic {
        self.entry().automatic
    }

    pub fn origin(self) -> Origin {
        self.entry().origin
    }

    /// Whether facts of this crate can show it.
    pub fn is_looked_for(self) -> bool {
        self.entry().matches.is_some()
    }

    pub fn all() -> impl Iterator<Item = Self> {
        ENTRIES.iter().map(|it| it.cause)
    }
}

/// The entry that a root is.
pub(crate) fn of(symptom: &Symptom, cycle: &[Step], view: &View<'_>) -> Option<Cause> {
    let case = Case { symptom, cycle, view };
    let matches = |cause: Cause| cause.entry().matches.is_some_and(|matches| matches(&case));
    FIRST.into_iter().chain(Cause::all()).find(|cause| matches(*cause))
}

/// The entry for an API server that does not answer.
pub(crate) fn of_access(why: &Why) -> Option<Cause> {
    matches!(why, Why::CertificateExpired { .. }).then_some(Cause::Tal09)
}

impl Case<'_> {
    fn kind(&self) -> &str {
        &self.symptom.object.kind
    }

    fn shown(&self) -> &ObjectKey {
        &self.symptom.shown
    }

    /// Whether its evidence holds one of these texts of others.
    fn says(&self, texts: &[&str]) -> bool {
        self.symptom.evidence.iter().any(|it| texts.iter().any(|text| it.value.contains(text)))
    }

    fn is_of_flux(&self) -> bool {
        self.symptom.layer == LayerName::GitOps && !matches!(self.kind(), "Pod" | "Deployment")
    }

    fn is_pod(&self) -> bool {
        self.kind() == "Pod"
    }
}

fn time_not_synced(case: &Case<'_>) -> bool {
    case.symptom.problem == Problem::TimeNotSynced
}

fn kubelet_waits(case: &Case<'_>) -> bool {
    matches!(&case.symptom.problem, Problem::ServiceNotHealthy { service, state, message }
        if service == "kubelet" && state == "Waiting" && message.contains("aiting for volume"))
}

fn volume_not_ready(case: &Case<'_>) -> bool {
    matches!(case.symptom.problem, Problem::VolumeNotReady { .. })
}

fn stage<'a>(case: &'a Case<'_>) -> &'a str {
    if let Problem::MachineNotReady { stage, .. } = &case.symptom.problem { stage } else { "" }
}

fn maintenance(case: &Case<'_>) -> bool {
    stage(case) == "maintenance"
}

fn shutdown_hangs(case: &Case<'_>) -> bool {
    matches!(stage(case), "rebooting" | "shuttingDown")
}

fn request_pending(case: &Case<'_>) -> bool {
    matches!(case.symptom.problem, Problem::RequestPending { .. })
}

fn kube_prism(case: &Case<'_>) -> bool {
    case.symptom.layer == LayerName::Network && case.says(&["127.0.0.1:7445", "localhost:7445"])
}

fn etcd_quorum(case: &Case<'_>) -> bool {
    matches!(case.symptom.problem, Problem::EtcdNoQuorum { .. })
}

fn etcd_space(case: &Case<'_>) -> bool {
    case.symptom.problem == Problem::EtcdAlarm { alarm: AlarmKind::NoSpace }
        || case.says(&["mvcc: database space exceeded"])
}

fn etcd_corrupt(case: &Case<'_>) -> bool {
    case.symptom.problem == Problem::EtcdAlarm { alarm: AlarmKind::Corrupt }
}

fn static_pod(case: &Case<'_>) -> bool {
    case.is_pod() && case.symptom.layer == LayerName::Api
}

fn api_service(case: &Case<'_>) -> bool {
    matches!(case.symptom.problem, Problem::ApiServiceUnavailable { .. })
}

fn namespace_stuck(case: &Case<'_>) -> bool {
    matches!(case.symptom.problem, Problem::NamespaceStuck { .. })
}

fn no_cni(case: &Case<'_>) -> bool {
    matches!(case.symptom.problem, Problem::NoAgent)
        || (matches!(case.symptom.problem, Problem::NodeNotReady { .. }) && case.says(&["cni plugin not initialized"]))
}

fn cordoned(case: &Case<'_>) -> bool {
    case.symptom.problem == Problem::NodeCordoned
}

fn operator_unschedulable(case: &Case<'_>) -> bool {
    let is_operator = case
        .view
        .workload(case.shown())
        .is_some_and(|it| it.meta.labels.is("io.cilium/app", "operator") || it.meta.name == "cilium-operator");
    is_operator && matches!(case.symptom.problem, Problem::Unschedulable { .. }) && case.says(&["untolerated taint"])
}

fn agent_taint(case: &Case<'_>) -> bool {
    case.symptom.problem == Problem::AgentTaintStays
}

fn before_boot(case: &Case<'_>) -> bool {
    matches!(case.symptom.problem, Problem::AgentBeforeBoot { .. })
}

fn multus_sandbox(case: &Case<'_>) -> bool {
    case.is_pod() && case.says(&["cilium.sock: no such file", "cilium.sock: connect: no such file"])
}

fn multus_busy(case: &Case<'_>) -> bool {
    case.is_pod() && case.says(&["multus-shim': Text file busy"])
}

fn dns_loop(case: &Case<'_>) -> bool {
    case.symptom.layer == LayerName::Dns && case.says(&["plugin/loop: Loop"])
}

fn dns_not_ready(case: &Case<'_>) -> bool {
    case.symptom.layer == LayerName::Dns
}

fn dns_upstream(case: &Case<'_>) -> bool {
    case.is_of_flux() && case.says(&["server misbehaving"])
}

fn uninitialized(case: &Case<'_>) -> bool {
    case.symptom.problem == Problem::NodeUninitialized || (is_ccm(case) && case.is_pod())
}

fn is_ccm(case: &Case<'_>) -> bool {
    case.shown().name.contains("cloud-controller-manager")
}

fn ccm_lookup(case: &Case<'_>) -> bool {
    let in_cycle = case.cycle.iter().any(|it| it.object.name.contains("cloud-controller-manager"));
    (in_cycle || is_ccm(case)) && case.says(&["lookup "])
}

fn csi_labels(case: &Case<'_>) -> bool {
    case.symptom.layer == LayerName::Storage
        && case.says(&["failed to get region for node", "Failed to get region or zone for node"])
}

fn csi_nobody(case: &Case<'_>) -> bool {
    case.symptom.problem == Problem::NobodyWanted && case.symptom.layer == LayerName::Storage
}

fn csi_unregistered(case: &Case<'_>) -> bool {
    matches!(case.symptom.problem, Problem::DriverNotRegistered { .. })
}

fn csi_topology(case: &Case<'_>) -> bool {
    case.says(&["no topology key found on CSINode"])
}

fn multi_attach(case: &Case<'_>) -> bool {
    matches!(case.symptom.problem, Problem::AttachFailed { .. }) || case.says(&["Multi-Attach error for volume"])
}

fn webhook_dead(case: &Case<'_>) -> bool {
    matches!(case.symptom.problem, Problem::WebhookWithoutEndpoints { .. })
}

fn webhook_ca(case: &Case<'_>) -> bool {
    matches!(case.symptom.problem, Problem::WebhookWithoutCa { .. })
        || (case.says(&["failed calling webhook"]) && case.says(&["certificate signed by unknown authority"]))
}

fn webhook_refused(case: &Case<'_>) -> bool {
    case.is_of_flux() && case.says(&["failed calling webhook"]) && case.says(&["connection refused"])
}

fn cannot_unseal(case: &Case<'_>) -> bool {
    matches!(
        case.symptom.problem,
        Problem::NoSealingKey | Problem::SealingKeyOpensNothing { .. } | Problem::CannotUnseal { .. }
    )
}

fn sops_key(case: &Case<'_>) -> bool {
    let is_named = |it: &crate::facts::Kustomization| {
        it.meta.namespace == case.shown().namespace && it.decryption_secret == case.shown().name
    };
    let is_missing = case.symptom.problem == Problem::Missing && case.kind() == "Secret";
    (is_missing && case.view.facts.kustomizations.iter().any(is_named))
        || (case.is_of_flux()
            && case.says(&[
                "sops decryption Secret",
                "cannot get sops data key",
                "failed to load age identities",
                "no identities",
            ]))
}

fn sops_not_configured(case: &Case<'_>) -> bool {
    case.is_of_flux() && case.says(&["is SOPS encrypted, configuring decryption is required"])
}

fn vault_sealed(case: &Case<'_>) -> bool {
    case.says(&["vault-sealed=true", "Vault is sealed"])
}

fn store_not_ready(case: &Case<'_>) -> bool {
    matches!(case.kind(), "SecretStore" | "ClusterSecretStore")
}

fn secret_cycle(case: &Case<'_>) -> bool {
    case.cycle.iter().any(|it| it.object.kind == "ExternalSecret" || it.object.kind == "SealedSecret")
}

fn source_fails(case: &Case<'_>) -> bool {
    let is_source =
        matches!(case.kind(), "GitRepository" | "OCIRepository" | "HelmRepository" | "HelmChart" | "Bucket");
    is_source && matches!(case.symptom.problem, Problem::NotReady { .. } | Problem::Stalled { .. })
}

fn source_inside(case: &Case<'_>) -> bool {
    case.cycle.iter().any(|it| matches!(&*it.object.kind, "GitRepository" | "OCIRepository" | "HelmRepository"))
}

fn dependency(case: &Case<'_>) -> bool {
    matches!(case.symptom.problem, Problem::DependencyMissing { .. })
}

fn dependency_cycle(case: &Case<'_>) -> bool {
    case.symptom.problem == Problem::DependencyCycle
}

fn crd_missing(case: &Case<'_>) -> bool {
    case.kind() == "CustomResourceDefinition"
}

fn immutable(case: &Case<'_>) -> bool {
    case.is_of_flux() && case.says(&["field is immutable", "updates to statefulset spec for fields other than"])
}

fn release_locked(case: &Case<'_>) -> bool {
    case.kind() == "HelmRelease"
        && (case.says(&["another operation (install/upgrade/rollback) is in progress"]) || case.says(&["pending-"]))
}

fn stalled_by<'a>(case: &'a Case<'_>) -> &'a str {
    if let Problem::Stalled { reason, .. } = &case.symptom.problem { reason } else { "" }
}

fn retries_exceeded(case: &Case<'_>) -> bool {
    stalled_by(case) == "RetriesExceeded"
}

fn no_rollback(case: &Case<'_>) -> bool {
    stalled_by(case) == "MissingRollbackTarget"
}

fn suspended(case: &Case<'_>) -> bool {
    case.symptom.problem == Problem::Suspended
}

fn health_check(case: &Case<'_>) -> bool {
    matches!(&case.symptom.problem, Problem::NotReady { reason, .. } if reason == "HealthCheckFailed")
}

fn issuer(case: &Case<'_>) -> bool {
    matches!(case.kind(), "Issuer" | "ClusterIssuer") && case.symptom.problem != Problem::Missing
}

fn no_address(case: &Case<'_>) -> bool {
    matches!(case.symptom.problem, Problem::NoAddress { .. })
}

fn gateway_class(case: &Case<'_>) -> bool {
    case.kind() == "GatewayClass"
}

fn gateway(case: &Case<'_>) -> bool {
    matches!(case.kind(), "Gateway" | "HTTPRoute" | "GRPCRoute" | "TLSRoute")
}

fn rate_limit(case: &Case<'_>) -> bool {
    case.says(&["toomanyrequests", "429 Too Many Requests"])
}

fn ceph_mons(case: &Case<'_>) -> bool {
    matches!(&case.symptom.problem, Problem::CephUnhealthy { details, .. } if details.contains("MON_DOWN"))
}

fn ceph_osds(case: &Case<'_>) -> bool {
    matches!(&case.symptom.problem, Problem::CephUnhealthy { details, .. }
        if details.contains("OSD_DOWN") || details.contains("PG_AVAILABILITY"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_at_its_place() {
        for (index, entry) in ENTRIES.iter().enumerate() {
            assert_eq!(entry.cause as usize, index, "{}", entry.id);
        }
        let mut ids: Vec<_> = Cause::all().map(Cause::id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), ENTRIES.len());
    }

    #[test]
    fn what_kubernetes_alone_shows_is_looked_for() {
        let without: Vec<_> =
            Cause::all().filter(|it| it.origin() == Origin::Kubernetes && !it.is_looked_for()).map(Cause::id).collect();
        // A leftover pod is no fault. The others take logs, a history of images, or what a name resolves to.
        assert_eq!(without, ["TAL-09", "NODE-02", "CNI-06", "WH-04", "IMG-02", "IMG-03", "CEPH-03"]);
    }
}
