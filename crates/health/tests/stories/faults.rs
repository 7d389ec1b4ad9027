//! One fault each in a healthy cluster: its root, by which entry of the catalogue, and what it blocks.

use crate::cluster::{Cluster, DAY, HOUR, ago, cond, crash, eco, healthy, meta, now, unschedulable, wait};
use coldstart_health::facts::*;
use coldstart_health::status::{LayerName, Outcome, State as LayerState};
use coldstart_health::{Status, assess, trace};

/// What must come out: every root with its entry, and some of what the first one blocks.
struct Expect {
    roots: Vec<(ObjectKey, Option<&'static str>)>,
    blocks: Vec<ObjectKey>,
}

fn root(object: ObjectKey, id: impl Into<Option<&'static str>>) -> Expect {
    Expect { roots: vec![(object, id.into())], blocks: Vec::new() }
}

impl Expect {
    fn and(mut self, object: ObjectKey, id: impl Into<Option<&'static str>>) -> Self {
        self.roots.push((object, id.into()));
        self
    }

    fn blocks(mut self, objects: impl IntoIterator<Item = ObjectKey>) -> Self {
        self.blocks.extend(objects);
        self
    }
}

fn node(name: &str) -> ObjectKey {
    ObjectKey::new("", "Node", "", name)
}

fn deployment(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey::new("apps", "Deployment", namespace, name)
}

fn service(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey::new("", "Service", namespace, name)
}

fn source() -> ObjectKey {
    ObjectKey::new("source.toolkit.fluxcd.io", "GitRepository", "flux-system", "flux-system")
}

fn kustomization(it: &Cluster, role: &str) -> ObjectKey {
    ObjectKey::new("kustomize.toolkit.fluxcd.io", "Kustomization", "flux-system", &it.name(role))
}

fn app(it: &Cluster) -> ObjectKey {
    let (namespace, name) = it.app();
    deployment(&namespace, &name)
}

fn here(it: &Cluster, group: &str, kind: &str, role: &str) -> ObjectKey {
    ObjectKey::new(group, kind, &it.app().0, &it.name(role))
}

fn agent() -> ObjectKey {
    ObjectKey::new("apps", "DaemonSet", "kube-system", "cilium")
}

fn hooks() -> ObjectKey {
    ObjectKey::new("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "cert-manager-webhook")
}

fn lose(it: &mut Cluster, index: usize) {
    let name = it.node_name(index);
    let lost = cond("Ready", Truth::Unknown, "NodeStatusUnknown", "Kubelet stopped posting node status.", HOUR);
    it.node(index).conditions = vec![lost];
    it.lease("kube-node-lease", &name).renewed = ago(HOUR);
    for pod in it.facts.pods.objects.iter_mut().filter(|pod| pod.node == name) {
        pod.conditions = vec![cond("Ready", Truth::False, "", "", HOUR - 60)];
    }
    let all: Vec<(String, String)> = it
        .facts
        .deployments
        .iter()
        .chain(&it.facts.daemon_sets)
        .map(|it| (it.meta.namespace.to_string(), it.meta.name.to_string()))
        .collect();
    for (namespace, name) in all {
        it.count(&namespace, &name);
    }
}

fn source_fails(it: &mut Cluster, message: &str) {
    it.facts.git_repositories.objects[0].conditions =
        vec![cond("Ready", Truth::False, "GitOperationFailed", message, HOUR)];
}

fn lookup_fails(it: &mut Cluster) {
    source_fails(it, "failed to checkout: dial tcp: lookup git.example.org on 10.96.0.10:53: read udp: i/o timeout");
}

fn stall(it: &mut Cluster) {
    let stalled = [
        cond("Stalled", Truth::True, "RetriesExceeded", "Failed to upgrade after 3 attempt(s)", HOUR),
        cond("Ready", Truth::False, "UpgradeFailed", "context deadline exceeded", HOUR),
    ];
    it.facts.helm_releases.objects[0].conditions = stalled.to_vec();
    it.facts.helm_releases.objects[0].newest = Some(Helm { status: eco("failed"), ..Helm::default() });
}

fn no_webhook(it: &mut Cluster) {
    let text = r#"dry-run failed: failed calling webhook "webhook.cert-manager.io": failed to call webhook: no endpoints available for service "cert-manager-webhook""#;
    it.fails("config", "ReconciliationFailed", text);
    it.waits("apps", "config");
}

type Story = (&'static str, fn(&mut Cluster) -> Expect);

const NODES: [Story; 9] = [
    ("a node is down", |it| {
        lose(it, 4);
        root(node(&it.node_name(4)), None).blocks([agent()])
    }),
    ("a node is silent, and its condition is from before", |it| {
        let name = it.node_name(3);
        it.lease("kube-node-lease", &name).renewed = ago(HOUR);
        root(node(&name), None)
    }),
    ("a cloud controller that crashes leaves nodes uninitialized", |it| {
        it.deploy("kube-system", "proxmox-cloud-controller-manager", ("app", "ccm"), 1);
        it.crash("kube-system", "proxmox-cloud-controller-manager", "401 authentication failure", HOUR);
        for index in 3..5 {
            it.node(index).provider_id = eco("");
            it.node(index).taints = vec![Taint {
                key: eco("node.cloudprovider.kubernetes.io/uninitialized"),
                since: ago(HOUR),
                ..Taint::default()
            }];
        }
        let (namespace, name) = it.app();
        let text = "0/5 nodes are available: 2 node(s) had untolerated taint \
                    {node.cloudprovider.kubernetes.io/uninitialized: true}, 3 node(s) had untolerated taint {x: }.";
        it.pods(&namespace, &name).for_each(|pod| unschedulable(pod, text));
        it.count(&namespace, &name);
        let nodes = [node(&it.node_name(3)), node(&it.node_name(4))];
        let ccm = deployment("kube-system", "proxmox-cloud-controller-manager");
        root(ccm, "CCM-01").blocks(nodes).blocks([app(it)])
    }),
    ("nobody initializes nodes", |it| {
        for index in 3..5 {
            it.node(index).provider_id = eco("");
            it.node(index).taints = vec![Taint {
                key: eco("node.cloudprovider.kubernetes.io/uninitialized"),
                since: ago(HOUR),
                ..Taint::default()
            }];
        }
        let first = [it.node_name(3), it.node_name(4)].into_iter().min().expect("two");
        root(node(&first), "CCM-01")
    }),
    ("a node is cordoned and a pod fits nowhere else", |it| {
        it.node(4).unschedulable = true;
        let (namespace, name) = it.app();
        let text = "0/5 nodes are available: 1 node(s) were unschedulable, 4 Insufficient memory.";
        it.pods(&namespace, &name).take(1).for_each(|pod| unschedulable(pod, text));
        it.count(&namespace, &name);
        root(node(&it.node_name(4)), "NODE-03").blocks([app(it)])
    }),
    ("the scheduler is gone", |it| {
        it.lease("kube-system", "kube-scheduler").renewed = ago(HOUR);
        let (namespace, name) = it.app();
        for pod in it.pods(&namespace, &name) {
            pod.phase = Phase::Pending;
            pod.node = eco("");
            pod.meta.created = ago(HOUR);
            pod.conditions.clear();
            pod.containers.clear();
        }
        it.count(&namespace, &name);
        let lease = ObjectKey::new("coordination.k8s.io", "Lease", "kube-system", "kube-scheduler");
        root(lease, None).blocks([app(it)])
    }),
    ("a serving certificate waits for approval", |it| {
        it.facts.csrs.objects.push(Csr {
            meta: meta("", "csr-abcde"),
            signer: eco("kubernetes.io/kubelet-serving"),
            username: eco("system:node:w1"),
            ..Csr::default()
        });
        root(ObjectKey::new("certificates.k8s.io", "CertificateSigningRequest", "", "csr-abcde"), "TAL-07")
    }),
    ("the kubelet of a worker waits for its volume", |it| {
        lose(it, 4);
        let service = MachineService {
            id: eco("kubelet"),
            state: eco("Waiting"),
            message: eco("Waiting for volumes /var/lib to be mounted"),
            since: ago(HOUR),
            ..MachineService::default()
        };
        let machine = Machine {
            name: eco(&it.node_name(4)),
            answer: Answer::Version(eco("v1.13.9")),
            stage: eco("running"),
            services: vec![service],
            ..Machine::default()
        };
        it.facts.machines = Listed::whole(now(), vec![machine]);
        root(ObjectKey::new("talos.dev", "Machine", "", &it.node_name(4)), "TAL-02").blocks([node(&it.node_name(4))])
    }),
    ("etcd is out of space", |it| {
        let etcd = Etcd {
            member: eco("a"),
            leader: eco("a"),
            members: vec![Member { id: eco("a"), ..Member::default() }],
            alarms: vec![(eco("a"), Alarm::NoSpace)],
        };
        let machine = Machine {
            name: eco(&it.node_name(0)),
            role: Role::ControlPlane,
            answer: Answer::Version(eco("v1.13.9")),
            etcd: Some(etcd),
            ..Machine::default()
        };
        it.facts.machines = Listed::whole(now(), vec![machine]);
        root(ObjectKey::new("", "EtcdMember", "", "a"), "ETCD-02")
    }),
];

const NETWORK: [Story; 8] = [
    ("the operator tolerates no taint, and nodes wait for the agent that waits for it", |it| {
        let text = "container runtime network not ready: NetworkPluginNotReady message: cni plugin not initialized";
        for index in 0..5 {
            it.node(index).conditions = vec![cond("Ready", Truth::False, "KubeletNotReady", text, HOUR)];
            it.node(index).taints = vec![Taint { key: eco("node.kubernetes.io/not-ready"), ..Taint::default() }];
        }
        it.crash("kube-system", "cilium", "CRDs are not available", HOUR);
        let text = "0/5 nodes are available: 5 node(s) had untolerated taint {node.kubernetes.io/not-ready: }.";
        it.pods("kube-system", "cilium-operator").for_each(|pod| unschedulable(pod, text));
        it.count("kube-system", "cilium-operator");
        root(deployment("kube-system", "cilium-operator"), "CNI-01")
    }),
    ("no agent on one node", |it| {
        let name = it.node_name(3);
        it.facts.pods.objects.retain(|pod| !(pod.node == name && pod.meta.labels.is("k8s-app", "cilium")));
        it.facts.daemon_sets.objects[0].have.desired_number_scheduled = Some(4);
        it.count("kube-system", "cilium");
        let (namespace, app_name) = it.app();
        for pod in it.pods(&namespace, &app_name) {
            pod.node = eco(&name);
            wait(pod, "ContainerCreating", "", HOUR);
        }
        it.count(&namespace, &app_name);
        root(agent(), None).blocks([app(it)])
    }),
    ("the agent is wanted on no node", |it| {
        it.facts.pods.objects.retain(|pod| !pod.meta.labels.is("k8s-app", "cilium"));
        let set = &mut it.facts.daemon_sets.objects[0];
        set.have.desired_number_scheduled = Some(0);
        set.node_selector = Labels::default().with("network", "none");
        it.count("kube-system", "cilium");
        root(agent(), None)
    }),
    ("the agent crashes, and its node is not ready", |it| {
        let name = it.node_name(2);
        it.pods("kube-system", "cilium").filter(|pod| pod.node == name).for_each(|pod| crash(pod, "no bpf", HOUR));
        it.count("kube-system", "cilium");
        let text = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message: cni plugin not initialized";
        it.node(2).conditions = vec![cond("Ready", Truth::False, "KubeletNotReady", text, HOUR)];
        root(agent(), None).blocks([node(&name)])
    }),
    ("the agent has not started since the boot", |it| {
        it.node(1).boot_id = eco("boot-new");
        root(agent(), "CNI-03")
    }),
    ("the operator's taint stays", |it| {
        it.node(1).taints =
            vec![Taint { key: eco("node.cilium.io/agent-not-ready"), since: ago(HOUR), ..Taint::default() }];
        it.crash("kube-system", "cilium-operator", "leader election lost", HOUR);
        root(deployment("kube-system", "cilium-operator"), None).blocks([node(&it.node_name(1))])
    }),
    ("CoreDNS crashes", |it| {
        it.crash("kube-system", "coredns", "plugin/loop: Loop (127.0.0.1:1 -> :53) detected for zone \".\"", HOUR);
        lookup_fails(it);
        root(deployment("kube-system", "coredns"), "DNS-01").blocks([service("kube-system", "kube-dns"), source()])
    }),
    ("CoreDNS is gone", |it| {
        it.remove("kube-system", "coredns");
        lookup_fails(it);
        root(service("kube-system", "kube-dns"), "DNS-02").blocks([source()])
    }),
];

const SECRETS: [Story; 8] = [
    ("the sealing key is lost", |it| {
        it.facts.secrets.objects.retain(|secret| secret.meta.namespace != "sealed");
        for sealed in &mut it.facts.sealed_secrets.objects {
            sealed.conditions = vec![cond("Synced", Truth::False, "", "no key could decrypt secret (a)", HOUR)];
        }
        let keys = ["sealed one", "sealed two"].map(|role| here(it, "bitnami.com", "SealedSecret", role));
        root(ObjectKey::new("", "Secret", "sealed", "sealed-secrets-key"), "SEC-01").blocks(keys)
    }),
    ("another sealing key", |it| {
        for sealed in &mut it.facts.sealed_secrets.objects {
            sealed.conditions = vec![cond("Synced", Truth::False, "", "no key could decrypt secret (a)", HOUR)];
        }
        let name = it.name("sealed one");
        it.facts.secrets.objects.retain(|secret| secret.meta.name != name);
        let (namespace, other) = (it.app().0, it.name("other"));
        for pod in it.pods(&namespace, &other) {
            pod.needs.secrets = vec![eco(&name)];
            wait(pod, "CreateContainerConfigError", &format!("secret \"{name}\" not found"), HOUR);
        }
        it.count(&namespace, &other);
        let blocked = [here(it, "bitnami.com", "SealedSecret", "sealed one"), deployment(&namespace, &other)];
        root(ObjectKey::new("", "Secret", "sealed", "sealed-secrets-key-abcde"), "SEC-01").blocks(blocked)
    }),
    ("one SealedSecret was sealed for another cluster", |it| {
        it.facts.sealed_secrets.objects[0].conditions =
            vec![cond("Synced", Truth::False, "", "no key could decrypt secret (a)", HOUR)];
        root(here(it, "bitnami.com", "SealedSecret", "sealed one"), "SEC-01")
    }),
    ("a store does not answer", |it| {
        it.facts.cluster_secret_stores.objects[0].conditions = vec![cond(
            "Ready",
            Truth::False,
            "InvalidProviderConfig",
            "unable to create client: permission denied",
            HOUR,
        )];
        it.facts.external_secrets.objects[0].conditions =
            vec![cond("Ready", Truth::False, "SecretSyncedError", "could not get secret data", HOUR)];
        let store = ObjectKey::new("external-secrets.io", "ClusterSecretStore", "", "store");
        root(store, "SEC-05").blocks([here(it, "external-secrets.io", "ExternalSecret", "external")])
    }),
    ("Vault is sealed", |it| {
        for pod in it.pods("vault", "vault") {
            pod.meta.labels = Labels::default().with("app.kubernetes.io/name", "vault").with("vault-sealed", "true");
            pod.conditions = vec![cond("Ready", Truth::False, "ContainersNotReady", "", HOUR)];
        }
        it.count("vault", "vault");
        it.facts.cluster_secret_stores.objects[0].conditions =
            vec![cond("Ready", Truth::False, "InvalidProviderConfig", "Code: 503. Errors: * Vault is sealed", HOUR)];
        let store = ObjectKey::new("external-secrets.io", "ClusterSecretStore", "", "store");
        root(deployment("vault", "vault"), "SEC-04").blocks([store])
    }),
    ("the SOPS key is missing", |it| {
        it.facts.secrets.objects.retain(|secret| secret.meta.name != "sops-age");
        it.fails(
            "base",
            "BuildFailed",
            "cannot get sops decryption Secret 'flux-system/sops-age': secrets \"sops-age\" not found",
        );
        it.waits("config", "base");
        it.waits("apps", "config");
        let all = ["base", "config", "apps"].map(|role| kustomization(it, role));
        root(ObjectKey::new("", "Secret", "flux-system", "sops-age"), "SEC-02").blocks(all)
    }),
    ("an ExternalSecret is missing, and with it the Secret of a pod", |it| {
        let (namespace, name) = it.app();
        let secret = it.name("secret");
        it.facts.secrets.objects.retain(|it| it.meta.name != secret);
        it.facts.external_secrets.objects.clear();
        it.wait(&namespace, &name, "CreateContainerConfigError", &format!("secret \"{secret}\" not found"), HOUR);
        root(here(it, "", "Secret", "secret"), None).blocks([app(it)])
    }),
    ("a ConfigMap is missing", |it| {
        let (namespace, name) = it.app();
        it.wait(&namespace, &name, "CreateContainerConfigError", "configmap \"settings\" not found", HOUR);
        root(ObjectKey::new("", "ConfigMap", &namespace, "settings"), None).blocks([app(it)])
    }),
];

fn claim_waits(it: &mut Cluster, class: Option<&str>) {
    let (namespace, name) = it.app();
    let claim = &mut it.facts.claims.objects[0];
    claim.phase = eco("Pending");
    claim.class = class.map(eco);
    let text = "0/5 nodes are available: pod has unbound immediate PersistentVolumeClaims.";
    it.pods(&namespace, &name).for_each(|pod| unschedulable(pod, text));
    it.count(&namespace, &name);
}

const STORAGE: [Story; 8] = [
    ("a class does not exist", |it| {
        claim_waits(it, Some("fast"));
        let class = ObjectKey::new("storage.k8s.io", "StorageClass", "", "fast");
        root(class, None).blocks([here(it, "", "PersistentVolumeClaim", "claim"), app(it)])
    }),
    ("no class is the default", |it| {
        claim_waits(it, None);
        it.facts.storage_classes.objects[0].default = false;
        root(here(it, "", "PersistentVolumeClaim", "claim"), None).blocks([app(it)])
    }),
    ("a driver is not registered on a node", |it| {
        let name = it.node_name(3);
        it.facts.csi_nodes.objects[3].drivers.clear();
        let (namespace, app_name) = it.app();
        let pods: Vec<String> = it.pods(&namespace, &app_name).map(|pod| pod.meta.name.to_string()).collect();
        for pod in it.pods(&namespace, &app_name) {
            pod.node = eco(&name);
            wait(pod, "ContainerCreating", "", HOUR);
        }
        it.count(&namespace, &app_name);
        it.facts.events.objects.push(Event {
            about: ObjectKey::new("", "Pod", &namespace, &pods[0]),
            reason: eco("FailedMount"),
            message: eco("driver name block.csi.example.org not found in the list of registered CSI drivers"),
            last: ago(60),
            ..Event::default()
        });
        for pod in it.pods(&namespace, &app_name).skip(1) {
            pod.conditions = vec![cond("Ready", Truth::True, "", "", DAY)];
        }
        it.count(&namespace, &app_name);
        root(ObjectKey::new("storage.k8s.io", "CSIDriver", "", "block.csi.example.org"), "CSI-03").blocks([app(it)])
    }),
    ("the driver's pods are wanted on no node", |it| {
        claim_waits(it, Some("block"));
        it.facts.pods.objects.retain(|pod| !pod.meta.labels.is("app", "block-node"));
        it.facts.daemon_sets.objects[1].have.desired_number_scheduled = Some(0);
        it.count("csi-block", "block-node");
        it.facts.csi_nodes.objects.iter_mut().for_each(|node| node.drivers.clear());
        let driver = ObjectKey::new("storage.k8s.io", "CSIDriver", "", "block.csi.example.org");
        root(ObjectKey::new("apps", "DaemonSet", "csi-block", "block-node"), "CSI-02").blocks([driver, app(it)])
    }),
    ("the provisioner crashes", |it| {
        claim_waits(it, Some("block"));
        it.crash("csi-block", "block-controller", "401", HOUR);
        root(deployment("csi-block", "block-controller"), None).blocks([app(it)])
    }),
    ("an issuer is not ready", |it| {
        it.facts.cluster_issuers.objects[0].conditions =
            vec![cond("Ready", Truth::False, "ErrRegisterACMEAccount", "Failed to register ACME account: 403", HOUR)];
        it.facts.certificates.objects[0].conditions =
            vec![cond("Ready", Truth::False, "DoesNotExist", "Issuing certificate as Secret does not exist", HOUR)];
        let issuer = ObjectKey::new("cert-manager.io", "ClusterIssuer", "", "letsencrypt");
        root(issuer, "CERT-01").blocks([here(it, "cert-manager.io", "Certificate", "certificate")])
    }),
    ("a certificate has expired", |it| {
        it.facts.certificates.objects[0].not_after = ago(HOUR);
        root(here(it, "cert-manager.io", "Certificate", "certificate"), None)
    }),
    ("Ceph has no monitors", |it| {
        let ceph = Custom {
            kind: Kind::new("ceph.rook.io", "v1", "CephCluster"),
            meta: meta("rook-ceph", "rook-ceph"),
            health: eco("HEALTH_ERR"),
            details: vec![eco("MON_DOWN")],
            reported: true,
            ..Custom::default()
        };
        it.facts.others.insert(eco("CephCluster.ceph.rook.io"), Listed::whole(now(), vec![ceph]));
        root(ObjectKey::new("ceph.rook.io", "CephCluster", "rook-ceph", "rook-ceph"), "CEPH-01")
    }),
];

const GITOPS: [Story; 13] = [
    ("Git does not answer", |it| {
        source_fails(it, "failed to checkout: dial tcp 10.0.0.9:22: connect: connection refused");
        root(source(), "FLUX-01")
    }),
    ("the source was left suspended", |it| {
        it.facts.git_repositories.objects[0].suspend = true;
        root(source(), "FLUX-10")
    }),
    ("the first of a chain can't be built", |it| {
        it.fails("base", "BuildFailed", "kustomize build failed: accumulating resources");
        it.waits("config", "base");
        it.waits("apps", "config");
        let others = ["config", "apps"].map(|role| kustomization(it, role));
        root(kustomization(it, "base"), None).blocks(others)
    }),
    ("a dependency has the wrong name", |it| {
        it.kustomization("config").depends_on[0].on.name = eco("nobody");
        it.fails("config", "DependencyNotReady", "dependency 'flux-system/nobody' not found");
        it.waits("apps", "config");
        root(kustomization(it, "config"), "FLUX-03").blocks([kustomization(it, "apps")])
    }),
    ("two wait for each other", |it| {
        let on = kustomization(it, "apps");
        it.kustomization("config").depends_on = vec![Waits { on, by_expression: false }];
        it.waits("config", "apps");
        it.waits("apps", "config");
        let first = ["config", "apps"].map(|role| kustomization(it, role)).into_iter().min().expect("two");
        root(first, "FLUX-04")
    }),
    ("a release has given up", |it| {
        stall(it);
        root(here(it, "helm.toolkit.fluxcd.io", "HelmRelease", "release"), "FLUX-08")
    }),
    ("a release has given up because its pods crash", |it| {
        stall(it);
        let (namespace, name) = it.app();
        it.crash(&namespace, &name, "panic: no such table", 2 * HOUR);
        root(app(it), None).blocks([here(it, "helm.toolkit.fluxcd.io", "HelmRelease", "release")])
    }),
    ("a CRD does not exist", |it| {
        it.fails(
            "config",
            "ReconciliationFailed",
            "Widget/a/b dry-run failed: no matches for kind \"Widget\" in version \"w.io/v1\"",
        );
        it.waits("apps", "config");
        let crd = ObjectKey::new("apiextensions.k8s.io", "CustomResourceDefinition", "", "Widget.w.io");
        root(crd, "FLUX-05").blocks([kustomization(it, "config"), kustomization(it, "apps")])
    }),
    ("a field is immutable", |it| {
        it.fails("apps", "ReconciliationFailed", "Job/a/b dry-run failed (Invalid): spec.template: field is immutable");
        root(kustomization(it, "apps"), "FLUX-06")
    }),
    ("a webhook's server crashes", |it| {
        it.crash("cert-manager", "cert-manager-webhook", "panic", HOUR);
        no_webhook(it);
        root(deployment("cert-manager", "cert-manager-webhook"), None).blocks([hooks(), kustomization(it, "config")])
    }),
    ("a webhook keeps its own server from starting", |it| {
        it.remove("cert-manager", "cert-manager-webhook");
        it.deploy("cert-manager", "cert-manager-webhook", ("app.kubernetes.io/name", "webhook"), 0);
        let text = r#"pods "x" is forbidden: failed calling webhook "webhook.cert-manager.io": no endpoints available"#;
        let failure = cond("ReplicaFailure", Truth::True, "FailedCreate", text, HOUR);
        for list in [&mut it.facts.deployments, &mut it.facts.replica_sets] {
            let own = list.objects.last_mut().expect("just made");
            own.replicas = Some(1);
            own.conditions.push(failure.clone());
        }
        no_webhook(it);
        root(hooks(), "WH-01").blocks([kustomization(it, "config")])
    }),
    ("an aggregated API is down", |it| {
        it.crash("kube-system", "metrics-server", "x509: cannot validate certificate", HOUR);
        it.facts.api_services.objects[0].conditions =
            vec![cond("Available", Truth::False, "MissingEndpoints", "endpoints have no addresses", HOUR)];
        let api = ObjectKey::new("apiregistration.k8s.io", "APIService", "", "v1beta1.metrics.k8s.io");
        root(deployment("kube-system", "metrics-server"), None).blocks([api])
    }),
    ("a health check waits for what crashes", |it| {
        let (namespace, name) = it.app();
        it.crash(&namespace, &name, "panic", HOUR);
        let text = format!(
            "health check failed after 5m: timeout waiting for: [Deployment/{namespace}/{name} status: 'InProgress']"
        );
        it.fails("apps", "HealthCheckFailed", &text);
        root(app(it), None).blocks([kustomization(it, "apps")])
    }),
];

const WORKLOADS: [Story; 7] = [
    ("a registry limits pulls", |it| {
        let (namespace, name) = it.app();
        let other = it.name("other");
        let text = "429 Too Many Requests - Server message: toomanyrequests";
        it.wait(&namespace, &name, "ImagePullBackOff", text, HOUR);
        it.wait(&namespace, &other, "ErrImagePull", text, HOUR);
        let registry = ObjectKey::new("", "Registry", "", "registry.example.org");
        root(registry, "IMG-01").blocks([app(it), deployment(&namespace, &other)])
    }),
    ("an image does not exist", |it| {
        let (namespace, name) = it.app();
        it.wait(&namespace, &name, "ImagePullBackOff", "manifest unknown", HOUR);
        root(app(it), None)
    }),
    ("a namespace can't be deleted", |it| {
        let mut namespace =
            Namespace { meta: meta("", &it.name("old")), phase: eco("Terminating"), ..Namespace::default() };
        namespace.meta.deleted = ago(HOUR);
        namespace.conditions =
            vec![cond("NamespaceFinalizersRemaining", Truth::True, "SomeFinalizersRemain", "x.io/y in 1", HOUR)];
        let key = namespace.meta.key("", "Namespace");
        it.facts.namespaces.objects.push(namespace);
        root(key, "NS-01")
    }),
    ("a LoadBalancer has no address", |it| {
        let (namespace, name) = it.app();
        let service = it.facts.services.objects.iter_mut().find(|it| it.meta.name == name).expect("a Service");
        service.kind = eco("LoadBalancer");
        service.conditions = vec![cond("cilium.io/IPAMRequestSatisfied", Truth::False, "out_of_ips", "", HOUR)];
        root(super_service(&namespace, &name), "LB-01")
    }),
    ("a Job has failed", |it| {
        let (namespace, _) = it.app();
        it.facts.jobs.objects.push(Workload {
            workload: Workloads::Job,
            meta: meta(&namespace, "migrate"),
            conditions: vec![cond("Failed", Truth::True, "BackoffLimitExceeded", "", HOUR)],
            ..Workload::default()
        });
        root(ObjectKey::new("batch", "Job", &namespace, "migrate"), None)
    }),
    ("two at once, in different layers", |it| {
        let (namespace, name) = it.app();
        it.crash(&namespace, &name, "panic", HOUR);
        source_fails(it, "authentication required");
        root(source(), "FLUX-01").and(app(it), None)
    }),
    ("a pod has crashed long before DNS did", |it| {
        let (namespace, name) = it.app();
        it.crash(&namespace, &name, "panic", DAY);
        it.crash("kube-system", "coredns", "out of memory", HOUR);
        root(deployment("kube-system", "coredns"), "DNS-02").and(app(it), None)
    }),
];

fn super_service(namespace: &str, name: &str) -> ObjectKey {
    service(namespace, name)
}

fn stories() -> Vec<Story> {
    [&NODES[..], &NETWORK, &SECRETS, &STORAGE, &GITOPS, &WORKLOADS].concat()
}

fn told(status: &Status) -> Vec<(ObjectKey, Option<&'static str>)> {
    let mut roots: Vec<_> = status.roots.iter().map(|root| (root.object.clone(), root.id)).collect();
    roots.sort();
    roots
}

fn check(name: &str, status: &Status, mut expect: Expect) -> Vec<String> {
    let mut wrong = Vec::new();
    let first = status.roots.first();
    expect.roots.sort();
    if told(status) != expect.roots {
        wrong.push(format!("{name}: roots {:#?}\n  instead of {:#?}", told(status), expect.roots));
    }
    for object in &expect.blocks {
        if !first.is_some_and(|root| root.blocks.iter().any(|it| it.object == *object)) {
            wrong.push(format!("{name}: does not block {object}: {:?}", first.map(|it| &it.blocks)));
        }
    }
    if status.outcome != Outcome::Degraded {
        wrong.push(format!("{name}: {:?}", status.outcome));
    }
    wrong
}

#[test]
fn every_fault_has_its_root_and_names_do_not_matter() {
    let mut wrong = Vec::new();
    assert!(stories().len() >= 50, "{}", stories().len());
    for seed in [1, 77, 4_242] {
        for (name, story) in stories() {
            let mut it = healthy(seed);
            let expect = story(&mut it);
            wrong.extend(check(name, &it.status(), expect));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_lower_layer_that_fails_as_well_is_no_root_of_what_has_its_own() {
    const LOWER: [&str; 14] = [
        "a node is down",
        "a node is silent, and its condition is from before",
        "nobody initializes nodes",
        "a serving certificate waits for approval",
        "the agent has not started since the boot",
        "the operator's taint stays",
        "CoreDNS crashes",
        "CoreDNS is gone",
        "the sealing key is lost",
        "a store does not answer",
        "an issuer is not ready",
        "Ceph has no monitors",
        "an aggregated API is down",
        "Git does not answer",
    ];
    let mut wrong = Vec::new();
    for (name, story) in stories().into_iter().filter(|(name, _)| LOWER.contains(name)) {
        let mut it = healthy(21);
        let mut expect = story(&mut it).and(app(&it), None);
        expect.blocks.clear();
        let (namespace, app_name) = it.app();
        it.wait(&namespace, &app_name, "ImagePullBackOff", "manifest unknown", 3 * DAY);
        wrong.extend(check(name, &it.status(), expect));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_root_shows_evidence_and_is_the_end_of_every_way() {
    for (name, story) in stories() {
        let mut it = healthy(5);
        story(&mut it);
        let status = it.status();
        for root in &status.roots {
            assert!(!root.evidence.is_empty(), "{name}: {root:?}");
            assert!(!root.remedy.command.is_empty(), "{name}");
        }
        for link in &status.links {
            assert!(!trace(&status, &link.object).is_empty(), "{name}: {}", link.object);
        }
    }
}

#[test]
fn a_symptom_is_followed_to_its_root() {
    let mut it = healthy(9);
    it.crash("kube-system", "coredns", "plugin/loop: Loop detected", HOUR);
    lookup_fails(&mut it);
    let status = it.status();
    let way: Vec<String> = trace(&status, &source()).iter().map(|hop| hop.link.object.kind.to_string()).collect();
    assert_eq!(way, ["GitRepository", "Service", "Deployment", "Pod"]);
}

#[test]
fn the_same_facts_in_another_order_give_the_same_roots() {
    for (name, story) in stories() {
        let mut it = healthy(3);
        story(&mut it);
        let before = told(&it.status());
        it.facts.pods.objects.reverse();
        it.facts.deployments.objects.reverse();
        it.facts.kustomizations.objects.reverse();
        it.facts.nodes.objects.reverse();
        assert_eq!(told(&it.status()), before, "{name}");
    }
}

#[test]
fn recorded_facts_give_the_same_status() {
    for (name, story) in stories() {
        let mut it = healthy(8);
        story(&mut it);
        let written = serde_json::to_string(&it.facts).expect("facts are written");
        let read: Facts = serde_json::from_str(&written).expect("facts are read");
        assert_eq!(assess(&read, None, now()), it.status(), "{name}");
    }
}

#[test]
fn no_answer_is_a_matter_of_access_and_not_of_the_cluster() {
    for (why, id) in [(Why::Refused, None), (Why::CertificateExpired { at: ago(DAY) }, Some("TAL-09"))] {
        let mut it = healthy(1);
        it.facts.api.answer = Answer::No(why);
        let status = it.status();
        assert_eq!(status.outcome, Outcome::Unknown);
        assert_eq!(status.roots[0].id, id);
        assert_eq!(status.roots[0].layer, LayerName::Access);
        assert!(status.layers[1..].iter().all(|layer| layer.state == LayerState::Unknown));
    }
}

#[test]
fn what_may_not_be_seen_is_unknown_and_never_a_cause() {
    let mut it = healthy(1);
    let (namespace, name) = it.app();
    let forbidden = Why::Forbidden { verb: eco("list"), group: eco(""), resource: eco("secrets"), namespace: None };
    it.facts.secrets = Listed::missing(Some(now()), forbidden);
    it.fails(
        "base",
        "BuildFailed",
        "cannot get sops decryption Secret 'flux-system/sops-age': secrets \"sops-age\" not found",
    );
    let status = it.status();
    assert_eq!(status.roots[0].object, kustomization(&it, "base"));
    let mut it = healthy(1);
    it.facts.pods = Listed::missing(Some(now()), Why::Hanging { seconds: 30 });
    it.facts.nodes = Listed::missing(Some(now()), Why::Broken);
    let status = it.status();
    assert_eq!(told(&status), [], "{namespace}/{name}");
    assert_eq!(status.outcome, Outcome::Unknown);
}
