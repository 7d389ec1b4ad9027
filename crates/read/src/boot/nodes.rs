//! The machines that the cluster is to have.

use model::{Boot, ExpectedNode};

use crate::inventory;
use crate::machines::{Machine, MachineGroup};
use crate::repository::Repository;

/// A boot of which only the machines are known. Where files describe several clusters, it is not known which machines are whose.
pub(super) fn expected(repository: &Repository) -> Boot {
    let groups = inventory::find(repository).groups;
    let [group] = groups.as_slice() else { return Boot::default() };
    let node = |machine: &Machine| ExpectedNode {
        name: machine.name.as_str().into(),
        is_control_plane: machine.is_control_plane,
    };
    Boot {
        nodes: group.machines.iter().map(node).collect(),
        virtual_address: virtual_address(group).map(Into::into),
        lacks_network: group.lacks_network,
        ..Boot::default()
    }
}

/// Without its port.
fn virtual_address(group: &MachineGroup) -> Option<&str> {
    let address = group.vip.as_deref()?;
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    Some(host.trim_matches(['[', ']']))
}
