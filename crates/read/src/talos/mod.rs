//! Machines in files of Talos: talhelper's and topf's lists, and directories with a file for each machine.

mod configuration;
mod lists;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::OnceLock;

use regex::Regex;

use crate::machines::{Machine, MachineGroup, is_aside};
use crate::repository::Repository;
use crate::templated_yaml;
use crate::terraform::Value;
pub(crate) use configuration::{Facts, configuration, documents};

const CONTROL_PLANES: [&str; 4] = ["controlplane", "controlplanes", "control-plane", "controllers"];
const WORKERS: [&str; 2] = ["worker", "workers"];
const NODES: [&str; 3] = ["nodes", "machines", "hosts"];
/// What template tools add to the name of a file.
const TEMPLATES: [&str; 4] = [".j2", ".tpl", ".tmpl", ".tftpl"];

/// What one file says.
struct Told<'r> {
    path: &'r str,
    text: &'r str,
    facts: Facts,
}

pub(crate) fn find(repository: &Repository) -> Vec<MachineGroup> {
    let mut groups = lists::find(repository);
    let files = told(repository);
    for (from, machines) in node_files(&files) {
        groups.push(MachineGroup { from, machines, ..MachineGroup::default() });
    }
    groups
}

/// The addresses that files of Talos name, for those groups that do not say theirs.
pub(crate) fn add_addresses(repository: &Repository, groups: &mut [MachineGroup]) {
    let files = told(repository);
    let directories: Vec<String> = groups.iter().map(|group| directory(&group.from).to_owned()).collect();
    for (group, own) in groups.iter_mut().zip(&directories) {
        let is_own = |path: &str| repository::path::is_below(path, own);
        // A file below the directory of another group is about that.
        let is_open =
            |path: &str| !directories.iter().any(|other| other != own && repository::path::is_below(path, other));
        let only = |pick: &dyn Fn(&Facts) -> Option<String>| {
            let of = |is_in: &dyn Fn(&str) -> bool| {
                files
                    .iter()
                    .filter(|file| is_in(file.path))
                    .filter_map(|file| pick(&file.facts))
                    .collect::<BTreeSet<_>>()
            };
            let found = Some(of(&is_own)).filter(|found| !found.is_empty()).unwrap_or_else(|| of(&is_open));
            // Several are of several clusters, and whose is not known.
            if found.len() == 1 { found.into_iter().next() } else { None }
        };
        let says_none = |path: &str| is_own(path) || is_open(path);
        group.lacks_network |= files.iter().any(|file| file.facts.lacks_network && says_none(file.path));
        if group.vip.is_none() && group.endpoint.is_none() {
            group.vip = only(&|facts| facts.vip.clone());
            group.endpoint = only(&|facts| facts.endpoint.clone());
        } else if group.vip.is_none() {
            group.vip = only(&|facts| facts.vip.clone());
        }
    }
}

/// The directory that a group is described in: a file's own.
fn directory(from: &str) -> &str {
    if from.rsplit('/').next().is_some_and(|name| name.contains('.')) { repository::path::parent(from) } else { from }
}

fn told(repository: &Repository) -> Vec<Told<'_>> {
    let paths = repository.paths().filter(|path| may_be_configuration(path) && !is_aside(path));
    let read = |path| {
        let id = repository.id(path)?;
        let source = repository.source(id)?;
        let nodes = templated_yaml::parse(id, source.text());
        let documents: Vec<Value> = nodes.iter().map(Value::of_node).collect();
        Some(Told { path, text: source.text(), facts: Facts::of(&documents) })
    };
    paths.filter_map(read).collect()
}

/// YAML or a template of it, somewhere below a directory called talos.
pub(crate) fn may_be_configuration(path: &str) -> bool {
    let is_talos = path.split('/').rev().skip(1).any(|part| part.contains("talos"));
    is_talos && matches!(without_template(path).rsplit('.').next(), Some("yaml" | "yml"))
}

fn without_template(path: &str) -> &str {
    TEMPLATES.iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path)
}

/// Machines that have a file each, by the directory that keeps these.
fn node_files(files: &[Told<'_>]) -> BTreeMap<String, Vec<Machine>> {
    let mut groups: BTreeMap<String, Vec<Machine>> = BTreeMap::new();
    for file in files {
        if let Some(machine) = file.machine() {
            groups.entry(group_of(file.path)).or_default().push(machine);
        }
    }
    groups
}

impl Told<'_> {
    fn machine(&self) -> Option<Machine> {
        let parts: Vec<&str> = self.path.split('/').rev().skip(1).collect();
        let is_in = |names: &[&str]| parts.iter().any(|part| names.contains(part));
        let is_control_plane = match self.facts.is_control_plane.or_else(|| machine_type(self.text)) {
            Some(is_control_plane) => is_control_plane,
            None if is_in(&CONTROL_PLANES) => true,
            None if is_in(&WORKERS) => false,
            None => return None,
        };
        let hostname = self.facts.hostname.clone().or_else(|| hostname(self.text));
        let hostname = hostname.map(|name| short(&name)).filter(|name| !name.is_empty());
        if hostname.is_none() && !self.is_of_one(&parts) {
            return None;
        }
        let stem = stem(self.path);
        if CONTROL_PLANES.contains(&stem) || WORKERS.contains(&stem) {
            return None;
        }
        let address = self.facts.address.clone().or_else(|| stem.parse::<IpAddr>().ok().map(|_| stem.to_owned()));
        Some(Machine { name: hostname.unwrap_or_else(|| stem.to_owned()), is_control_plane, address, guest: None })
    }

    /// A file that names no machine may still be that of one: beside others of its kind, not above them. What is for many
    /// lies higher, or has no disk of its own.
    fn is_of_one(&self, parts: &[&str]) -> bool {
        let is_in = |names: &[&str]| parts.first().is_some_and(|parent| names.contains(parent));
        let has_disk = ["diskSelector:", "disk: /dev/"].iter().any(|sign| self.text.contains(sign));
        is_in(&NODES) || has_disk && (is_in(&CONTROL_PLANES) || is_in(&WORKERS))
    }
}

/// The name of a file without what says of which kind it is; dots may be part of it.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = without_template(name);
    let name = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml")).unwrap_or(name);
    let name = [".sops", ".secret"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    if name.parse::<IpAddr>().is_ok() { name } else { name.split('.').next().unwrap_or_default() }
}

/// A name up to its first variable: what follows is a domain.
pub(crate) fn short(name: &str) -> String {
    let end = name.find(['$', '{']).unwrap_or(name.len());
    name[..end].trim_end_matches('.').to_owned()
}

/// The directory without those parts that only sort machines.
fn group_of(path: &str) -> String {
    let mut directory = repository::path::parent(path);
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

/// Some templates can't be parsed even without their actions, so their lines are read.
fn machine_type(text: &str) -> Option<bool> {
    static PATTERN: OnceLock<Option<Regex>> = OnceLock::new();
    captured(&PATTERN, r#"(?m)^  type: ["']?(controlplane|worker)["']?\s*$"#, text).map(|kind| kind == "controlplane")
}

fn hostname(text: &str) -> Option<String> {
    static PATTERN: OnceLock<Option<Regex>> = OnceLock::new();
    captured(&PATTERN, r#"(?m)^\s*hostname: ["']?([^\s"'#]+)"#, text)
}
