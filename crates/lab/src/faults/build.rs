//! The objects that cases are made of.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{Lab, Object};

pub(super) const FLUX: &str = "flux-system";
pub(super) const SYSTEM: &str = "kube-system";
pub(super) const CERT_MANAGER: &str = "cert-manager.io/v1";
pub(super) const ESO: &str = "external-secrets.io/v1";
pub(super) const SEALED: &str = "bitnami.com/v1alpha1";
pub(super) const STORAGE: &str = "storage.k8s.io/v1";
pub(super) const GATEWAY: &str = "gateway.networking.k8s.io/v1";
pub(super) const ADMISSION: &str = "admissionregistration.k8s.io/v1";
const HOUR: Duration = Duration::from_hours(1);
const DAYS_60: Duration = Duration::from_hours(60 * 24);

/// So long ago, as Kubernetes writes it.
pub(super) fn ago(long: Duration) -> String {
    time(Timestamp::now().checked_sub(SignedDuration::try_from(long).unwrap_or_default()))
}

fn time(at: Result<Timestamp, k8s_openapi::jiff::Error>) -> String {
    let at = at.unwrap_or_default();
    Timestamp::from_second(at.as_second()).unwrap_or_default().to_string()
}

/// A condition that has been so for an hour.
pub(super) fn condition(kind: &str, status: &str, reason: &str, text: &str) -> Value {
    let at = ago(HOUR);
    json!({"type": kind, "status": status, "reason": reason, "message": text, "lastTransitionTime": at})
}

pub(super) fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

pub(super) fn config_map(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace},
        "data": {"a": "b"}})
}

pub(super) fn secret(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace},
        "stringData": {"a": "b"}})
}

pub(super) fn deployment(namespace: &str, name: &str, label: (&str, &str)) -> Value {
    workload("Deployment", namespace, name, label)
}

/// An agent on every node, with the host's network.
pub(super) fn daemon_set(namespace: &str, name: &str, label: (&str, &str), image: &str) -> Value {
    let mut set = workload("DaemonSet", namespace, name, label);
    if let Some(spec) = set["spec"].as_object_mut() {
        spec.remove("replicas");
    }
    let pod = &mut set["spec"]["template"]["spec"];
    pod["hostNetwork"] = true.into();
    pod["tolerations"] = json!([{"operator": "Exists"}]);
    pod["containers"][0]["image"] = image.into();
    set
}

pub(super) fn workload(kind: &str, namespace: &str, name: &str, label: (&str, &str)) -> Value {
    let labels = json!({label.0: label.1});
    json!({"apiVersion": "apps/v1", "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels},
            "spec": {"terminationGracePeriodSeconds": 0,
                "containers": [{"name": "main", "image": "registry.example.org/main:1"}]}}}})
}

pub(super) fn service(namespace: &str, name: &str, label: (&str, &str)) -> Value {
    json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, "labels": {label.0: label.1}},
        "spec": {"selector": {label.0: label.1}, "ports": [{"name": "main", "port": 443}]}})
}

/// A CRD that takes anything.
pub(super) fn crd(group: &str, version: &str, kind: &str, plural: &str, is_global: bool) -> Value {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}"),
            "annotations": {"api-approved.kubernetes.io": "unapproved, a stand-in"}},
        "spec": {"group": group, "scope": if is_global { "Cluster" } else { "Namespaced" },
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase(), "listKind": format!("{kind}List")},
            "versions": [{"name": version, "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": open, "status": open}}}}]}})
}

/// The source of the healthy cluster.
pub(super) fn source() -> Object {
    Object::git_repository(FLUX, "cluster")
}

pub(super) fn git_repository(url: &str, name: &str) -> Value {
    json!({"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
        "metadata": {"name": name, "namespace": FLUX},
        "spec": {"interval": "1h", "url": url, "ref": {"branch": "main"}, "timeout": "20s"}})
}

pub(super) fn kustomization(name: &str, path: &str, depends_on: &[&str]) -> Value {
    let depends_on: Vec<Value> = depends_on.iter().map(|name| json!({"name": name})).collect();
    json!({"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
        "metadata": {"name": name, "namespace": FLUX},
        "spec": {"interval": "1h", "retryInterval": "1s", "timeout": "20s", "path": format!("./{path}"), "prune": true,
            "wait": true, "dependsOn": depends_on, "sourceRef": {"kind": "GitRepository", "name": "cluster"}}})
}

/// A Kustomization as an object to ask for.
pub(super) fn the(name: &str) -> Object {
    Object::kustomization(FLUX, name)
}

pub(super) fn claim(namespace: &str, name: &str, class: Option<&str>) -> Value {
    let mut claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    if let Some(class) = class {
        claim["spec"]["storageClassName"] = class.into();
    }
    claim
}

pub(super) fn storage_class(name: &str, provisioner: &str, mode: &str) -> Value {
    json!({"apiVersion": STORAGE, "kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner,
        "volumeBindingMode": mode})
}

pub(super) fn csi_node(name: &str, driver: Option<&str>) -> Value {
    let drivers: Vec<Value> = driver.iter().map(|driver| json!({"name": driver, "nodeID": name})).collect();
    json!({"apiVersion": STORAGE, "kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": drivers}})
}

/// A pod template that mounts a claim.
pub(super) fn mounts(mut workload: Value, claim: &str) -> Value {
    let pod = &mut workload["spec"]["template"]["spec"];
    pod["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]);
    pod["containers"][0]["volumeMounts"] = json!([{"name": "data", "mountPath": "/data"}]);
    workload
}

/// The pods of a workload are told by this annotation what to do.
pub(super) fn annotated(mut workload: Value, annotation: &str, value: &str) -> Value {
    let key = format!("lab.coldstart.dev/{annotation}");
    workload["spec"]["template"]["metadata"]["annotations"] = json!({key: value});
    workload
}

/// A merge patch of a workload's template with an annotation, and the one that takes it away.
pub(super) fn annotation(name: &str, value: &str) -> (Value, Value) {
    let key = format!("lab.coldstart.dev/{name}");
    let patch = |value: Value| json!({"spec": {"template": {"metadata": {"annotations": {&key: value}}}}});
    (patch(value.into()), patch(Value::Null))
}

pub(super) fn cluster_issuer(name: &str) -> Value {
    json!({"apiVersion": CERT_MANAGER, "kind": "ClusterIssuer", "metadata": {"name": name}, "spec": {"selfSigned": {}},
        "status": {"conditions": [condition("Ready", "True", "IsReady", "")]}})
}

pub(super) fn certificate(namespace: &str, name: &str, issuer: &str) -> Value {
    let until = time(Timestamp::now().checked_add(SignedDuration::try_from(DAYS_60).unwrap_or_default()));
    json!({"apiVersion": CERT_MANAGER, "kind": "Certificate", "metadata": {"name": name, "namespace": namespace},
        "spec": {"secretName": format!("{name}-tls"), "issuerRef": {"kind": "ClusterIssuer", "name": issuer,
            "group": "cert-manager.io"}},
        "status": {"notAfter": until, "conditions": [
            condition("Ready", "True", "Ready", "Certificate is up to date and has not expired")]}})
}

pub(super) fn secret_store(name: &str) -> Value {
    json!({"apiVersion": ESO, "kind": "ClusterSecretStore", "metadata": {"name": name}, "spec": {"provider": {"fake": {}}},
        "status": {"conditions": [condition("Ready", "True", "Valid", "store validated")]}})
}

pub(super) fn external_secret(namespace: &str, name: &str, store: &str) -> Value {
    json!({"apiVersion": ESO, "kind": "ExternalSecret", "metadata": {"name": name, "namespace": namespace},
        "spec": {"secretStoreRef": {"kind": "ClusterSecretStore", "name": store}, "target": {"name": name}},
        "status": {"conditions": [condition("Ready", "True", "SecretSynced", "secret synced")]}})
}

pub(super) fn sealed_secret(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": SEALED, "kind": "SealedSecret", "metadata": {"name": name, "namespace": namespace},
        "spec": {"encryptedData": {"a": "AgB"}},
        "status": {"conditions": [condition("Synced", "True", "", "")]}})
}

/// Webhooks that are asked for every object of a group, with the lab's own authority.
pub(super) fn webhooks(lab: &Lab, name: &str, service: (&str, &str), group: &str, policy: &str) -> Value {
    let ca = STANDARD.encode(std::fs::read(&lab.place.pki.ca).unwrap_or_default());
    json!({"apiVersion": ADMISSION, "kind": "ValidatingWebhookConfiguration", "metadata": {"name": name},
        "webhooks": [{"name": format!("validate.{group}"), "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "failurePolicy": policy, "timeoutSeconds": 2,
            "clientConfig": {"service": {"namespace": service.0, "name": service.1}, "caBundle": ca},
            "rules": [{"apiGroups": [group], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]}]})
}
