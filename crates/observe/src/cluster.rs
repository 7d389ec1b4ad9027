//! A cluster as the facts that health is read from. This is the one place that knows which kinds those are.

use std::time::Duration;

use health::facts::{
    Answer, Api, ApiService, Certificate, Check, Claim, ConfigMap, Crd, CsiDriver, CsiNode, Csr, Custom, Endpoints,
    Event, ExternalSecret, Fact, HelmRelease, Instance, Issuer, Kind, Kustomization, Lease, Listed, Namespace, Node,
    PersistentVolume, Pod, ResourceSet, SealedSecret, Secret, SecretStore, Service, Source, StorageClass,
    VolumeAttachment, Webhooks, Workload,
};
use health::{Facts, Time};

use crate::Moment;
use crate::access::{AccessError, Target};
use crate::item::Item;
use crate::limits::Limits;
use crate::resource::{Resource, Wanted};
use crate::session::{Handle, Session};
use crate::store::Standing;
use crate::why::why;

impl<T: Fact + Send + 'static> Item for T {
    fn read(resource: &Resource, json: &str) -> Result<Self, serde_json::Error> {
        T::parse(json.as_bytes(), &Kind::new(&resource.group, &resource.version, &resource.kind))
    }

    fn namespace(&self) -> &str {
        &self.meta().namespace
    }

    fn name(&self) -> &str {
        &self.meta().name
    }
}

/// Fields of [`Facts`], with the type and the kind of their objects.
macro_rules! kinds {
    ($($field:ident: $item:ty = $wanted:expr;)*) => {
        /// Where the objects of each kind are kept.
        #[derive(Debug)]
        struct Stores {
            $($field: Handle<$item>,)*
            others: Vec<(Kind, Handle<Custom>)>,
        }

        impl Stores {
            fn of(session: &mut Session) -> Self {
                Self {
                    $($field: session.want($wanted),)*
                    others: OTHERS.map(|(kind, wanted)| {
                        (Kind::new(wanted.group, "", kind), session.want(wanted))
                    }).into(),
                }
            }

            fn fill(&self, facts: &mut Facts, told: &Told) {
                $(facts.$field = told.listed(&self.$field);)*
                for (kind, handle) in &self.others {
                    facts.others.insert(kind.qualified(), told.listed(handle));
                }
            }
        }

        /// Every kind that is looked at.
        pub fn wanted() -> Vec<Wanted> {
            let mut all = vec![$($wanted),*];
            all.extend(OTHERS.map(|(_, wanted)| wanted));
            all
        }
    };
}

const fn core(plural: &'static str) -> Wanted {
    Wanted::new("", plural, &["v1"])
}

const fn source(plural: &'static str) -> Wanted {
    Wanted::new("source.toolkit.fluxcd.io", plural, &["v1", "v1beta2", "v1beta1"])
}

/// A kind of an add-on, in the version that the API server prefers.
const fn custom(group: &'static str, plural: &'static str) -> Wanted {
    Wanted::new(group, plural, &[])
}

kinds! {
    nodes: Node = core("nodes");
    namespaces: Namespace = core("namespaces");
    pods: Pod = core("pods");
    services: Service = core("services");
    claims: Claim = core("persistentvolumeclaims");
    volumes: PersistentVolume = core("persistentvolumes");
    secrets: Secret = core("secrets").metadata();
    config_maps: ConfigMap = core("configmaps").metadata();
    events: Event = core("events").only("type!=Normal");
    deployments: Workload = Wanted::new("apps", "deployments", &["v1"]);
    daemon_sets: Workload = Wanted::new("apps", "daemonsets", &["v1"]);
    stateful_sets: Workload = Wanted::new("apps", "statefulsets", &["v1"]);
    replica_sets: Workload = Wanted::new("apps", "replicasets", &["v1"]);
    jobs: Workload = Wanted::new("batch", "jobs", &["v1"]);
    endpoints: Endpoints = Wanted::new("discovery.k8s.io", "endpointslices", &["v1"]);
    // Renewed every few seconds by every node: they change all the time, and nothing about that is news.
    leases: Lease = Wanted::new("coordination.k8s.io", "leases", &["v1"]).quiet();
    crds: Crd = Wanted::new("apiextensions.k8s.io", "customresourcedefinitions", &["v1"]);
    api_services: ApiService = Wanted::new("apiregistration.k8s.io", "apiservices", &["v1"]);
    csrs: Csr = Wanted::new("certificates.k8s.io", "certificatesigningrequests", &["v1"]);
    validating_webhooks: Webhooks = Wanted::new("admissionregistration.k8s.io", "validatingwebhookconfigurations", &["v1"]);
    mutating_webhooks: Webhooks = Wanted::new("admissionregistration.k8s.io", "mutatingwebhookconfigurations", &["v1"]);
    storage_classes: StorageClass = Wanted::new("storage.k8s.io", "storageclasses", &["v1"]);
    csi_nodes: CsiNode = Wanted::new("storage.k8s.io", "csinodes", &["v1"]);
    csi_drivers: CsiDriver = Wanted::new("storage.k8s.io", "csidrivers", &["v1"]);
    attachments: VolumeAttachment = Wanted::new("storage.k8s.io", "volumeattachments", &["v1"]);
    certificates: Certificate = Wanted::new("cert-manager.io", "certificates", &["v1"]);
    issuers: Issuer = Wanted::new("cert-manager.io", "issuers", &["v1"]);
    cluster_issuers: Issuer = Wanted::new("cert-manager.io", "clusterissuers", &["v1"]);
    git_repositories: Source = source("gitrepositories");
    oci_repositories: Source = source("ocirepositories");
    helm_repositories: Source = source("helmrepositories");
    helm_charts: Source = source("helmcharts");
    buckets: Source = source("buckets");
    kustomizations: Kustomization = Wanted::new("kustomize.toolkit.fluxcd.io", "kustomizations", &["v1", "v1beta2"]);
    helm_releases: HelmRelease = Wanted::new("helm.toolkit.fluxcd.io", "helmreleases", &["v2", "v2beta2", "v2beta1"]);
    flux_instances: Instance = custom("fluxcd.controlplane.io", "fluxinstances");
    resource_sets: ResourceSet = custom("fluxcd.controlplane.io", "resourcesets");
    external_secrets: ExternalSecret = Wanted::new("external-secrets.io", "externalsecrets", &["v1", "v1beta1"]);
    secret_stores: SecretStore = Wanted::new("external-secrets.io", "secretstores", &["v1", "v1beta1"]);
    cluster_secret_stores: SecretStore = Wanted::new("external-secrets.io", "clustersecretstores", &["v1", "v1beta1"]);
    sealed_secrets: SealedSecret = custom("bitnami.com", "sealedsecrets");
}

/// Kinds of which the conditions say enough.
const OTHERS: [(&str, Wanted); 8] = [
    ("GatewayClass", custom("gateway.networking.k8s.io", "gatewayclasses")),
    ("Gateway", custom("gateway.networking.k8s.io", "gateways")),
    ("HTTPRoute", custom("gateway.networking.k8s.io", "httproutes")),
    ("CiliumNode", custom("cilium.io", "ciliumnodes")),
    ("CiliumLoadBalancerIPPool", custom("cilium.io", "ciliumloadbalancerippools")),
    ("CephCluster", custom("ceph.rook.io", "cephclusters")),
    ("Cluster", custom("postgresql.cnpg.io", "clusters")),
    ("FluxReport", custom("fluxcd.controlplane.io", "fluxreports")),
];

/// A live cluster.
#[derive(Debug)]
pub struct Cluster {
    pub session: Session,
    stores: Stores,
    /// Only what is in one namespace is asked for.
    narrowed: bool,
}

impl Cluster {
    /// Finds the way to a cluster. Nothing is asked of it yet.
    pub fn open(target: &Target, namespace: Option<String>, limits: Limits) -> Result<Self, AccessError> {
        let narrowed = namespace.is_some();
        let mut session = Session::open(target, namespace, limits)?;
        let stores = Stores::of(&mut session);
        Ok(Self { session, stores, narrowed })
    }

    /// Asks for everything once.
    pub fn look(&mut self) {
        self.session.look();
    }

    /// Waits for a change. Whether there was one.
    pub fn follow(&mut self, patience: Duration) -> bool {
        self.session.follow(patience)
    }

    /// The time of day by the API server's clock, which is the one that objects are dated by.
    pub fn now(&self) -> Time {
        self.told().time(Moment::now())
    }

    /// Everything that is known now.
    pub fn facts(&self) -> Facts {
        let told = self.told();
        let mut facts = Facts::new(self.api(&told));
        self.stores.fill(&mut facts, &told);
        facts.seen = self.session.contact().asked.map(|at| told.time(at));
        facts
    }

    fn told(&self) -> Told {
        let contact = self.session.contact();
        Told {
            skew: self.session.skew_milliseconds().unwrap_or(0),
            narrowed: self.narrowed,
            unasked: contact.fault.or(contact.discovery).map(|fault| why(&fault)),
        }
    }

    fn api(&self, told: &Told) -> Api {
        let contact = self.session.contact();
        let answer = match &contact.fault {
            Some(fault) => Answer::No(why(fault)),
            None if contact.asked.is_none() => Answer::NotAsked,
            None => Answer::Version(contact.version.clone().unwrap_or_default().into()),
        };
        let failing = contact.failing.iter().flatten();
        let checks = failing.map(|name| Check { name: name.into(), ok: false });
        let ready = contact.failing.as_ref().filter(|failing| failing.is_empty());
        let checks = checks.chain(ready.map(|_| Check { name: "readyz".into(), ok: true }));
        Api {
            server: self.session.url.trim_end_matches('/').into(),
            context: self.session.context.clone().unwrap_or_default().into(),
            answer,
            seen: contact.answered.map(|at| told.time(at)),
            checks: checks.collect(),
            endpoints: Vec::new(),
        }
    }
}

/// How what is stored is told.
struct Told {
    /// How far the API server's clock is ahead, in milliseconds.
    skew: i64,
    narrowed: bool,
    /// Why nothing was asked for.
    unasked: Option<health::facts::Why>,
}

impl Told {
    fn time(&self, at: Moment) -> Time {
        Time::from_millis(at.shifted(self.skew).unix_milliseconds())
    }

    fn listed<T: Fact + Clone + Send + 'static>(&self, handle: &Handle<T>) -> Listed<T> {
        use health::facts::Why;
        let store = handle.store();
        let seen = store.confirmed.map(|at| self.time(at));
        let of_namespace = self.narrowed && store.resource.as_ref().is_some_and(|resource| resource.namespaced);
        let gap = match &store.standing {
            Standing::NotAsked => Some(self.unasked.clone().unwrap_or_default()),
            Standing::NotServed { other_versions } if other_versions.is_empty() => Some(Why::NotServed),
            // It is there, in a form that we do not know.
            Standing::NotServed { other_versions } => {
                Some(Why::Unreadable { message: other_versions.join(", ").into() })
            }
            Standing::Stale { group, version } => Some(Why::Stale { api_service: format!("{version}.{group}").into() }),
            Standing::Lost(fault) => Some(why(fault)),
            // The others were not asked for.
            Standing::Whole if of_namespace => Some(Why::NotAsked),
            Standing::Whole if store.unread > 0 => Some(Why::Unreadable { message: store.unread.to_string().into() }),
            Standing::Whole => None,
        };
        Listed { seen, gap, objects: store.objects.values().map(|seen| seen.item.clone()).collect() }
    }
}
