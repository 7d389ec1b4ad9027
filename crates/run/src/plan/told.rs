//! What a plan begins with: what `coldstart.yaml` says, and where it says nothing what other files tell of machines and Terraform.

use std::collections::BTreeSet;

use read::Repository;
use read::inventory::{self, Inventory};
use read::terraform::Purpose;
use settings::{Configuration, UpSettings};

/// Names of steps beside those of machines.
const TAKEN: [&str; 2] = ["etcd", "secrets"];

/// What is known of a cold start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub up: UpSettings,
    /// The file or directory that the machines are read from; nothing where the settings name them, or no file does.
    pub machines_from: Option<String>,
    pub(super) inventory: Inventory,
}

/// What the settings say, with what files tell where they are silent. Where files describe the machines of several clusters, only the
/// settings can say which are meant.
pub fn told(repository: &Repository, settings: &UpSettings) -> Told {
    let inventory = inventory::find(repository);
    let mut up = settings.clone();
    let machines_from = add_machines(&mut up, &inventory);
    add_directories(&mut up, &inventory);
    Told { up, machines_from, inventory }
}

fn add_machines(up: &mut UpSettings, inventory: &Inventory) -> Option<String> {
    let [group] = &inventory.groups[..] else { return None };
    // Steps stand under these names already.
    let is_taken = group.machines.iter().any(|machine| TAKEN.contains(&machine.name.as_str()));
    if is_taken || !up.control_planes.is_empty() || !up.workers.is_empty() {
        return None;
    }
    up.control_planes = group.control_planes().map(|machine| machine.name.clone()).collect();
    up.workers = group.workers().map(|machine| machine.name.clone()).collect();
    up.endpoint = up.endpoint.take().or_else(|| group.first_address());
    up.vip = up.vip.take().or_else(|| group.virtual_address().map(str::to_owned));
    Some(group.from.clone())
}

/// Terraform that outlives the cluster, and Terraform that configures what runs in it, each where the settings name none.
fn add_directories(up: &mut UpSettings, inventory: &Inventory) {
    let named = up.keys.iter().chain(up.configuration.iter().map(|one| &one.directory));
    let named: BTreeSet<String> =
        named.map(|path| path.trim_start_matches("./").trim_end_matches('/').to_owned()).collect();
    let of = |purpose: Purpose| {
        let all = inventory.terraform.iter().filter(move |one| one.purpose == purpose);
        all.filter(|one| !named.contains(&one.path)).map(|one| one.path.clone())
    };
    if up.keys.is_empty() {
        up.keys = of(Purpose::Keys).collect();
    }
    if up.configuration.is_empty() {
        let one = |directory| Configuration { directory, needs: Vec::new() };
        up.configuration = of(Purpose::Services).map(one).collect();
    }
}
