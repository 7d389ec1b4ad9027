//! The machines of a cluster that a run of Terraform makes: what Talos configurations are applied to, or what variables list.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use yaml::EcoString;

use super::instance::{Each, Instance};
use super::purpose::is_machine;
use super::value::Value;
use crate::machines::{Guest, Machine, MachineGroup};
use crate::talos::{self, Facts};

/// What one resource says of a machine.
struct Applied {
    name: Option<String>,
    facts: Facts,
    /// The virtual machine that the same module makes, where it makes just one.
    guest: Option<Guest>,
}

/// A virtual machine: what it is called, what its hypervisor knows it by, and every address in what is known of it.
struct Virtual {
    name: String,
    guest: Option<Guest>,
    addresses: Vec<String>,
}

/// Under which names providers keep the number of a virtual machine, and the machine that runs it.
const IDS: [&str; 2] = ["vm_id", "vmid"];
const HOSTS: [&str; 2] = ["node_name", "target_node"];

/// The machines of all that a root makes, if they are a cluster's.
pub(crate) fn find(root: &Rc<Instance<'_>>) -> Option<MachineGroup> {
    let tree = root.tree();
    let mut group = configured(&tree).unwrap_or_default();
    if group.control_planes().next().is_none() {
        group.machines = listed(root);
    }
    group.from.clone_from(&root.module.directory);
    let is_cluster = group.control_planes().next().is_some();
    is_cluster.then_some(group)
}

/// Machines that get a Talos configuration.
fn configured(tree: &[Rc<Instance<'_>>]) -> Option<MachineGroup> {
    let (mut applied, mut virtuals, mut first) = (Vec::<Applied>::new(), Vec::<Virtual>::new(), None);
    for instance in tree {
        let known = (applied.len(), virtuals.len());
        for resource in instance.module.resources.iter().filter(|resource| !resource.is_data) {
            let made = || instance.made(resource).into_iter();
            match resource.kind.as_str() {
                "talos_machine_configuration_apply" => {
                    applied.extend(made().filter_map(|(each, value)| one_applied(instance, &each, &value)));
                }
                "talos_machine_bootstrap" => {
                    first = made().find_map(|(_, value)| address(value.get("node")?)).or(first);
                }
                kind if is_machine(kind) => {
                    applied.extend(made().filter_map(|(_, value)| configured_at_start(&value)));
                    virtuals.extend(made().filter_map(|(_, value)| one_virtual(&value)));
                }
                _ => {}
            }
        }
        if let ([own], [of_own]) = (&mut applied[known.0..], &virtuals[known.1..]) {
            own.guest.clone_from(&of_own.guest);
        }
    }
    let vip = applied.iter().find_map(|one| one.facts.vip.clone());
    let endpoint = applied.iter().find_map(|one| one.facts.endpoint.clone());
    let lacks_network = applied.iter().any(|one| one.facts.lacks_network);
    let mut machines: Vec<Machine> = applied.into_iter().filter_map(|one| one.machine(&virtuals)).collect();
    // etcd starts where the bootstrap says.
    machines.sort_by_key(|machine| first.is_none() || machine.address != first);
    (!machines.is_empty()).then(|| MachineGroup { machines, vip, endpoint, lacks_network, ..MachineGroup::default() })
}

impl Applied {
    fn machine(self, virtuals: &[Virtual]) -> Option<Machine> {
        let address = self.facts.address;
        let mut found = virtuals.iter().filter(|one| address.as_ref().is_some_and(|ip| one.addresses.contains(ip)));
        let of_address = found.next().filter(|_| found.next().is_none());
        let called = || of_address.map(|one| one.name.clone());
        let name = self.facts.hostname.or(self.name).or_else(called).or_else(|| address.clone())?;
        let of_name = || virtuals.iter().find(|one| one.name == name);
        let guest = of_address.or_else(of_name).and_then(|one| one.guest.clone()).or(self.guest);
        Some(Machine { name, is_control_plane: self.facts.is_control_plane?, address, guest })
    }
}

fn one_applied(instance: &Instance<'_>, each: &Each, value: &Value) -> Option<Applied> {
    let mut documents = talos::documents(value.get("machine_configuration_input")?);
    documents.extend(value.get("config_patches").map(talos::documents).unwrap_or_default());
    let mut facts = Facts::of(&documents);
    let target = ["node", "endpoint"].iter().find_map(|key| value.get(key).and_then(address));
    facts.address = target.or(facts.address);
    Some(Applied { name: called(each).or_else(|| instance.each().and_then(called)), facts, guest: None })
}

/// A machine that is given its configuration when it is made.
fn configured_at_start(value: &Value) -> Option<Applied> {
    let facts = Facts::of(&talos::documents(value.get("user_data")?));
    facts.is_control_plane?;
    let name = value.get("name").and_then(Value::as_text).map(str::to_owned);
    Some(Applied { name, facts, guest: None })
}

/// The key of one of many, where it is a name.
fn called(each: &Each) -> Option<String> {
    let key = each.key.as_ref()?.as_text()?;
    key.parse::<IpAddr>().is_err().then(|| key.to_owned())
}

fn address(value: &Value) -> Option<String> {
    let text = value.as_text()?;
    let plain = text.split('/').next().unwrap_or(text);
    plain.parse::<IpAddr>().ok().map(|_| plain.to_owned())
}

fn one_virtual(value: &Value) -> Option<Virtual> {
    fn add(value: &Value, into: &mut Vec<String>) {
        match value {
            Value::Text(_) => into.extend(address(value)),
            Value::List(list) => list.items.iter().for_each(|item| add(item, into)),
            Value::Map(map) => map.entries.values().for_each(|item| add(item, into)),
            _ => {}
        }
    }
    let name = value.get("name").or_else(|| value.get("hostname"))?.as_text()?.to_owned();
    let mut addresses = Vec::new();
    add(value, &mut addresses);
    let text = |names: &[&str]| names.iter().find_map(|name| value.get(name)?.to_text()).map(|text| text.to_string());
    let guest = text(&IDS).map(|id| Guest { id, host: text(&HOSTS) });
    Some(Virtual { name, guest, addresses })
}

/// Machines in variables and locals: objects of which each says whether it is a control plane or a worker.
fn listed(root: &Instance<'_>) -> Vec<Machine> {
    let variables = root.module.variables.keys().map(|name| root.variable(name));
    let locals = root.module.locals.keys().map(|name| root.local(name));
    let found = variables.chain(locals).map(|value| machines(&value));
    // The fullest list: the same machines may be listed by their kind, too.
    found.fold(Vec::new(), |best, next| if next.len() > best.len() { next } else { best })
}

fn machines(value: &Value) -> Vec<Machine> {
    let machine = |key: Option<&EcoString>, value: &Value| {
        let fields = value.as_map()?;
        let role = fields.values().find_map(|field| role(field.as_text()?))?;
        let text = |names: &[&str]| names.iter().find_map(|name| fields.get(*name)?.as_text());
        let address = text(&["ip", "ip_address", "address", "ipv4", "ipv4_address"]).map(str::to_owned);
        let address = address.map(|text| text.split('/').next().unwrap_or_default().to_owned());
        let name = text(&["hostname", "name", "host"]).filter(|_| key.is_none_or(|key| key.parse::<IpAddr>().is_ok()));
        let name = name.map(str::to_owned).or_else(|| key.map(ToString::to_string)).or_else(|| address.clone())?;
        Some(Machine { name, is_control_plane: role, address, guest: None })
    };
    match value {
        Value::Map(map) => map.entries.iter().filter_map(|(key, value)| machine(Some(key), value)).collect(),
        Value::List(list) => list.items.iter().filter_map(|value| machine(None, value)).collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn role(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "controlplane" | "control-plane" | "control_plane" | "controller" | "master" => Some(true),
        "worker" | "agent" => Some(false),
        _ => None,
    }
}

/// Every resource of a root and of what it calls, with the values that are known: what later stages build on.
pub(crate) fn kinds(tree: &[Rc<Instance<'_>>]) -> BTreeMap<(bool, String), usize> {
    let mut kinds = BTreeMap::new();
    for instance in tree {
        for resource in &instance.module.resources {
            // How many there are may not be known; that there is none may.
            let count = instance.expand(&resource.body).map_or(1, |each| each.len());
            *kinds.entry((resource.is_data, resource.kind.clone())).or_default() += count;
        }
    }
    kinds.retain(|_, count| *count > 0);
    kinds
}
