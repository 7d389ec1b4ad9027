//! A small cluster, built of facts: five nodes, everything healthy. Tests break one thing of it, or make it look broken.

use std::time::Duration;

use coldstart_health::facts::*;
use coldstart_health::{Status, Time, assess};

pub(crate) fn eco(text: &str) -> ecow::EcoString {
    text.into()
}

pub(crate) fn now() -> Time {
    Time::parse("2026-11-19T12:00:00Z").expect("a time")
}

#[expect(clippy::unnecessary_wraps, reason = "fields of facts take it so")]
pub(crate) fn ago(seconds: u64) -> Option<Time> {
    Some(now().minus(Duration::from_secs(seconds)))
}

pub(crate) const HOUR: u64 = 3_600;
pub(crate) const DAY: u64 = 24 * HOUR;

pub(crate) fn cond(kind: &str, status: Truth, reason: &str, message: &str, since: u64) -> Condition {
    Condition {
        kind: eco(kind),
        status,
        reason: eco(reason),
        message: eco(message),
        since: ago(since),
        ..Condition::default()
    }
}

pub(crate) fn meta(namespace: &str, name: &str) -> Meta {
    Meta { name: eco(name), namespace: eco(namespace), generation: Some(1), created: ago(DAY), ..Meta::default() }
}

pub(crate) fn ready(message: &str) -> Vec<Condition> {
    vec![cond("Ready", Truth::True, "ReconciliationSucceeded", message, DAY)]
}

/// Names that mean nothing, another one for every seed.
pub(crate) struct Names(u64);

impl Names {
    fn of(&self, role: &str) -> String {
        let hash = role
            .bytes()
            .fold(self.0 ^ 0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let word = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove"][(hash >> 8) as usize % 7];
        format!("{word}-{:x}", hash >> 32)
    }
}

pub(crate) struct Cluster {
    pub(crate) facts: Facts,
    pub(crate) names: Names,
}

impl Cluster {
    pub(crate) fn name(&self, role: &str) -> String {
        self.names.of(role)
    }

    pub(crate) fn node(&mut self, index: usize) -> &mut Node {
        &mut self.facts.nodes.objects[index]
    }

    pub(crate) fn node_name(&self, index: usize) -> String {
        self.facts.nodes.objects[index].meta.name.to_string()
    }

    pub(crate) fn status(&self) -> Status {
        assess(&self.facts, None, now())
    }

    /// A Deployment with its ReplicaSet and pods, spread over the nodes.
    pub(crate) fn deploy(&mut self, namespace: &str, name: &str, label: (&str, &str), replicas: usize) {
        let set = format!("{name}-5d9c");
        let mut workload = Workload {
            workload: Workloads::Deployment,
            meta: meta(namespace, name),
            replicas: i64::try_from(replicas).ok(),
            observed_generation: Some(1),
            images: vec![eco("registry.example.org/it:1")],
            conditions: vec![
                cond("Available", Truth::True, "MinimumReplicasAvailable", "", DAY),
                cond("Progressing", Truth::True, "NewReplicaSetAvailable", "", DAY),
            ],
            ..Workload::default()
        };
        workload.meta.labels = Labels::default().with(label.0, label.1);
        workload.pod_labels = workload.meta.labels.clone();
        let mut owned = Workload { workload: Workloads::ReplicaSet, meta: meta(namespace, &set), ..workload.clone() };
        owned.meta.owner = Some(Owner { group: eco("apps"), kind: eco("Deployment"), name: eco(name) });
        for (workload, list) in [(workload, 0), (owned, 1)] {
            let list = if list == 0 { &mut self.facts.deployments } else { &mut self.facts.replica_sets };
            list.objects.push(workload);
        }
        for index in 0..replicas {
            let node = self.node_name((index + name.len()) % self.facts.nodes.len());
            let made_by = ("ReplicaSet", &*set);
            self.pod(namespace, &format!("{set}-{index}"), made_by, &node, label);
        }
        self.count(namespace, name);
    }

    pub(crate) fn daemon(&mut self, namespace: &str, name: &str, label: (&str, &str), images: &[&str]) {
        let mut workload = Workload {
            workload: Workloads::DaemonSet,
            meta: meta(namespace, name),
            observed_generation: Some(1),
            images: images.iter().map(|image| eco(image)).collect(),
            ..Workload::default()
        };
        workload.meta.labels = Labels::default().with(label.0, label.1);
        self.facts.daemon_sets.objects.push(workload);
        for index in 0..self.facts.nodes.len() {
            let node = self.node_name(index);
            self.pod(namespace, &format!("{name}-{index}"), ("DaemonSet", name), &node, label);
        }
        self.count(namespace, name);
    }

    fn pod(&mut self, namespace: &str, name: &str, owner: (&str, &str), node: &str, label: (&str, &str)) {
        let mut pod = Pod {
            meta: meta(namespace, name),
            node: eco(node),
            host_network: owner.0 == "DaemonSet",
            phase: Phase::Running,
            started: ago(DAY),
            conditions: vec![cond("Ready", Truth::True, "", "", DAY)],
            containers: vec![Container {
                name: eco("main"),
                image: eco("registry.example.org/it:1"),
                ready: true,
                state: State::Running { since: ago(DAY) },
                ..Container::default()
            }],
            ..Pod::default()
        };
        pod.meta.labels = Labels::default().with(label.0, label.1);
        pod.meta.owner = Some(Owner { group: eco("apps"), kind: eco(owner.0), name: eco(owner.1) });
        self.facts.pods.objects.push(pod);
    }

    /// A Service whose endpoints are the pods with a label.
    pub(crate) fn serve(&mut self, namespace: &str, name: &str, label: (&str, &str)) {
        let service = Service {
            meta: meta(namespace, name),
            kind: eco("ClusterIP"),
            cluster_ip: eco("10.96.0.10"),
            selector: Labels::default().with(label.0, label.1),
            ..Service::default()
        };
        self.facts.services.objects.push(service);
        let slice = Endpoints { meta: meta(namespace, name), service: eco(name), endpoints: Vec::new() };
        self.facts.endpoints.objects.push(slice);
    }

    /// All pods of a workload.
    pub(crate) fn pods<'a>(&'a mut self, namespace: &'a str, workload: &'a str) -> impl Iterator<Item = &'a mut Pod> {
        let sets = [format!("{workload}-5d9c"), workload.to_owned()];
        self.facts.pods.objects.iter_mut().filter(move |pod| {
            pod.meta.namespace == namespace
                && pod.meta.owner.as_ref().is_some_and(|it| sets.iter().any(|set| *set == it.name))
        })
    }

    /// Lets one container of every pod of a workload crash.
    pub(crate) fn crash(&mut self, namespace: &str, workload: &str, message: &str, since: u64) {
        for pod in self.pods(namespace, workload) {
            crash(pod, message, since);
        }
        self.count(namespace, workload);
    }

    pub(crate) fn wait(&mut self, namespace: &str, workload: &str, reason: &str, message: &str, since: u64) {
        for pod in self.pods(namespace, workload) {
            wait(pod, reason, message, since);
        }
        self.count(namespace, workload);
    }

    /// Writes numbers as the controllers would.
    pub(crate) fn count(&mut self, namespace: &str, workload: &str) {
        let ready = self.pods(namespace, workload).filter(|pod| pod.is_ready()).count();
        let all = self.pods(namespace, workload).count();
        let (ready, all) = (i64::try_from(ready).ok(), i64::try_from(all).ok());
        let set = format!("{workload}-5d9c");
        let lists = [&mut self.facts.deployments, &mut self.facts.replica_sets, &mut self.facts.daemon_sets];
        for it in lists.into_iter().flat_map(|list| &mut list.objects) {
            if it.meta.namespace != namespace || (it.meta.name != workload && it.meta.name != set) {
                continue;
            }
            let have = &mut it.have;
            if it.workload == Workloads::DaemonSet {
                have.desired_number_scheduled = have.desired_number_scheduled.or(all);
                have.current_number_scheduled = all;
                have.updated_number_scheduled = all;
                have.number_ready = ready;
                have.number_available = ready;
            } else {
                have.replicas = all;
                have.updated_replicas = all;
                have.fully_labeled_replicas = all;
                have.ready_replicas = ready;
                have.available_replicas = ready;
                if ready < it.replicas && it.workload == Workloads::Deployment {
                    it.conditions[0] = cond("Available", Truth::False, "MinimumReplicasUnavailable", "", HOUR);
                }
            }
        }
        self.endpoints();
    }

    /// Writes EndpointSlices as the controller would.
    pub(crate) fn endpoints(&mut self) {
        let pods = &self.facts.pods.objects;
        for slice in &mut self.facts.endpoints.objects {
            let service =
                self.facts.services.objects.iter().find(|it| it.meta.is_at(&slice.meta.namespace, &slice.service));
            let Some(service) = service else { continue };
            let behind = pods.iter().filter(|pod| {
                pod.meta.namespace == service.meta.namespace && pod.meta.labels.match_all(&service.selector)
            });
            slice.endpoints = behind
                .map(|pod| Endpoint { ready: pod.is_ready(), pod: pod.meta.name.clone(), ..Endpoint::default() })
                .collect();
        }
    }

    pub(crate) fn remove(&mut self, namespace: &str, workload: &str) {
        let sets = [format!("{workload}-5d9c"), workload.to_owned()];
        let is = |meta: &Meta| meta.namespace == namespace && sets.iter().any(|set| *set == meta.name);
        self.facts.pods.objects.retain(|pod| {
            pod.meta.namespace != namespace
                || !pod.meta.owner.as_ref().is_some_and(|it| sets.iter().any(|set| *set == it.name))
        });
        self.facts.deployments.objects.retain(|it| !is(&it.meta));
        self.facts.replica_sets.objects.retain(|it| !is(&it.meta));
        self.endpoints();
    }

    pub(crate) fn kustomization(&mut self, role: &str) -> &mut Kustomization {
        let name = self.name(role);
        self.facts.kustomizations.objects.iter_mut().find(|it| it.meta.name == name).expect("a Kustomization")
    }

    pub(crate) fn fails(&mut self, role: &str, reason: &str, message: &str) {
        self.kustomization(role).conditions = vec![cond("Ready", Truth::False, reason, message, HOUR)];
    }

    /// It waits for another one, and says so.
    pub(crate) fn waits(&mut self, role: &str, on: &str) {
        let on = self.name(on);
        self.fails(role, "DependencyNotReady", &format!("dependency 'flux-system/{on}' is not ready"));
    }

    pub(crate) fn lease(&mut self, namespace: &str, name: &str) -> &mut Lease {
        self.facts.leases.objects.iter_mut().find(|it| it.meta.is_at(namespace, name)).expect("a lease")
    }

    pub(crate) fn app(&self) -> (String, String) {
        (self.name("namespace"), self.name("app"))
    }
}

pub(crate) fn crash(pod: &mut Pod, message: &str, since: u64) {
    pod.conditions = vec![cond("Ready", Truth::False, "ContainersNotReady", "", since)];
    let it = &mut pod.containers[0];
    it.ready = false;
    it.restarts = 7;
    it.state =
        State::Waiting { reason: eco("CrashLoopBackOff"), message: eco("back-off 5m0s restarting failed container") };
    it.last = Some(State::Terminated { exit_code: 1, reason: eco("Error"), message: eco(message), finished: ago(60) });
}

pub(crate) fn wait(pod: &mut Pod, reason: &str, message: &str, since: u64) {
    pod.phase = Phase::Pending;
    pod.started = ago(since);
    pod.meta.created = ago(since);
    pod.conditions = vec![cond("Ready", Truth::False, "ContainersNotReady", "", since)];
    pod.containers[0].ready = false;
    pod.containers[0].state = State::Waiting { reason: eco(reason), message: eco(message) };
}

pub(crate) fn unschedulable(pod: &mut Pod, message: &str) {
    pod.phase = Phase::Pending;
    pod.node = eco("");
    pod.meta.created = ago(HOUR);
    pod.containers.clear();
    pod.conditions = vec![cond("PodScheduled", Truth::False, "Unschedulable", message, HOUR)];
}

/// Everything as it should be.
pub(crate) fn healthy(seed: u64) -> Cluster {
    let mut facts = Facts::new(Api {
        server: eco("https://10.0.0.1:6443"),
        answer: Answer::Version(eco("v1.35.0")),
        ..Api::default()
    });
    facts.seen = Some(now());
    see_everything(&mut facts);
    let mut cluster = Cluster { facts, names: Names(seed) };
    machines(&mut cluster);
    system(&mut cluster);
    security(&mut cluster);
    gitops(&mut cluster);
    application(&mut cluster);
    cluster.endpoints();
    cluster
}

fn see_everything(facts: &mut Facts) {
    macro_rules! see {
        ($($list:ident),* $(,)?) => { $(facts.$list = Listed::whole(now(), Vec::new());)* };
    }
    see!(
        nodes,
        namespaces,
        pods,
        deployments,
        daemon_sets,
        stateful_sets,
        replica_sets,
        jobs,
        services,
        endpoints,
        leases,
        crds,
        api_services,
        csrs,
        validating_webhooks,
        mutating_webhooks,
        claims,
        volumes,
        storage_classes,
        csi_nodes,
        csi_drivers,
        attachments,
        secrets,
        config_maps,
        events,
        certificates,
        issuers,
        cluster_issuers,
        git_repositories,
        oci_repositories,
        helm_repositories,
        helm_charts,
        buckets,
        kustomizations,
        helm_releases,
        flux_instances,
        resource_sets,
        external_secrets,
        secret_stores,
        cluster_secret_stores,
        sealed_secrets,
    );
}

fn lease(namespace: &str, name: &str) -> Lease {
    Lease { meta: meta(namespace, name), holder: eco(name), renewed: ago(5), duration_seconds: Some(15) }
}

fn machines(cluster: &mut Cluster) {
    for index in 0..5 {
        let name = cluster.name(&format!("node {index}"));
        let mut node = Node {
            meta: meta("", &name),
            boot_id: eco(&format!("boot-{index}")),
            provider_id: eco("proxmox://it"),
            conditions: vec![cond("Ready", Truth::True, "KubeletReady", "kubelet is posting ready status", DAY)],
            ..Node::default()
        };
        if index < 3 {
            node.meta.labels = Labels::default().with("node-role.kubernetes.io/control-plane", "");
        }
        cluster.facts.nodes.objects.push(node);
        cluster.facts.leases.objects.push(lease("kube-node-lease", &name));
        let driver = NodeDriver { name: eco("block.csi.example.org"), topology_keys: Vec::new() };
        cluster.facts.csi_nodes.objects.push(CsiNode { meta: meta("", &name), drivers: vec![driver] });
    }
    for name in ["kube-controller-manager", "kube-scheduler"] {
        cluster.facts.leases.objects.push(lease("kube-system", name));
    }
}

fn system(cluster: &mut Cluster) {
    cluster.daemon("kube-system", "cilium", ("k8s-app", "cilium"), &["quay.io/cilium/cilium:v1.19.1"]);
    cluster.deploy("kube-system", "cilium-operator", ("io.cilium/app", "operator"), 2);
    let nodes = cluster.facts.nodes.objects.clone();
    let wrote = |node: &Node| Custom {
        kind: Kind::new("cilium.io", "v2", "CiliumNode"),
        meta: meta("", &node.meta.name),
        boot_id: node.boot_id.clone(),
        ..Custom::default()
    };
    let wrote = nodes.iter().map(wrote).collect();
    cluster.facts.others.insert(eco("CiliumNode.cilium.io"), Listed::whole(now(), wrote));
    cluster.deploy("kube-system", "coredns", ("k8s-app", "kube-dns"), 2);
    cluster.serve("kube-system", "kube-dns", ("k8s-app", "kube-dns"));
    cluster.deploy("kube-system", "metrics-server", ("k8s-app", "metrics-server"), 1);
    cluster.serve("kube-system", "metrics-server", ("k8s-app", "metrics-server"));
    cluster.facts.api_services.objects.push(ApiService {
        meta: meta("", "v1beta1.metrics.k8s.io"),
        service: Some(ServiceRef { namespace: eco("kube-system"), name: eco("metrics-server") }),
        conditions: vec![cond("Available", Truth::True, "Passed", "", DAY)],
        ..ApiService::default()
    });
    let images = ["registry.k8s.io/sig-storage/csi-node-driver-registrar:v2", "registry.example.org/block-driver:1"];
    cluster.daemon("csi-block", "block-node", ("app", "block-node"), &images);
    cluster.deploy("csi-block", "block-controller", ("app", "block-controller"), 1);
    let own = cluster.facts.deployments.objects.last_mut().expect("just made");
    own.images.push(eco("registry.k8s.io/sig-storage/csi-provisioner:v5.3.0"));
    cluster.facts.csi_drivers.objects.push(CsiDriver { meta: meta("", "block.csi.example.org") });
    cluster.facts.storage_classes.objects.push(StorageClass {
        meta: meta("", "block"),
        provisioner: eco("block.csi.example.org"),
        default: true,
        waits_for_consumer: true,
    });
}

fn security(cluster: &mut Cluster) {
    cluster.deploy("sealed", "sealed-secrets-controller", ("app.kubernetes.io/name", "sealed-secrets"), 1);
    let mut key =
        Secret { meta: meta("sealed", "sealed-secrets-key-abcde"), kind: eco("kubernetes.io/tls"), keys: None };
    key.meta.labels = Labels::default().with("sealedsecrets.bitnami.com/sealed-secrets-key", "active");
    cluster.facts.secrets.objects.push(key);
    cluster.deploy("external-secrets", "external-secrets", ("app.kubernetes.io/name", "external-secrets"), 1);
    cluster.facts.cluster_secret_stores.objects.push(SecretStore {
        meta: meta("", "store"),
        cluster: true,
        provider: eco("vault"),
        conditions: vec![cond("Ready", Truth::True, "Valid", "store validated", DAY)],
    });
    cluster.deploy("vault", "vault", ("app.kubernetes.io/name", "vault"), 1);
    cluster.deploy("cert-manager", "cert-manager", ("app.kubernetes.io/name", "cert-manager"), 1);
    cluster.deploy("cert-manager", "cert-manager-webhook", ("app.kubernetes.io/name", "webhook"), 1);
    cluster.serve("cert-manager", "cert-manager-webhook", ("app.kubernetes.io/name", "webhook"));
    let hook = Hook {
        name: eco("webhook.cert-manager.io"),
        failure: Failure::Fail,
        service: Some(ServiceRef { namespace: eco("cert-manager"), name: eco("cert-manager-webhook") }),
        ca_bytes: 900,
        rules: vec![Rule {
            operations: vec![eco("CREATE")],
            groups: vec![eco("cert-manager.io")],
            resources: vec![eco("*")],
        }],
        ..Hook::default()
    };
    cluster.facts.validating_webhooks.objects.push(Webhooks {
        meta: meta("", "cert-manager-webhook"),
        mutating: false,
        hooks: vec![hook],
    });
    cluster.facts.cluster_issuers.objects.push(Issuer {
        meta: meta("", "letsencrypt"),
        cluster: true,
        conditions: vec![cond("Ready", Truth::True, "ACMEAccountRegistered", "", DAY)],
    });
}

fn gitops(cluster: &mut Cluster) {
    for name in ["source-controller", "kustomize-controller", "helm-controller"] {
        cluster.deploy("flux-system", name, ("app.kubernetes.io/part-of", "flux"), 1);
    }
    let revision = Revision(eco("main@sha1:0123456789abcdef"));
    let source = Source {
        kind: eco("GitRepository"),
        meta: meta("flux-system", "flux-system"),
        url: eco("ssh://git@git.example.org/it.git"),
        observed_generation: Some(1),
        revision: revision.clone(),
        fetched: ago(DAY),
        conditions: ready("stored artifact"),
        ..Source::default()
    };
    let source_key = source.key();
    cluster.facts.git_repositories.objects.push(source);
    cluster.facts.secrets.objects.push(Secret { meta: meta("flux-system", "sops-age"), ..Secret::default() });
    let chain = [("base", None), ("config", Some("base")), ("apps", Some("config"))];
    for (role, on) in chain {
        let on = on
            .map(|on| ObjectKey::new("kustomize.toolkit.fluxcd.io", "Kustomization", "flux-system", &cluster.name(on)));
        let kustomization = Kustomization {
            meta: meta("flux-system", &cluster.name(role)),
            source: source_key.clone(),
            depends_on: on.into_iter().map(|on| Waits { on, by_expression: false }).collect(),
            wait: true,
            decryption_secret: eco("sops-age"),
            observed_generation: Some(1),
            last_applied: revision.clone(),
            last_attempted: revision.clone(),
            conditions: ready("Applied revision"),
            ..Kustomization::default()
        };
        cluster.facts.kustomizations.objects.push(kustomization);
    }
}

fn application(cluster: &mut Cluster) {
    let (namespace, app) = cluster.app();
    cluster.deploy(&namespace, &app, ("app", &app.clone()), 2);
    cluster.deploy(&namespace, &cluster.name("other"), ("app", "other"), 2);
    cluster.serve(&namespace, &app, ("app", &app.clone()));
    let secret = cluster.name("secret");
    cluster.facts.secrets.objects.push(Secret { meta: meta(&namespace, &secret), ..Secret::default() });
    cluster.facts.claims.objects.push(Claim {
        meta: meta(&namespace, &cluster.name("claim")),
        class: Some(eco("block")),
        phase: eco("Bound"),
        ..Claim::default()
    });
    let (claim, needed) = (cluster.name("claim"), secret.clone());
    for pod in cluster.pods(&namespace, &app) {
        pod.needs.secrets = vec![eco(&needed)];
        pod.needs.claims = vec![eco(&claim)];
    }
    cluster.facts.external_secrets.objects.push(ExternalSecret {
        meta: meta(&namespace, &cluster.name("external")),
        store: Some(ObjectKey::new("external-secrets.io", "ClusterSecretStore", "", "store")),
        target: eco(&secret),
        conditions: vec![cond("Ready", Truth::True, "SecretSynced", "", DAY)],
        ..ExternalSecret::default()
    });
    for role in ["sealed one", "sealed two"] {
        let name = cluster.name(role);
        cluster.facts.sealed_secrets.objects.push(SealedSecret {
            meta: meta(&namespace, &name),
            observed_generation: Some(1),
            conditions: vec![cond("Synced", Truth::True, "", "", DAY)],
        });
        cluster.facts.secrets.objects.push(Secret { meta: meta(&namespace, &name), ..Secret::default() });
    }
    cluster.facts.certificates.objects.push(Certificate {
        meta: meta(&namespace, &cluster.name("certificate")),
        secret: eco("tls"),
        issuer: ObjectKey::new("cert-manager.io", "ClusterIssuer", "", "letsencrypt"),
        not_after: Some(now().plus(Duration::from_secs(60 * DAY))),
        conditions: ready("Certificate is up to date"),
        ..Certificate::default()
    });
    let mut release = HelmRelease {
        meta: meta(&namespace, &cluster.name("release")),
        release: eco(&app),
        namespace: eco(&namespace),
        chart: eco("app-template"),
        observed_generation: Some(1),
        newest: Some(Helm { status: eco("deployed"), ..Helm::default() }),
        conditions: ready("Helm install succeeded"),
        ..HelmRelease::default()
    };
    release.inventory = vec![ObjectKey::new("apps", "Deployment", &namespace, &app)];
    let key = release.key();
    cluster.facts.helm_releases.objects.push(release);
    cluster.kustomization("apps").inventory = vec![key];
}
