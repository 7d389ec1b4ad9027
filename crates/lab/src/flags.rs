//! The command line of every process.
//!
//! Tuned for many labs on few cores: everything on loopback, no server that nobody asks, no leader election, no
//! profiling, only the controllers that something in a lab needs, and rate limits high enough to be no limit.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::pki::Pki;
use crate::{Options, Process};

/// What keeps workloads, namespaces, accounts, endpoints and volumes moving. Left out: certificates, cloud, IP
/// address management, autoscaling, quotas, resource claims, migrations.
const CONTROLLERS: &[&str] = &[
    "clusterrole-aggregation-controller",
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "endpointslice-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "node-lifecycle-controller",
    "persistentvolume-binder-controller",
    "persistentvolumeclaim-protection-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "statefulset-controller",
    "taint-eviction-controller",
    "ttl-after-finished-controller",
];

/// The ports that servers of this lab bind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ports {
    pub(crate) etcd: u16,
    pub(crate) etcd_peer: u16,
    pub(crate) api: u16,
    pub(crate) artifacts: u16,
    pub(crate) sealed_secrets: u16,
    pub(crate) sealed_secrets_metrics: u16,
}

impl Ports {
    pub(crate) fn free() -> std::io::Result<Self> {
        let [etcd, etcd_peer, api, artifacts, sealed_secrets, sealed_secrets_metrics] = crate::ports::free()?;
        Ok(Self { etcd, etcd_peer, api, artifacts, sealed_secrets, sealed_secrets_metrics })
    }
}

/// The files and ports that command lines speak of.
#[derive(Debug)]
pub(crate) struct LabPlace {
    pub(crate) directory: PathBuf,
    pub(crate) ports: Ports,
    pub(crate) pki: Pki,
}

impl LabPlace {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.path("kubeconfig")
    }

    pub(crate) fn stages(&self) -> PathBuf {
        self.path("stages.yaml")
    }
}

pub(crate) fn environment(process: Process, place: &LabPlace) -> Vec<(&'static str, OsString)> {
    // Half the collections for twice the heap: memory is what there is more of.
    let mut environment: Vec<(&'static str, OsString)> = vec![("GOGC", "200".into())];
    match process {
        Process::SourceController | Process::KustomizeController | Process::HelmController => {
            environment.push(("RUNTIME_NAMESPACE", "flux-system".into()));
            environment.push(("KUBECONFIG", place.kubeconfig().into()));
            // Controllers unpack into TMPDIR; it must go with the lab.
            environment.push(("TMPDIR", place.path("tmp").into()));
            environment.push(("HOME", place.path("tmp").into()));
        }
        Process::SealedSecrets => {
            environment.push(("KUBERNETES_SERVICE_HOST", "127.0.0.1".into()));
            environment.push(("KUBERNETES_SERVICE_PORT", place.ports.api.to_string().into()));
            environment.push(("POD_NAMESPACE", "kube-system".into()));
        }
        _ => {}
    }
    environment
}

pub(crate) fn arguments(process: Process, place: &LabPlace, options: &Options) -> Vec<OsString> {
    let mut arguments = match process {
        Process::Etcd => etcd(place),
        Process::ApiServer => api_server(place),
        Process::ControllerManager => controller_manager(place),
        Process::Scheduler => scheduler(place),
        Process::Kwok => kwok(place),
        Process::SourceController => source_controller(place, options),
        Process::KustomizeController | Process::HelmController => flux(options),
        Process::SealedSecrets => sealed_secrets(place),
    };
    arguments.extend(options.flags.get(&process).into_iter().flatten().map(OsString::from));
    arguments
}

fn flag(name: &str, path: &Path) -> OsString {
    let mut flag = OsString::from(format!("--{name}="));
    flag.push(path);
    flag
}

fn flags(flags: &[&str]) -> impl Iterator<Item = OsString> {
    flags.iter().map(|flag| OsString::from(format!("--{flag}")))
}

fn etcd(place: &LabPlace) -> Vec<OsString> {
    let client = format!("http://127.0.0.1:{}", place.ports.etcd);
    let peer = format!("http://127.0.0.1:{}", place.ports.etcd_peer);
    let mut all = vec![flag("data-dir", &place.path("etcd"))];
    all.extend(flags(&[
        "unsafe-no-fsync",
        "name=lab",
        &format!("listen-client-urls={client}"),
        &format!("advertise-client-urls={client}"),
        &format!("listen-peer-urls={peer}"),
        &format!("initial-advertise-peer-urls={peer}"),
        &format!("initial-cluster=lab={peer}"),
        // Alone in its cluster: nobody to lose an election to, so it need not wait long for one.
        "heartbeat-interval=20",
        "election-timeout=200",
        "log-level=warn",
    ]));
    all
}

fn api_server(place: &LabPlace) -> Vec<OsString> {
    let pki = &place.pki;
    let mut all = vec![
        flag("cert-dir", &place.path("tmp")),
        flag("tls-cert-file", &pki.server_certificate),
        flag("tls-private-key-file", &pki.server_key),
        flag("service-account-key-file", &pki.service_account_public),
        flag("service-account-signing-key-file", &pki.service_account_key),
        flag("token-auth-file", &pki.tokens),
    ];
    all.extend(flags(&[
        &format!("etcd-servers=http://127.0.0.1:{}", place.ports.etcd),
        &format!("secure-port={}", place.ports.api),
        "bind-address=127.0.0.1",
        "advertise-address=127.0.0.1",
        "service-account-issuer=https://kubernetes.default.svc",
        "service-cluster-ip-range=10.96.0.0/16",
        "authorization-mode=RBAC",
        "allow-privileged=true",
        "endpoint-reconciler-type=none",
        "enable-priority-and-fairness=false",
        "profiling=false",
        "etcd-compaction-interval=0",
        "etcd-count-metric-poll-period=0",
    ]));
    all
}

fn controller_manager(place: &LabPlace) -> Vec<OsString> {
    let mut all = vec![
        flag("kubeconfig", &place.kubeconfig()),
        flag("service-account-private-key-file", &place.pki.service_account_key),
        flag("root-ca-file", &place.pki.ca),
    ];
    all.extend(flags(&[
        &format!("controllers={}", CONTROLLERS.join(",")),
        "leader-elect=false",
        "secure-port=0",
        "profiling=false",
        "kube-api-qps=500",
        "kube-api-burst=1000",
        "min-resync-period=12h",
    ]));
    all
}

fn scheduler(place: &LabPlace) -> Vec<OsString> {
    let mut all = vec![flag("kubeconfig", &place.kubeconfig())];
    all.extend(flags(&[
        "leader-elect=false",
        "secure-port=0",
        "profiling=false",
        "kube-api-qps=500",
        "kube-api-burst=1000",
    ]));
    all
}

fn kwok(place: &LabPlace) -> Vec<OsString> {
    let mut all = vec![flag("kubeconfig", &place.kubeconfig()), flag("config", &place.stages())];
    all.extend(flags(&[
        "manage-all-nodes=true",
        "node-lease-duration-seconds=40",
        "cidr=10.244.0.0/16",
        "node-ip=192.0.2.1",
    ]));
    all
}

fn flux(options: &Options) -> Vec<OsString> {
    let requeue = format!("requeue-dependency={}ms", options.requeue_dependency.as_millis());
    let mut all = flux_common();
    all.extend(flags(&[&requeue, "concurrent=10", "no-cross-namespace-refs=false"]));
    all
}

fn flux_common() -> Vec<OsString> {
    let common = [
        "watch-all-namespaces=true",
        "enable-leader-election=false",
        "events-addr=",
        "metrics-addr=0",
        "health-addr=0",
        "log-encoding=json",
        "log-level=info",
        "kube-api-qps=500",
        "kube-api-burst=1000",
    ];
    flags(&common).collect()
}

fn source_controller(place: &LabPlace, options: &Options) -> Vec<OsString> {
    let address = format!("127.0.0.1:{}", place.ports.artifacts);
    let requeue = format!("requeue-dependency={}ms", options.requeue_dependency.as_millis());
    let mut all = flux_common();
    all.push(flag("storage-path", &place.path("artifacts")));
    all.extend(flags(&[
        &format!("storage-addr={address}"),
        &format!("storage-adv-addr={address}"),
        &requeue,
        "concurrent=4",
    ]));
    all
}

/// The sealed-secrets controller knows no kubeconfig, only the files that a pod finds at a fixed path. So it gets a mount
/// namespace in which they are there. `$1` is where they really are, the rest is the command.
const AS_IN_A_POD: &str = r#"
mount -t tmpfs none /var/run && mkdir -p /var/run/secrets/kubernetes.io &&
  ln -s "$1" /var/run/secrets/kubernetes.io/serviceaccount && shift && exec "$@"
"#;

/// What to put before a process's own command line.
pub(crate) fn wrapper(process: Process, place: &LabPlace) -> Vec<OsString> {
    if process != Process::SealedSecrets {
        return Vec::new();
    }
    let mut wrapper: Vec<OsString> = ["unshare", "--mount"].map(OsString::from).to_vec();
    if !nix::unistd::geteuid().is_root() {
        wrapper.extend(["--user", "--map-root-user"].map(OsString::from));
    }
    wrapper.extend(["sh", "-c", AS_IN_A_POD, "sh"].map(OsString::from));
    wrapper.push(place.path("serviceaccount").into());
    wrapper
}

fn sealed_secrets(place: &LabPlace) -> Vec<OsString> {
    flags(&[
        &format!("listen-addr=127.0.0.1:{}", place.ports.sealed_secrets),
        &format!("listen-metrics-addr=127.0.0.1:{}", place.ports.sealed_secrets_metrics),
        "update-status=true",
        // A smaller key is made faster; what is sealed in a lab guards nothing.
        "key-size=2048",
    ])
    .collect()
}
