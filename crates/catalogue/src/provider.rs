//! The schema of a file about a Terraform provider: what its types need, prove, wait for and keep, by its version.
//! `docs/providers.md` explains it to people who add one.

use std::ops::Not;

use serde::{Deserialize, Serialize};

/// One provider.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Provider {
    /// The file's name without its ending, and what resources of it begin with.
    pub name: String,
    /// One line: what it speaks to.
    pub about: String,
    /// Its addresses in the registry: `hashicorp/helm`. Where none is written in a repository, its name is enough.
    pub addresses: Vec<String>,
    /// What its types need where they do not say it themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<ServiceNeed>,
    /// What its configuration alone needs: without it nothing of the root is planned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configures: Vec<ServiceNeed>,
    /// Its configuration must be known when it is planned with: what only a made resource tells is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wants_values: Option<WantsValues>,
    /// For so long its types try again where the service does not answer. None: the run stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries_seconds: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<ResourceType>,
    /// Where the claims of this file can be read.
    pub sources: Vec<String>,
}

/// When a configuration with unknown values is an error.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WantsValues {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unless: Option<Switch>,
    /// Where this can be read.
    pub source: String,
}

/// Some of its resources or data sources.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ResourceType {
    /// `talos_machine_bootstrap`; one that ends in `*` means all that begin so.
    pub names: Vec<String>,
    /// They are data sources.
    #[serde(default, skip_serializing_if = "<&bool>::not")]
    pub data: bool,
    /// The versions of the provider that this holds for; all where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<String>,
    /// What they need; what the provider says where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<Vec<ServiceNeed>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries_seconds: Option<u32>,
    /// What holds once it is made or read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proves: Vec<Proof>,
    /// What switches its waiting on and off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Wait>,
    /// What is readable in the state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keeps: Vec<Kept>,
    /// Where this can be read.
    pub source: String,
}

/// Something must answer.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ServiceNeed {
    pub what: Service,
    pub when: Moment,
    /// Not where this holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unless: Option<Switch>,
    /// Only where this holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_if: Option<Switch>,
}

/// What may have to answer.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Service {
    KubernetesApi,
    /// The kind of the object that is applied must be served.
    KubernetesKind,
    TalosApi,
    ProxmoxApi,
    HcloudApi,
    AwsApi,
    TailscaleApi,
    GithubApi,
    Git,
    /// An address that it is given.
    Url,
    Vault,
    Authentik,
    Powerdns,
    Gitea,
    Harbor,
}

/// When something must answer.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// As soon as the provider is configured, before anything is planned.
    Configure,
    /// When it is planned.
    Plan,
    /// When it is made.
    Apply,
}

/// An argument of a block, or of the configuration of its provider, and the value at which it counts.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Switch {
    pub argument: String,
    pub equals: String,
}

/// Something holds.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Proof {
    pub what: Shown,
    pub of: Of,
    pub strength: Strength,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unless: Option<Switch>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_if: Option<Switch>,
}

/// What may be shown.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    Machine,
    MachineConfiguration,
    Etcd,
    ApiServer,
    Kubeconfig,
    Kubelet,
    /// Nodes are registered.
    NodesJoined,
    NodesReady,
    StaticPods,
    /// What was applied exists.
    Object,
    /// Its pods run, as many as it wants.
    Workload,
    LoadBalancer,
    Volume,
    Flux,
    Commit,
    File,
    /// An answer came.
    Answer,
}

/// Of how many.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    One,
    ControlPlanes,
    /// Of all that it is told of, or that exist.
    All,
    /// Of all that the cluster is to have.
    Expected,
}

/// How much it says.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Strength {
    /// It is there.
    Exists,
    /// What was asked was accepted.
    Accepted,
    /// It works.
    Healthy,
}

/// How waiting is switched on and off.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Wait {
    pub argument: String,
    /// Whether it waits where the argument is not given.
    pub default: bool,
    /// Arguments that switch it on whatever the other says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implied_by: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_argument: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
}

/// What is in the state in clear.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Kept {
    PrivateKey,
    Password,
    Token,
    Credentials,
    /// All that secrets of a cluster are made of.
    ClusterSecrets,
}
