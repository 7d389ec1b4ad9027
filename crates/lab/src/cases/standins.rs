//! What operators do once they run, in small. Each acts only while its Deployment is available in the cluster; together
//! they are one thread that looks a few times a second.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::record::Record;
use super::webhook::{Available, Webhooks};
use crate::object::condition;
use crate::{Lab, LabError, Object, Process};

const LOOK_EVERY: Duration = Duration::from_millis(150);
const ESO: &str = "external-secrets.io/v1";
const CERT_MANAGER: &str = "cert-manager.io/v1";
const CNPG: &str = "postgresql.cnpg.io/v1";
const CEPH: &str = "ceph.rook.io/v1";

/// The operators of one run.
pub(super) struct Standins<'a> {
    pub(super) lab: &'a Lab,
    pub(super) record: &'a Record,
    pub(super) webhooks: &'a Webhooks,
    pub(super) available: Available,
    /// How long they take with what they look after (`namespace/name`), in the lab's time.
    pub(super) takes: BTreeMap<String, Duration>,
    pub(super) first_seen: BTreeMap<String, Instant>,
    /// Workloads (`namespace/name`) whose pods crash until an object is there.
    pub(super) crashes: BTreeMap<String, Object>,
    pub(super) said: BTreeSet<String>,
}

impl Standins<'_> {
    /// Plays all of them until told to stop.
    pub(super) fn play(&mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            // A kind that is not served yet, or an API server that is busy: the next look is soon.
            if let Err(error) = self.look() {
                self.say("stand-ins", &format!("could not: {error}"));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn look(&mut self) -> Result<(), LabError> {
        let deployments = self.lab.list("apps/v1", "Deployment", None)?;
        let available: BTreeSet<String> = deployments.iter().filter(|one| is_available(one)).map(key).collect();
        self.available.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&available);
        for deployment in &available {
            self.say(&format!("Deployment {deployment}"), "is available");
        }
        let registered = deployments.iter().map(key).find(|key| key.ends_with("/kyverno-admission-controller"));
        if let Some(kyverno) = registered {
            self.kyverno(&kyverno)?;
        }
        for deployment in &available {
            match deployment.split('/').nth(1).unwrap_or_default() {
                "external-secrets" => self.external_secrets()?,
                "cert-manager" => self.cert_manager()?,
                "cloudnative-pg" => self.cloudnative_pg()?,
                "rook-ceph-operator" => self.rook()?,
                "longhorn-manager" => self.longhorn()?,
                "proxmox-cloud-controller-manager" => self.label_nodes()?,
                "sealed-secrets-controller" => self.sealed_secrets()?,
                _ => {}
            }
        }
        self.uncrash(&available)
    }

    /// Once per run and object: the story need not repeat itself.
    fn say(&mut self, object: &str, what: &str) {
        if self.said.insert(format!("{object} {what}")) {
            self.record.note(object, what);
        }
    }

    /// Whether the case gives an operator more time for this than has passed since it first saw it.
    fn takes_longer(&mut self, name: &str) -> bool {
        let since = *self.first_seen.entry(name.to_owned()).or_insert_with(Instant::now);
        self.takes.get(name).is_some_and(|takes| since.elapsed() < *takes)
    }

    fn external_secrets(&mut self) -> Result<(), LabError> {
        let mut ready = BTreeMap::new();
        for kind in ["SecretStore", "ClusterSecretStore"] {
            for store in self.lab.list(ESO, kind, None)? {
                if self.takes_longer(&store_key(kind, &store)) {
                    continue;
                }
                self.set_ready(&store, "Valid")?;
                let data = store.pointer("/spec/provider/fake/data").cloned().unwrap_or_default();
                ready.insert((kind.to_owned(), store_key(kind, &store)), data);
            }
        }
        for external in self.lab.list(ESO, "ExternalSecret", None)? {
            // A controller that is slow with a resource has not reported on it either, whatever its store is like.
            if is_ready(&external) || self.takes_longer(&key(&external)) {
                continue;
            }
            let reference = &external["spec"]["secretStoreRef"];
            let kind = reference["kind"].as_str().unwrap_or("SecretStore");
            let namespace = external["metadata"]["namespace"].as_str().unwrap_or_default();
            let name = reference["name"].as_str().unwrap_or_default();
            let store = if kind == "SecretStore" { format!("{namespace}/{name}") } else { name.to_owned() };
            let Some(data) = ready.get(&(kind.to_owned(), store)) else {
                self.set_not_ready(&external, "SecretSyncedError", "the store is not ready")?;
                continue;
            };
            let value = |key: &str| {
                let all = data.as_array().into_iter().flatten();
                all.filter(|one| one["key"] == key).find_map(|one| one["value"].as_str()).unwrap_or_default().to_owned()
            };
            let mut secret = serde_json::Map::new();
            for entry in external["spec"]["data"].as_array().into_iter().flatten() {
                let plain = value(entry["remoteRef"]["key"].as_str().unwrap_or_default());
                secret
                    .insert(entry["secretKey"].as_str().unwrap_or_default().to_owned(), STANDARD.encode(plain).into());
            }
            let name = external.pointer("/spec/target/name").or_else(|| external.pointer("/metadata/name"));
            let name = name.and_then(Value::as_str).unwrap_or_default();
            self.secret(namespace, name, &secret.into())?;
            self.set_ready(&external, "SecretSynced")?;
        }
        Ok(())
    }

    fn cert_manager(&mut self) -> Result<(), LabError> {
        let mut issuers = BTreeSet::new();
        for issuer in self.lab.list(CERT_MANAGER, "ClusterIssuer", None)? {
            self.set_ready(&issuer, "IsReady")?;
            issuers.insert(issuer["metadata"]["name"].as_str().unwrap_or_default().to_owned());
        }
        for certificate in self.lab.list(CERT_MANAGER, "Certificate", None)? {
            if is_ready(&certificate) || self.takes_longer(&key(&certificate)) {
                continue;
            }
            let issuer = certificate.pointer("/spec/issuerRef/name").and_then(Value::as_str).unwrap_or_default();
            if !issuers.contains(issuer) {
                self.set_not_ready(&certificate, "DoesNotExist", "Issuing certificate as Secret does not exist")?;
                continue;
            }
            let namespace = certificate["metadata"]["namespace"].as_str().unwrap_or_default();
            let name = certificate["spec"]["secretName"].as_str().unwrap_or_default();
            self.secret(namespace, name, &json!({"tls.crt": "", "tls.key": ""}))?;
            self.set_ready(&certificate, "Ready")?;
        }
        Ok(())
    }

    fn cloudnative_pg(&mut self) -> Result<(), LabError> {
        for cluster in self.lab.list(CNPG, "Cluster", None)? {
            if is_ready(&cluster) || self.takes_longer(&key(&cluster)) {
                continue;
            }
            let namespace = cluster["metadata"]["namespace"].as_str().unwrap_or_default();
            let name = cluster["metadata"]["name"].as_str().unwrap_or_default();
            self.secret(namespace, &format!("{name}-app"), &json!({"password": ""}))?;
            self.lab.apply_value(&json!({
                "apiVersion": "v1", "kind": "Service",
                "metadata": {"name": format!("{name}-rw"), "namespace": namespace},
                "spec": {"selector": {"cnpg.io/cluster": name}, "ports": [{"port": 5432}]},
            }))?;
            self.set_ready(&cluster, "ClusterIsReady")?;
        }
        Ok(())
    }

    /// Volumes are served once a Ceph cluster has been up for as long as Ceph takes.
    fn rook(&mut self) -> Result<(), LabError> {
        let clusters = self.lab.list(CEPH, "CephCluster", None)?;
        let Some(cluster) = clusters.first() else { return Ok(()) };
        if self.takes_longer(&key(cluster)) {
            return Ok(());
        }
        if condition(cluster, "Ready").is_none() {
            self.set_ready(cluster, "ClusterCreated")?;
            if let Some(name) = Object::of(cluster) {
                // Beside its conditions, what people's expressions ask for.
                self.lab.patch_status(&name, &json!({"ceph": {"health": "HEALTH_OK"}}))?;
            }
            self.record.note("CephCluster", "is healthy");
        }
        self.serve_volumes("rook-ceph.rbd.csi.ceph.com")
    }

    fn longhorn(&mut self) -> Result<(), LabError> {
        self.lab.apply_value(&json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": {"name": "longhorn"}, "provisioner": "driver.longhorn.io",
        }))?;
        self.serve_volumes("driver.longhorn.io")
    }

    /// A volume for every claim of a class of this provisioner.
    fn serve_volumes(&mut self, provisioner: &str) -> Result<(), LabError> {
        let classes = self.lab.list("storage.k8s.io/v1", "StorageClass", None)?;
        let its: BTreeSet<&str> = classes
            .iter()
            .filter(|class| class["provisioner"] == provisioner)
            .filter_map(|class| class["metadata"]["name"].as_str())
            .collect();
        for claim in self.lab.list("v1", "PersistentVolumeClaim", None)? {
            let class = claim["spec"]["storageClassName"].as_str().unwrap_or_default();
            if !its.contains(class) || claim["status"]["phase"] == "Bound" {
                continue;
            }
            let metadata = &claim["metadata"];
            let uid = metadata["uid"].as_str().unwrap_or_default();
            self.lab.apply_value(&json!({
                "apiVersion": "v1", "kind": "PersistentVolume",
                "metadata": {"name": format!("pvc-{uid}"), "annotations": {"pv.kubernetes.io/provisioned-by": provisioner}},
                "spec": {
                    "accessModes": claim["spec"]["accessModes"],
                    "capacity": claim["spec"]["resources"]["requests"],
                    "storageClassName": class,
                    "hostPath": {"path": format!("/lab/{uid}")},
                    "claimRef": {
                        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                        "name": metadata["name"], "namespace": metadata["namespace"], "uid": uid,
                    },
                },
            }))?;
            self.record.note(&format!("PersistentVolumeClaim {}", key(&claim)), "gets its volume");
        }
        Ok(())
    }

    /// Kyverno registers its webhook when its program starts, and answers when its pod is ready.
    fn kyverno(&mut self, deployment: &str) -> Result<(), LabError> {
        const NAME: &str = "kyverno-resource-validating-webhook-cfg";
        const KIND: &str = "ValidatingWebhookConfiguration";
        if !self.said.insert(NAME.to_owned()) {
            return Ok(());
        }
        self.lab.apply_value(&json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": KIND, "metadata": {"name": NAME},
            "webhooks": [{
                "name": "validate.kyverno.svc-fail",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"url": format!("{}/{deployment}", self.webhooks.url), "caBundle": self.webhooks.ca_bundle},
                "failurePolicy": "Fail",
                "sideEffects": "None",
                "timeoutSeconds": 5,
                // As its default configuration has it: not its own namespace, and not the cluster's.
                "namespaceSelector": {"matchExpressions": [{
                    "key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kyverno", "kube-system"],
                }]},
                "rules": [{
                    "apiGroups": ["", "apps", "batch"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"],
                    "resources": ["namespaces", "pods", "services", "configmaps", "deployments", "statefulsets", "daemonsets", "jobs"],
                }],
            }],
        }))?;
        self.record.note(&format!("{KIND} {NAME}"), "is registered");
        Ok(())
    }

    fn label_nodes(&mut self) -> Result<(), LabError> {
        for node in self.lab.list("v1", "Node", None)? {
            let name = node["metadata"]["name"].as_str().unwrap_or_default();
            let labels = json!({"topology.kubernetes.io/region": "lab", "topology.kubernetes.io/zone": "lab-1"});
            if node["metadata"]["labels"]["topology.kubernetes.io/region"].is_null() {
                self.lab.patch(&Object::node(name), &json!({"metadata": {"labels": labels}}))?;
                self.record.note(&format!("Node {name}"), "gets its labels");
            }
        }
        Ok(())
    }

    /// The real controller.
    fn sealed_secrets(&mut self) -> Result<(), LabError> {
        if self.takes_longer("kube-system/unsealing") {
            return Ok(());
        }
        if self.said.insert("sealed-secrets-controller runs".to_owned()) {
            self.lab.start_process(Process::SealedSecrets)?;
            self.record.note("sealed-secrets-controller", "runs");
        }
        Ok(())
    }

    /// What the pods were crashing for is there.
    fn uncrash(&mut self, available: &BTreeSet<String>) -> Result<(), LabError> {
        const CRASH: &str = "lab.coldstart.dev/crash";
        let waiting: Vec<(String, Object)> =
            self.crashes.iter().map(|(workload, object)| (workload.clone(), object.clone())).collect();
        for (workload, object) in waiting {
            let is_there = match object.kind.as_str() {
                "Deployment" => {
                    available.contains(&format!("{}/{}", object.namespace.as_deref().unwrap_or_default(), object.name))
                }
                _ => matches!(self.lab.get(&object), Ok(Some(_))),
            };
            if !is_there {
                continue;
            }
            let Some((namespace, name)) = workload.split_once('/') else { continue };
            for pod in self.lab.list("v1", "Pod", Some(namespace))? {
                let pod_name = pod["metadata"]["name"].as_str().unwrap_or_default();
                if pod_name.starts_with(name) && pod["metadata"]["annotations"][CRASH] == "true" {
                    self.lab.annotate(&Object::pod(namespace, pod_name), CRASH, Some("false"))?;
                    self.record.note(&format!("Pod {namespace}/{pod_name}"), format!("finds {object}"));
                }
            }
        }
        Ok(())
    }

    fn secret(&self, namespace: &str, name: &str, data: &Value) -> Result<(), LabError> {
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "namespace": namespace}, "data": data,
        });
        self.lab.apply_value(&secret)?;
        self.record.note(&format!("Secret {namespace}/{name}"), "is made");
        Ok(())
    }

    fn set_ready(&mut self, object: &Value, reason: &str) -> Result<(), LabError> {
        if is_ready(object) {
            return Ok(());
        }
        self.set(object, "True", reason, "")
    }

    fn set_not_ready(&mut self, object: &Value, reason: &str, message: &str) -> Result<(), LabError> {
        if condition(object, "Ready").is_some_and(|ready| ready.reason == reason) {
            return Ok(());
        }
        self.set(object, "False", reason, message)
    }

    fn set(&mut self, object: &Value, status: &str, reason: &str, message: &str) -> Result<(), LabError> {
        let Some(name) = Object::of(object) else { return Ok(()) };
        let ready = json!({
            "type": "Ready", "status": status, "reason": reason, "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        });
        let status = json!({"observedGeneration": object["metadata"]["generation"], "conditions": [ready]});
        self.record.note(&name.to_string(), format!("{reason} {message}"));
        self.lab.patch_status(&name, &status)
    }
}

fn is_ready(object: &Value) -> bool {
    condition(object, "Ready").is_some_and(|ready| ready.status == "True")
}

fn is_available(deployment: &Value) -> bool {
    condition(deployment, "Available").is_some_and(|available| available.status == "True")
        && deployment["status"]["readyReplicas"].as_i64().unwrap_or(0) > 0
}

fn key(object: &Value) -> String {
    let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
    format!("{}/{}", text("namespace"), text("name"))
}

fn store_key(kind: &str, store: &Value) -> String {
    if kind == "SecretStore" { key(store) } else { store["metadata"]["name"].as_str().unwrap_or_default().to_owned() }
}
