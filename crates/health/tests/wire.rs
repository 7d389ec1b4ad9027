//! Objects as the API server writes them, and the light types that are read from them.

use coldstart_health::Time;
use coldstart_health::facts::*;
use serde_json::{Value, json};

fn read<T: Fact>(api_version: &str, kind: &str, object: &Value) -> T {
    T::parse(&serde_json::to_vec(object).expect("bytes"), &Kind::of(api_version, kind)).expect("an object")
}

fn at(text: &str) -> Option<Time> {
    Time::parse(text)
}

#[test]
fn a_pod_keeps_what_health_is_read_from() {
    let pod: Pod = read(
        "v1",
        "Pod",
        &json!({
            "metadata": {
                "name": "db-0", "namespace": "app", "creationTimestamp": "2026-11-19T00:00:00Z", "resourceVersion": "7",
                "labels": {"app": "db", "pod-template-hash": "5d9c"}, "managedFields": [{"fieldsV1": {"f:a": {}}}],
                "annotations": {"big": "x".repeat(1000)},
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "Other", "name": "o"},
                    {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "controller": true},
                ],
            },
            "spec": {
                "nodeName": "w1",
                "volumes": [
                    {"name": "a", "secret": {"secretName": "tls"}},
                    {"name": "b", "configMap": {"name": "maybe", "optional": true}},
                    {"name": "c", "persistentVolumeClaim": {"claimName": "data-db-0"}},
                    {"name": "d", "projected": {"sources": []}},
                ],
                "containers": [{
                    "name": "db", "image": "ghcr.io/x/db:1",
                    "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "db", "key": "k"}}}, {"name": "B", "value": "x"}],
                    "envFrom": [{"configMapRef": {"name": "settings"}}],
                }],
            },
            "status": {
                "phase": "Running", "startTime": "2026-11-19T00:00:01Z",
                "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": null,
                    "lastTransitionTime": "2026-11-19T00:00:05Z"}],
                "containerStatuses": [{
                    "name": "db", "image": "ghcr.io/x/db:1", "ready": false, "restartCount": 3,
                    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                    "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-11-19T00:01:00Z"}},
                }],
            },
        }),
    );
    assert_eq!(pod.meta.owner.as_ref().map(|it| &*it.name), Some("db"));
    assert_eq!((pod.meta.labels.get("app"), pod.meta.labels.get("pod-template-hash")), (Some("db"), None));
    assert!(pod.meta.annotations.is_empty());
    assert_eq!(
        pod.needs,
        Needs {
            secrets: vec!["db".into(), "tls".into()],
            config_maps: vec!["settings".into()],
            claims: vec!["data-db-0".into()],
        }
    );
    let last = State::Terminated {
        exit_code: 137,
        reason: "OOMKilled".into(),
        message: "".into(),
        finished: at("2026-11-19T00:01:00Z"),
    };
    assert_eq!((pod.containers[0].restarts, pod.containers[0].last.as_ref()), (3, Some(&last)));
    assert_eq!(condition(&pod.conditions, "Ready").and_then(|it| it.since), at("2026-11-19T00:00:05Z"));
    assert!(!pod.is_ready());
}

#[test]
fn no_value_of_a_secret_is_kept() {
    let secret: Secret = read(
        "v1",
        "Secret",
        &json!({
            "metadata": {"name": "s", "namespace": "n", "labels": {"sealedsecrets.bitnami.com/sealed-secrets-key": "active"}},
            "type": "Opaque", "data": {"password": "aHVudGVyMg==", "age.agekey": "c2VjcmV0"},
        }),
    );
    assert_eq!(secret.keys, Some(vec!["age.agekey".into(), "password".into()]));
    let recorded = serde_json::to_string(&secret).expect("JSON");
    assert!(!recorded.contains("aHVudGVyMg") && !recorded.contains("c2VjcmV0"), "{recorded}");
}

#[test]
fn endpoints_of_unknown_readiness_are_ready() {
    let slice: Endpoints = read(
        "discovery.k8s.io/v1",
        "EndpointSlice",
        &json!({
            "metadata": {"name": "web-1", "namespace": "n", "labels": {"kubernetes.io/service-name": "web"}},
            "endpoints": [
                {"addresses": ["10.0.0.1"], "conditions": {"ready": true}, "targetRef": {"kind": "Pod", "name": "web-1"}},
                {"addresses": ["10.0.0.2"], "conditions": {"ready": false}, "nodeName": "w1"},
                {"addresses": ["10.0.0.3"], "conditions": {}},
            ],
        }),
    );
    assert_eq!(slice.service, "web");
    assert_eq!(slice.endpoints.iter().map(|it| it.ready).collect::<Vec<_>>(), [true, false, true]);
    let none: Endpoints =
        read("discovery.k8s.io/v1", "EndpointSlice", &json!({"metadata": {"name": "x"}, "endpoints": null}));
    assert!(none.endpoints.is_empty());
}

#[test]
fn objects_of_flux_name_what_they_need() {
    let it: Kustomization = read(
        "kustomize.toolkit.fluxcd.io/v1",
        "Kustomization",
        &json!({
            "metadata": {"name": "apps", "namespace": "flux-system", "generation": 4},
            "spec": {
                "sourceRef": {"kind": "GitRepository", "name": "home"},
                "dependsOn": [{"name": "base"}, {"name": "x", "namespace": "other", "readyExpr": "dep.status.ready"}],
                "decryption": {"provider": "sops", "secretRef": {"name": "sops-age"}},
                "postBuild": {"substituteFrom": [{"kind": "Secret", "name": "vars"}, {"kind": "ConfigMap", "name": "o", "optional": true}]},
                "wait": true,
            },
            "status": {
                "observedGeneration": 4, "lastAppliedRevision": "main@sha1:abc",
                "inventory": {"entries": [
                    {"id": "app_web_apps_Deployment", "v": "v1"},
                    {"id": "_system__node_rbac.authorization.k8s.io_ClusterRole", "v": "v1"},
                    {"id": "app_settings__ConfigMap", "v": "v1"},
                ]},
            },
        }),
    );
    assert_eq!(it.source, ObjectKey::new("source.toolkit.fluxcd.io", "GitRepository", "flux-system", "home"));
    assert_eq!(
        it.depends_on[0].on,
        ObjectKey::new("kustomize.toolkit.fluxcd.io", "Kustomization", "flux-system", "base")
    );
    assert!(it.depends_on[1].by_expression && it.depends_on[1].on.namespace == "other");
    assert_eq!(it.substitute_from, [ObjectKey::new("", "Secret", "flux-system", "vars")]);
    assert_eq!(it.last_applied.digest(), "sha1:abc");
    assert_eq!(
        it.inventory,
        [
            ObjectKey::new("apps", "Deployment", "app", "web"),
            ObjectKey::new("rbac.authorization.k8s.io", "ClusterRole", "", "system:node"),
            ObjectKey::new("", "ConfigMap", "app", "settings"),
        ]
    );
    let release: HelmRelease = read(
        "helm.toolkit.fluxcd.io/v2",
        "HelmRelease",
        &json!({
            "metadata": {"name": "web", "namespace": "app"},
            "spec": {"chartRef": {"kind": "OCIRepository", "name": "web"}, "targetNamespace": "prod",
                "valuesFrom": [{"kind": "Secret", "name": "values"}]},
            "status": {"helmChart": "app/app-web", "failures": 3, "history": [{"name": "prod-web", "status": "failed", "version": 2}]},
        }),
    );
    assert_eq!(release.source, Some(ObjectKey::new("source.toolkit.fluxcd.io", "OCIRepository", "app", "web")));
    assert_eq!((&*release.release, &*release.namespace), ("prod-web", "prod"));
    assert_eq!(release.newest.map(|it| it.status), Some("failed".into()));
}

#[test]
fn webhooks_tell_what_they_see() {
    let it: Webhooks = read(
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
        &json!({
            "metadata": {"name": "kyverno"},
            "webhooks": [{
                "name": "mutate.kyverno.svc-fail", "failurePolicy": "Fail", "timeoutSeconds": 10,
                "clientConfig": {"service": {"namespace": "kyverno", "name": "svc", "path": "/mutate", "port": 443}, "caBundle": "QUJD"},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"], "scope": "*"}],
                "namespaceSelector": {"matchExpressions": [
                    {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]},
                ]},
            }],
        }),
    );
    let hook = &it.hooks[0];
    assert!(it.mutating && hook.sees("", "pods") && !hook.sees("apps", "deployments"));
    assert!(!hook.sees_namespace("kube-system") && hook.sees_namespace("app"));
    assert_eq!((hook.failure, hook.ca_bytes), (Failure::Fail, 4));
}

#[test]
fn a_custom_resource_may_look_like_anything() {
    let odd = json!({"metadata": {"name": "x"}, "spec": ["a"], "status": {"conditions": {"no": "list"}, "phase": 3, "addresses": "no"}});
    let it: Custom = read("x.io/v1", "X", &odd);
    assert!(it.reported && it.conditions.is_empty() && it.phase.is_empty());
    let ceph: Custom = read(
        "ceph.rook.io/v1",
        "CephCluster",
        &json!({
            "metadata": {"name": "c", "namespace": "rook-ceph"},
            "status": {"phase": "Ready", "ceph": {"health": "HEALTH_WARN", "details": {"MON_DOWN": {"severity": "x"}}}},
        }),
    );
    assert_eq!((&*ceph.health, ceph.details), ("HEALTH_WARN", vec!["MON_DOWN".into()]));
    let node: Custom = read("cilium.io/v2", "CiliumNode", &json!({"metadata": {"name": "n"}, "spec": {"bootid": "b"}}));
    assert_eq!(node.boot_id, "b");
}

#[test]
fn events_of_both_apis_read_alike() {
    let old: Event = read(
        "v1",
        "Event",
        &json!({
            "metadata": {"name": "e", "namespace": "n"}, "type": "Warning", "reason": "FailedMount", "message": "m", "count": 4,
            "involvedObject": {"kind": "Pod", "namespace": "n", "name": "p", "apiVersion": "v1"},
            "firstTimestamp": null, "lastTimestamp": "2026-11-19T00:00:00Z", "eventTime": null,
        }),
    );
    let new: Event = read(
        "events.k8s.io/v1",
        "Event",
        &json!({
            "metadata": {"name": "e", "namespace": "n"}, "type": "Warning", "reason": "FailedMount", "note": "m",
            "regarding": {"kind": "Pod", "namespace": "n", "name": "p", "apiVersion": "v1"},
            "series": {"count": 4, "lastObservedTime": "2026-11-19T00:00:00.000000Z"}, "eventTime": "2026-11-18T00:00:00.000000Z",
        }),
    );
    assert_eq!(old, new);
}

#[test]
fn what_is_left_out_or_null_is_no_error() {
    let bare = json!({"metadata": {"name": "x", "labels": null, "finalizers": null}, "spec": {}, "status": {}});
    let _: Node = read("v1", "Node", &bare);
    let _: Pod = read("v1", "Pod", &bare);
    let _: Workload = read("apps/v1", "Deployment", &bare);
    let _: Service = read("v1", "Service", &bare);
    let _: Claim = read("v1", "PersistentVolumeClaim", &bare);
    let _: PersistentVolume = read("v1", "PersistentVolume", &bare);
    let _: StorageClass = read("storage.k8s.io/v1", "StorageClass", &bare);
    let _: CsiNode =
        read("storage.k8s.io/v1", "CSINode", &json!({"metadata": {"name": "x"}, "spec": {"drivers": null}}));
    let _: VolumeAttachment = read("storage.k8s.io/v1", "VolumeAttachment", &bare);
    let _: Crd = read("apiextensions.k8s.io/v1", "CustomResourceDefinition", &bare);
    let _: ApiService = read("apiregistration.k8s.io/v1", "APIService", &bare);
    let _: Lease = read("coordination.k8s.io/v1", "Lease", &bare);
    let _: Csr = read("certificates.k8s.io/v1", "CertificateSigningRequest", &bare);
    let _: Namespace = read("v1", "Namespace", &bare);
    let _: Source = read("source.toolkit.fluxcd.io/v1", "GitRepository", &bare);
    let _: Kustomization = read("kustomize.toolkit.fluxcd.io/v1", "Kustomization", &bare);
    let _: HelmRelease = read("helm.toolkit.fluxcd.io/v2", "HelmRelease", &bare);
    let _: Instance = read("fluxcd.controlplane.io/v1", "FluxInstance", &bare);
    let _: ResourceSet = read("fluxcd.controlplane.io/v1", "ResourceSet", &bare);
    let _: Certificate = read("cert-manager.io/v1", "Certificate", &bare);
    let _: Issuer = read("cert-manager.io/v1", "Issuer", &bare);
    let _: ExternalSecret = read("external-secrets.io/v1", "ExternalSecret", &bare);
    let _: SecretStore = read("external-secrets.io/v1", "SecretStore", &bare);
    let _: SealedSecret = read("bitnami.com/v1alpha1", "SealedSecret", &bare);
    let _: Custom = read("x.io/v1", "X", &bare);
}
