//! Files that list the machines of a cluster: talhelper's, topf's. Known by what is in them, whatever they are called.

use std::collections::BTreeMap;

use kustomize::Files as _;
use yaml::{Entry, Node};

use super::short;
use crate::machines::{Machine, MachineGroup, is_aside, with_port};
use crate::repository::Repository;

/// Where talhelper takes variables from.
const VARIABLES: [&str; 2] = ["talenv.yaml", "talenv.yml"];

pub(crate) fn find(repository: &Repository) -> Vec<MachineGroup> {
    let files = repository.yaml_paths().filter(|path| !is_aside(path));
    let group = |path: &str| {
        // They name no API, so that they are not parsed yet; most others need not be.
        let text = std::str::from_utf8(repository.bytes(path)?).ok()?;
        let (_, documents) = may_list_machines(text).then(|| repository.documents(path))??;
        let root = documents.iter().find_map(|document| document.root.as_ref())?;
        talhelper(repository, path, root).or_else(|| topf(path, root))
    };
    files.filter_map(group).collect()
}

fn may_list_machines(text: &str) -> bool {
    let has = |word: &str| text.contains(word);
    has("nodes:") && (has("hostname:") && has("controlPlane:") || has("clusterEndpoint:"))
}

fn talhelper(repository: &Repository, path: &str, root: &Node) -> Option<MachineGroup> {
    let nodes = root.items_at("nodes");
    let is_list = nodes.iter().any(|node| node.get("hostname").is_some() && node.get("controlPlane").is_some());
    if !is_list {
        return None;
    }
    let variables = Variables::beside(repository, path);
    let machine = |node: &Node| {
        Some(Machine {
            name: short(&variables.in_text(node.text_at(&["hostname"])?)),
            is_control_plane: node.get("controlPlane").and_then(Node::as_bool).unwrap_or(false),
            // It takes several, with commas.
            address: node
                .text_at(&["ipAddress"])
                .and_then(|text| text.split(',').next())
                .map(|one| variables.in_text(one.trim()))
                .filter(is_plain),
            guest: None,
        })
    };
    let interfaces = nodes.iter().flat_map(|node| node.items_at("networkInterfaces"));
    let vlans = interfaces.clone().flat_map(|interface| interface.items_at("vlans"));
    let vip = interfaces.chain(vlans).find_map(|interface| interface.text_at(&["vip", "ip"]));
    let address = |text: &str| Some(variables.in_text(text)).filter(is_plain).map(|text| with_port(&text));
    Some(MachineGroup {
        from: path.to_owned(),
        machines: nodes.iter().filter_map(machine).collect(),
        vip: vip.and_then(address),
        endpoint: root.text_at(&["endpoint"]).and_then(address),
        lacks_network: root.text_at(&["cniConfig", "name"]) == Some("none"),
        ..MachineGroup::default()
    })
}

fn topf(path: &str, root: &Node) -> Option<MachineGroup> {
    let endpoint = root.text_at(&["clusterEndpoint"])?;
    let machine = |node: &Node| {
        Some(Machine {
            name: short(node.text_at(&["host"])?),
            is_control_plane: node.text_at(&["role"]) == Some("control-plane"),
            address: node.text_at(&["ip"]).map(str::to_owned).filter(is_plain),
            guest: None,
        })
    };
    let machines: Vec<Machine> = root.items_at("nodes").iter().filter_map(machine).collect();
    let endpoint = Some(endpoint).filter(is_plain).map(with_port);
    (!machines.is_empty()).then(|| MachineGroup {
        from: path.to_owned(),
        machines,
        endpoint,
        ..MachineGroup::default()
    })
}

fn is_plain(text: &(impl AsRef<str> + ?Sized)) -> bool {
    !text.as_ref().contains(['$', '{'])
}

/// What `${NAME}` stands for, as far as it is kept in plain text.
#[derive(Default)]
struct Variables<'r>(BTreeMap<&'r str, &'r str>);

impl<'r> Variables<'r> {
    fn beside(repository: &'r Repository, path: &str) -> Self {
        let file = |name: &&str| repository::path::join(repository::path::parent(path), name);
        let documents = VARIABLES.iter().filter_map(file).find_map(|file| repository.documents(&file));
        let root = documents.and_then(|(_, documents)| documents.first()?.root.as_ref());
        let Some(root) = root.filter(|root| root.get("sops").is_none()) else { return Self::default() };
        let pair = |entry: &'r Entry| Some((entry.key.as_str(), entry.value.text()?));
        Self(root.entries().iter().filter_map(pair).collect())
    }

    fn in_text(&self, text: &str) -> String {
        let replace = |text: String, (name, value): (&&str, &&str)| text.replace(&format!("${{{name}}}"), value);
        if is_plain(text) { text.to_owned() } else { self.0.iter().fold(text.to_owned(), replace) }
    }
}
