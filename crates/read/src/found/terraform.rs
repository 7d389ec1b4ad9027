//! Terraform directories, what each seems to be for, and machines that variables describe.

use std::collections::BTreeMap;

use hcl_edit::expr::{Expression, ObjectKey};
use hcl_edit::structure::{Block, Body};
use kustomize::Files as _;

use super::{Machine, Rack, is_aside};
use crate::repository::Repository;

/// A directory that `terraform apply` is run in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    pub path: String,
    pub purpose: Purpose,
    /// Names of its providers, sorted.
    pub providers: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Makes keys and tokens, and nothing that a cluster is made of.
    Keys,
    /// Makes machines, or configures them.
    Machines,
    /// Speaks to the APIs of services.
    Services,
    Other,
}

/// Providers that speak to what runs in a cluster.
const SERVICES: [&str; 22] = [
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
    "postgresql",
    "powerdns",
    "prowlarr",
    "rabbitmq",
    "radarr",
    "sonarr",
    "vault",
    "zitadel",
];
const MACHINES: [&str; 8] =
    ["_machine_configuration", "_vm", "_vm_qemu", "_virtual_machine", "_server", "_instance", "_domain", "_machine"];
const KEYS: [&str; 4] = ["tls_private_key", "tls_self_signed_cert", "_user_token", "_api_token"];

/// What the files of one directory say.
#[derive(Default)]
struct Root {
    providers: Vec<String>,
    resources: Vec<String>,
    is_applied: bool,
    machines: Vec<Machine>,
}

pub(super) fn find(repository: &Repository) -> (Vec<Directory>, Vec<Rack>) {
    let mut roots: BTreeMap<String, Root> = BTreeMap::new();
    let is_terraform =
        |path: &&str| [".tf", ".tofu", ".tfvars"].iter().any(|ending| path.ends_with(ending)) && !is_aside(path);
    for path in repository.paths().filter(is_terraform) {
        let text = repository.bytes(path).and_then(|bytes| std::str::from_utf8(bytes).ok());
        // What can't be parsed is left to Terraform, which will say so.
        let Some(body) = text.and_then(|text| text.parse::<Body>().ok()) else { continue };
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        roots.entry(directory.to_owned()).or_default().read(&body);
    }
    roots.retain(|path, root| root.is_applied && !path.is_empty());
    let rack = |(path, root): (&String, &Root)| Rack { from: path.clone(), machines: root.machines.clone(), vip: None };
    let racks = roots.iter().map(rack).filter(|rack| !rack.machines.is_empty()).collect();
    let directories = roots.into_iter().map(|(path, root)| root.directory(path)).collect();
    (directories, racks)
}

impl Root {
    fn read(&mut self, body: &Body) {
        for block in body.blocks() {
            let label = block.labels.first().map(|label| label.as_str().to_owned()).unwrap_or_default();
            match block.ident.as_str() {
                "provider" => {
                    self.is_applied = true;
                    self.providers.push(label);
                }
                "resource" => self.resources.push(label),
                "terraform" => self.terraform(block),
                "variable" => {
                    if let Some(default) = block.body.get_attribute("default") {
                        self.machines.extend(machines(&default.value));
                    }
                }
                _ => {}
            }
        }
        for attribute in body.attributes() {
            self.machines.extend(machines(&attribute.value));
        }
    }

    fn terraform(&mut self, block: &Block) {
        for inner in block.body.blocks() {
            match inner.ident.as_str() {
                "backend" | "cloud" => self.is_applied = true,
                "required_providers" => self.providers.extend(inner.body.attributes().map(|one| one.key.to_string())),
                _ => {}
            }
        }
    }

    fn directory(mut self, path: String) -> Directory {
        self.providers.sort();
        self.providers.dedup();
        let ends = |endings: &[&str]| self.resources.iter().any(|one| endings.iter().any(|end| one.ends_with(end)));
        let speaks = self.providers.iter().any(|provider| SERVICES.contains(&provider.as_str()));
        let purpose = if ends(&MACHINES) || self.resources.iter().any(|one| one.starts_with("talos_machine")) {
            Purpose::Machines
        } else if speaks {
            Purpose::Services
        } else if ends(&KEYS) {
            Purpose::Keys
        } else {
            Purpose::Other
        };
        Directory { path, purpose, providers: self.providers }
    }
}

/// A map of objects of which each says whether it is a control plane or a worker.
fn machines(value: &Expression) -> Vec<Machine> {
    let Expression::Object(object) = value else { return Vec::new() };
    let machine = |key: &ObjectKey, value: &Expression| {
        let Expression::Object(fields) = value else { return None };
        let texts: BTreeMap<String, &str> =
            fields.iter().filter_map(|(key, value)| Some((key_text(key)?, value.expr().as_str()?))).collect();
        let role = texts.values().find_map(|text| match text.to_ascii_lowercase().as_str() {
            "controlplane" | "control-plane" | "control_plane" | "controller" | "master" => Some(true),
            "worker" | "agent" => Some(false),
            _ => None,
        })?;
        let address = ["ip", "ip_address", "address", "ipv4"].iter().find_map(|name| texts.get(*name));
        let address = address.map(|text| text.split('/').next().unwrap_or(text).to_owned());
        Some(Machine { name: key_text(key)?, is_control_plane: role, address })
    };
    object.iter().filter_map(|(key, value)| machine(key, value.expr())).collect()
}

fn key_text(key: &ObjectKey) -> Option<String> {
    match key {
        ObjectKey::Ident(ident) => Some(ident.as_str().to_owned()),
        ObjectKey::Expression(expression) => expression.as_str().map(str::to_owned),
    }
}
