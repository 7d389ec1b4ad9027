//! What a cold start must know, as far as files tell: machines, addresses, Terraform directories. A proposal for
//! `coldstart.yaml`, to be read and corrected by a person; nothing else builds on it.

mod talos;
mod terraform;

use std::collections::BTreeSet;

use crate::repository::Repository;

pub use terraform::{Directory, Purpose};

/// A machine that some file describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    pub name: String,
    pub is_control_plane: bool,
    pub address: Option<String>,
}

/// Machines that are described together: those of one cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rack {
    /// The file or directory that describes them.
    pub from: String,
    pub machines: Vec<Machine>,
    /// Where people reach the API server, as `host:port`: often an address that is not there before the cluster is.
    pub vip: Option<String>,
}

impl Rack {
    pub fn control_planes(&self) -> impl Iterator<Item = &Machine> {
        self.machines.iter().filter(|machine| machine.is_control_plane)
    }

    pub fn workers(&self) -> impl Iterator<Item = &Machine> {
        self.machines.iter().filter(|machine| !machine.is_control_plane)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The one with the most machines first.
    pub racks: Vec<Rack>,
    pub terraform: Vec<Directory>,
}

/// Looks through all files that may tell.
pub fn find(repository: &Repository) -> Found {
    let (terraform, described) = terraform::find(repository);
    let mut racks: Vec<Rack> = talos::find(repository).into_iter().chain(described).collect();
    racks.retain(|rack| rack.control_planes().next().is_some());
    // Patches may name the address that the machines share.
    let shared = talos::shared_address(repository);
    for rack in &mut racks {
        // Two files may speak of one machine; `coldstart.yaml` names it once.
        let mut known = BTreeSet::new();
        rack.machines.retain(|machine| known.insert(machine.name.clone()));
        rack.vip = rack.vip.take().or_else(|| shared.clone());
    }
    racks.sort_by(|a, b| b.machines.len().cmp(&a.machines.len()).then_with(|| a.from.cmp(&b.from)));
    Found { racks, terraform }
}

/// Directories where people keep what they no longer use, or what is no part of a cluster by itself.
fn is_aside(path: &str) -> bool {
    const ASIDE: [&str; 9] =
        ["archive", "archived", "examples", "legacy", "module", "modules", "old", "templates", "tests"];
    let is = |part: &str| ASIDE.contains(&part.trim_start_matches(['_', '.', '-'])) || part.starts_with("z_old");
    path.split('/').any(is)
}

/// With the port of the API server, if it has none.
fn with_port(address: &str) -> String {
    let address = address.trim_start_matches("https://").trim_end_matches('/');
    let has_port = address.rsplit_once(':').is_some_and(|(host, port)| {
        !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()) && (!host.contains(':') || host.ends_with(']'))
    });
    if has_port { address.to_owned() } else { format!("{address}:6443") }
}

#[cfg(test)]
mod tests {
    use super::{is_aside, with_port};

    #[test]
    fn addresses_get_the_port_of_the_api_server_once() {
        assert_eq!(with_port("https://10.0.0.1:6443"), "10.0.0.1:6443");
        assert_eq!(with_port("10.0.0.1"), "10.0.0.1:6443");
        assert_eq!(with_port("https://[fd00::1]:6443/"), "[fd00::1]:6443");
        assert_eq!(with_port("k8s.internal"), "k8s.internal:6443");
    }

    #[test]
    fn what_lies_aside_is_no_part_of_the_cluster() {
        assert!(is_aside("terraform/modules/vm") && is_aside("x/_archive/y") && is_aside("z_old_terraform/live"));
        assert!(!is_aside("terraform/01-infrastructure"));
    }
}
