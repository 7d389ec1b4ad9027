//! The machines that a cluster is made of, whatever tool describes them.

/// A machine that some file describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    pub name: String,
    pub is_control_plane: bool,
    pub address: Option<String>,
    /// What it is to the program that runs it, where it is a virtual one.
    pub guest: Option<Guest>,
}

/// A virtual machine as the hypervisor knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guest {
    pub id: String,
    /// The machine that runs it.
    pub host: Option<String>,
}

/// Machines that are described together: those of one cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineGroup {
    /// The file or directory that describes them.
    pub from: String,
    /// What else describes the same machines.
    pub also: Vec<String>,
    pub machines: Vec<Machine>,
    /// The address that the control planes share, as `host:port`. Talos gives it to one of them once etcd runs.
    pub vip: Option<String>,
    /// Where machines and people find the API server, as `host:port`: that address, one of a load balancer, a name.
    pub endpoint: Option<String>,
    /// They come without a pod network: something has to install one.
    pub lacks_network: bool,
}

impl Machine {
    /// Whether two descriptions are of one machine.
    fn is_same(&self, other: &Self) -> bool {
        self.name == other.name || self.address.is_some() && self.address == other.address
    }
}

impl MachineGroup {
    /// Those that run the API server.
    pub fn control_planes(&self) -> impl Iterator<Item = &Machine> {
        self.machines.iter().filter(|machine| machine.is_control_plane)
    }

    /// The others.
    pub fn workers(&self) -> impl Iterator<Item = &Machine> {
        self.machines.iter().filter(|machine| !machine.is_control_plane)
    }

    /// Where the API server answers that is no control plane's own address: not there before the cluster is.
    pub fn virtual_address(&self) -> Option<&str> {
        let is_own = |address: &str| {
            let host = address.rsplit_once(':').map_or(address, |(host, _)| host).trim_matches(['[', ']']);
            self.control_planes().any(|machine| machine.name == host || machine.address.as_deref() == Some(host))
        };
        // One control plane needs none: wherever its address is kept, the endpoint leads to it.
        let is_alone = self.control_planes().count() == 1;
        self.vip.as_deref().or(self.endpoint.as_deref().filter(|endpoint| !is_alone && !is_own(endpoint)))
    }

    /// Where the API server answers as soon as there is one: at the control plane that etcd starts on.
    pub fn first_address(&self) -> Option<String> {
        let own = self.control_planes().next()?.address.as_deref().map(with_port);
        own.or_else(|| self.endpoint.clone().filter(|_| self.vip.is_none() && self.control_planes().count() == 1))
    }

    /// Whether all of its machines are among those of another group.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.machines.iter().all(|machine| other.machines.iter().any(|one| one.is_same(machine)))
    }

    /// Takes what it does not know itself from another description of the same machines.
    pub(crate) fn learn(&mut self, other: Self) {
        for machine in &mut self.machines {
            let same = other.machines.iter().find(|one| one.is_same(machine));
            machine.address = machine.address.take().or_else(|| same?.address.clone());
            machine.guest = machine.guest.take().or_else(|| same?.guest.clone());
        }
        self.vip = self.vip.take().or(other.vip);
        self.endpoint = self.endpoint.take().or(other.endpoint);
        self.lacks_network |= other.lacks_network;
        self.also.push(other.from);
    }
}

/// Directories where people keep what they no longer use, or what is no part of a cluster by itself.
pub(crate) fn is_aside(path: &str) -> bool {
    const ASIDE: [&str; 9] =
        ["archive", "archived", "examples", "legacy", "module", "modules", "old", "templates", "tests"];
    let is = |part: &str| ASIDE.contains(&part.trim_start_matches(['_', '.', '-'])) || part.starts_with("z_old");
    path.split('/').any(is)
}

/// With the port of the API server, if it has none.
pub(crate) fn with_port(address: &str) -> String {
    let address = address.trim_start_matches("https://").trim_end_matches('/');
    let has_port = address.rsplit_once(':').is_some_and(|(host, port)| {
        !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()) && (!host.contains(':') || host.ends_with(']'))
    });
    // An address of IPv6 ends where its brackets do.
    let is_bare = address.contains(':') && !address.starts_with('[');
    if has_port {
        address.to_owned()
    } else if is_bare {
        format!("[{address}]:6443")
    } else {
        format!("{address}:6443")
    }
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
        assert_eq!(with_port("fd00::1"), "[fd00::1]:6443");
    }

    #[test]
    fn what_lies_aside_is_no_part_of_the_cluster() {
        assert!(is_aside("terraform/modules/vm") && is_aside("x/_archive/y") && is_aside("z_old_terraform/live"));
        assert!(!is_aside("terraform/01-infrastructure"));
    }
}
