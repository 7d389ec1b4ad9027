//! Objects by the names that findings and `lab.yaml` use: `Kind namespace/name`, or `Kind name`.

use super::CaseError;
use crate::Object;

/// The kinds that cases speak of, beside Flux's.
const KINDS: [(&str, &str); 24] = [
    ("Kustomization", "kustomize.toolkit.fluxcd.io/v1"),
    ("HelmRelease", "helm.toolkit.fluxcd.io/v2"),
    ("GitRepository", "source.toolkit.fluxcd.io/v1"),
    ("OCIRepository", "source.toolkit.fluxcd.io/v1"),
    ("HelmRepository", "source.toolkit.fluxcd.io/v1"),
    ("Deployment", "apps/v1"),
    ("Namespace", "v1"),
    ("Node", "v1"),
    ("Pod", "v1"),
    ("Secret", "v1"),
    ("ConfigMap", "v1"),
    ("Service", "v1"),
    ("PersistentVolumeClaim", "v1"),
    ("StorageClass", "storage.k8s.io/v1"),
    ("PriorityClass", "scheduling.k8s.io/v1"),
    ("CustomResourceDefinition", "apiextensions.k8s.io/v1"),
    ("ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1"),
    ("ExternalSecret", "external-secrets.io/v1"),
    ("ClusterSecretStore", "external-secrets.io/v1"),
    ("Certificate", "cert-manager.io/v1"),
    ("ClusterIssuer", "cert-manager.io/v1"),
    ("Cluster", "postgresql.cnpg.io/v1"),
    ("SealedSecret", "bitnami.com/v1alpha1"),
    ("ServiceMonitor", "monitoring.coreos.com/v1"),
];

pub(super) fn object(said: &str) -> Result<Object, CaseError> {
    let unknown = || CaseError::Object(said.to_owned());
    let (kind, name) = said.split_once(' ').ok_or_else(unknown)?;
    let (_, api_version) = KINDS.iter().find(|(known, _)| *known == kind).ok_or_else(unknown)?;
    Ok(match name.split_once('/') {
        Some((namespace, name)) => Object::new(api_version, kind, namespace, name),
        None => Object::cluster_wide(api_version, kind, name),
    })
}
