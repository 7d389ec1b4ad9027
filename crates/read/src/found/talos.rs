//! Machines in files of Talos: talhelper's `talconfig.yaml`, and directories with a file for each machine.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use kustomize::Files as _;
use regex::Regex;
use yaml::Node;

use super::{Machine, Rack, is_aside, with_port};
use crate::repository::Repository;

const TALHELPER: [&str; 2] = ["talconfig.yaml", "talconfig.yml"];
const CONTROL_PLANES: [&str; 4] = ["controlplane", "controlplanes", "control-plane", "controllers"];
const WORKERS: [&str; 2] = ["worker", "workers"];
const NODES: [&str; 3] = ["nodes", "machines", "hosts"];

pub(super) fn find(repository: &Repository) -> Vec<Rack> {
    let talhelper = repository.paths().filter(|path| TALHELPER.contains(&name(path)) && !is_aside(path));
    let mut racks: Vec<Rack> = talhelper.filter_map(|path| talconfig(repository, path)).collect();
    racks.extend(node_files(repository));
    racks
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn talconfig(repository: &Repository, path: &str) -> Option<Rack> {
    let (_, documents) = repository.documents(path)?;
    let root = documents.iter().find_map(|document| document.root.as_ref())?;
    let machine = |node: &Node| {
        Some(Machine {
            name: short(node.text_at(&["hostname"])?),
            is_control_plane: node.get("controlPlane").and_then(Node::as_bool).unwrap_or(false),
            // talhelper takes several, with commas.
            address: node
                .text_at(&["ipAddress"])
                .and_then(|text| text.split(',').next())
                .map(|one| one.trim().to_owned())
                .filter(is_plain),
        })
    };
    let machines: Vec<Machine> = root.items_at("nodes").iter().filter_map(machine).collect();
    let vip = root.text_at(&["endpoint"]).filter(is_plain).map(with_port);
    (!machines.is_empty()).then(|| Rack { from: path.to_owned(), machines, vip })
}

/// A file for each machine, YAML or a template of it, somewhere below a directory called talos.
fn node_files(repository: &Repository) -> Vec<Rack> {
    let mut racks: BTreeMap<String, Rack> = BTreeMap::new();
    for path in repository.paths().filter(|path| may_be_node(path) && !is_aside(path)) {
        let text = repository.bytes(path).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
        if let Some(machine) = node_file(path, text) {
            let from = rack_of(path);
            let rack = racks.entry(from.clone()).or_insert_with(|| Rack { from, ..Rack::default() });
            rack.machines.push(machine);
        }
    }
    racks.into_values().collect()
}

fn may_be_node(path: &str) -> bool {
    let is_talos = path.split('/').rev().skip(1).any(|part| part.contains("talos"));
    let plain = path.strip_suffix(".j2").unwrap_or(path);
    is_talos && matches!(plain.rsplit('.').next(), Some("yaml" | "yml"))
}

fn node_file(path: &str, text: &str) -> Option<Machine> {
    let parts: Vec<&str> = path.split('/').rev().skip(1).collect();
    let is_in = |names: &[&str]| parts.iter().any(|part| names.contains(part));
    let is_control_plane = match machine_type(text) {
        Some(kind) => kind == "controlplane",
        None if is_in(&CONTROL_PLANES) => true,
        None if is_in(&WORKERS) => false,
        None => return None,
    };
    let hostname = hostname(text);
    // A patch for many machines names none of them.
    if hostname.is_none() && !parts.first().is_some_and(|parent| NODES.contains(parent)) && !has_disk(text) {
        return None;
    }
    let stem = name(path).split('.').next().unwrap_or_default();
    if CONTROL_PLANES.contains(&stem) || WORKERS.contains(&stem) {
        return None;
    }
    let name = hostname.map(|name| short(&name)).filter(|name| !name.is_empty()).unwrap_or_else(|| stem.to_owned());
    Some(Machine { name, is_control_plane, address: None })
}

/// A name up to its first variable: what follows is a domain.
fn short(name: &str) -> String {
    let end = name.find(['$', '{']).unwrap_or(name.len());
    name[..end].trim_end_matches('.').to_owned()
}

fn is_plain(text: &(impl AsRef<str> + ?Sized)) -> bool {
    !text.as_ref().contains(['$', '{'])
}

/// The directory without those parts that only sort machines.
fn rack_of(path: &str) -> String {
    let mut directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    while let Some((above, last)) = directory.rsplit_once('/') {
        if !CONTROL_PLANES.contains(&last) && !WORKERS.contains(&last) && !NODES.contains(&last) {
            break;
        }
        directory = above;
    }
    directory.to_owned()
}

fn captured(pattern: &OnceLock<Option<Regex>>, regex: &str, text: &str) -> Option<String> {
    let pattern = pattern.get_or_init(|| Regex::new(regex).ok()).as_ref()?;
    Some(pattern.captures(text)?.get(1)?.as_str().to_owned())
}

/// Templates are no YAML, so their lines are read.
fn machine_type(text: &str) -> Option<String> {
    static PATTERN: OnceLock<Option<Regex>> = OnceLock::new();
    captured(&PATTERN, r#"(?m)^  type: ["']?(controlplane|worker)["']?\s*$"#, text)
}

fn hostname(text: &str) -> Option<String> {
    static PATTERN: OnceLock<Option<Regex>> = OnceLock::new();
    captured(&PATTERN, r#"(?m)^\s*hostname: ["']?([^\s"'#]+)"#, text)
}

fn has_disk(text: &str) -> bool {
    ["diskSelector:", "disk: /dev/"].iter().any(|sign| text.contains(sign))
}

/// The address that a patch lets the control planes share.
pub(super) fn shared_address(repository: &Repository) -> Option<String> {
    static PATTERN: OnceLock<Option<Regex>> = OnceLock::new();
    let texts = repository.paths().filter(|path| may_be_node(path) && !is_aside(path));
    let mut found: Vec<String> = texts
        .filter_map(|path| std::str::from_utf8(repository.bytes(path)?).ok())
        .filter_map(|text| captured(&PATTERN, r#"(?m)^\s*vip:\s*\n\s+ip: ["']?([0-9a-fA-F.:]+)"#, text))
        .collect();
    found.dedup();
    // Several are of several clusters, and nobody knows whose.
    if found.len() == 1 { found.pop().map(|address| with_port(&address)) } else { None }
}
