//! What a Terraform directory is for, by what it makes and whom it speaks to.

use std::collections::BTreeSet;

use super::instance::{Each, Instance};
use super::value::Value;

/// When a directory is to be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Makes keys and tokens that others read, and nothing that a cluster is made of.
    Keys,
    /// Makes machines, or configures them.
    Machines,
    /// Speaks to the API server: installs Flux, or what must be there before it.
    Cluster,
    /// Speaks to the APIs of services that run in the cluster.
    Services,
    /// Flux applies it, through tofu-controller.
    Flux,
    Other,
}

/// Providers that speak to what runs in a cluster.
const SERVICES: [&str; 24] = [
    "argocd",
    "authentik",
    "elasticstack",
    "garage",
    "gitea",
    "grafana",
    "harbor",
    "influxdb-v2",
    "keycloak",
    "lidarr",
    "minio",
    "mysql",
    "nexus",
    "opensearch",
    "pocketid",
    "postgresql",
    "powerdns",
    "prowlarr",
    "rabbitmq",
    "radarr",
    "sonarr",
    "technitium",
    "vault",
    "zitadel",
];
/// Providers that speak to an API server.
const CLUSTER: [&str; 6] = ["flux", "helm", "kubectl", "kubernetes", "kustomization", "k8s"];
/// Providers that speak to no service.
const HELPERS: [&str; 12] = [
    "archive",
    "cloudinit",
    "external",
    "http",
    "local",
    "null",
    "random",
    "sops",
    "template",
    "terraform",
    "time",
    "tls",
];
const MACHINES: [&str; 9] = [
    "_machine_configuration",
    "_machine_configuration_apply",
    "_vm",
    "_vm_qemu",
    "_virtual_machine",
    "_server",
    "_instance",
    "_domain",
    "_machine",
];
const KEYS: [&str; 4] = ["tls_private_key", "tls_self_signed_cert", "_user_token", "_api_token"];

/// Whether a resource is a machine, or the configuration of one.
pub(crate) fn is_machine(kind: &str) -> bool {
    let speaks_to_service = SERVICES.contains(&provider(kind));
    !speaks_to_service && MACHINES.iter().any(|ending| kind.ends_with(ending))
}

fn provider(kind: &str) -> &str {
    kind.split('_').next().unwrap_or(kind)
}

/// What is known of a root.
pub(crate) struct Made<'m> {
    /// Kinds of resources that it makes, and of data that it reads; those of which there are none left out.
    pub(crate) resources: &'m BTreeSet<String>,
    pub(crate) data: &'m BTreeSet<String>,
    /// Those with a `provider` block.
    pub(crate) configured: &'m BTreeSet<String>,
    /// Another root reads a secret of its state.
    pub(crate) hands_over_secrets: bool,
}

impl Made<'_> {
    pub(crate) fn purpose(&self) -> Purpose {
        let speaks = |names: &[&str]| {
            let kinds = self.resources.iter().chain(self.data).map(|kind| provider(kind));
            kinds.chain(self.configured.iter().map(String::as_str)).any(|name| names.contains(&name))
        };
        let makes = |endings: &[&str]| self.resources.iter().any(|kind| endings.iter().any(|end| kind.ends_with(end)));
        if self.resources.iter().any(|kind| is_machine(kind) || kind.starts_with("talos_machine")) {
            Purpose::Machines
        } else if speaks(&SERVICES) {
            Purpose::Services
        } else if speaks(&CLUSTER) {
            Purpose::Cluster
        } else if makes(&KEYS) || self.hands_over_secrets {
            Purpose::Keys
        } else {
            Purpose::Other
        }
    }

    /// Whom it speaks to, sorted: helpers that speak to no service left out.
    pub(crate) fn providers(&self) -> Vec<String> {
        let kinds = self.resources.iter().chain(self.data).map(|kind| provider(kind));
        let all = kinds.chain(self.configured.iter().map(String::as_str));
        let speaking: BTreeSet<&str> = all.filter(|name| !HELPERS.contains(name)).collect();
        speaking.into_iter().map(str::to_owned).collect()
    }
}

/// The directories whose state a root reads from a file: `terraform_remote_state` of a local backend.
pub(crate) fn states_read(root: &Instance<'_>) -> Vec<String> {
    let states = root.module.resources.iter().filter(|one| one.is_data && one.kind == "terraform_remote_state");
    let file = |value: &Value| {
        let is_local = value.get("backend").and_then(Value::as_text) == Some("local");
        let path = value.at(&["config", "path"]).and_then(Value::as_text).filter(|_| is_local)?;
        let file = repository::path::join(&root.module.directory, path)?;
        Some(repository::path::parent(&file).to_owned())
    };
    states.flat_map(|state| root.made(state)).filter_map(|(_, value): (Each, Value)| file(&value)).collect()
}
