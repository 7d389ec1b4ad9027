//! What a cold start must know, as far as files tell: machines, addresses, Terraform directories. A proposal for
//! `coldstart.yaml`, to be read and corrected by a person, and what a plan begins with where that file is silent.

use std::collections::BTreeSet;

use crate::machines::MachineGroup;
use crate::repository::Repository;
use crate::terraform::Directory;
use crate::{talos, terraform};
use kustomize::Files as _;

/// What files tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The one with the most machines first.
    pub groups: Vec<MachineGroup>,
    /// Where Terraform is run.
    pub terraform: Vec<Directory>,
}

/// Looks through all files that may tell.
pub fn find(repository: &Repository) -> Inventory {
    let (terraform, described) = terraform::find(repository);
    let mut groups: Vec<MachineGroup> = talos::find(repository).into_iter().chain(described).collect();
    groups.retain(|group| group.control_planes().next().is_some());
    for group in &mut groups {
        // Two files may speak of one machine; `coldstart.yaml` names it once.
        let mut known = BTreeSet::new();
        group.machines.retain(|machine| known.insert(machine.name.clone()));
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.machines.len()));
    let mut groups = merged(groups);
    talos::add_addresses(repository, &mut groups);
    Inventory { groups, terraform }
}

/// Whether a directory of Terraform is applied with OpenTofu: by its name or files, else by what scripts and lists of tools name. Where
/// they name both programs, what stands on one line with the directory decides.
pub fn uses_tofu(repository: &Repository, directory: &str) -> bool {
    let has = |ending: &str| repository.names(directory).iter().any(|name| name.ends_with(ending));
    if directory.contains("tofu") || has(".tofu") || has(".opentofu-version") {
        return true;
    }
    let is_list = |path: &str| TOOL_LISTS.contains(&path.rsplit('/').next().unwrap_or_default());
    let texts = repository.paths().filter(|path| is_list(path) || crate::scripts::is_script(path));
    let texts = texts.filter_map(|path| std::str::from_utf8(repository.bytes(path)?).ok());
    let (tofu, terraform): (Vec<&str>, Vec<&str>) =
        texts.flat_map(str::lines).filter(|line| calls(line, "")).partition(|line| calls(line, "tofu"));
    if terraform.is_empty() && !has(".terraform-version") {
        return !tofu.is_empty();
    }
    !directory.is_empty() && tofu.iter().any(|line| line.contains(directory))
}

/// Whether a line calls a program or lists it; either of the two where none is named.
fn calls(line: &str, program: &str) -> bool {
    let programs = ["tofu", "terraform"].into_iter().filter(|it| program.is_empty() || *it == program);
    let is_called = |name: &str| CALLS.iter().any(|call| line.contains(&format!("{name}{call}")));
    programs.into_iter().any(is_called) || (program != "terraform" && line.contains("opentofu"))
}

/// What comes after the name of the program in a command.
const CALLS: [&str; 3] = [" apply", " init", " -chdir"];

/// Files that list the tools of a repository.
const TOOL_LISTS: [&str; 6] = [".mise.toml", "mise.toml", ".tool-versions", "aqua.yaml", "Brewfile", "flake.nix"];

/// The files that keep the secrets of Talos machines.
pub fn talos_secrets(repository: &Repository) -> Vec<&str> {
    let keeps = |path: &&str| {
        let Some(id) = repository.id(path) else { return false };
        // Nothing else has parsed it, since it holds no object; most files are told apart by their text alone.
        let text = repository.source(id).map_or("", source::Source::text);
        if !TALOS_SECRETS.iter().all(|key| text.contains(key)) {
            return false;
        }
        let documents = repository.parse(id, text);
        let mut roots = documents.iter().filter_map(|document| document.root.as_ref());
        roots.any(|root| TALOS_SECRETS.iter().all(|key| root.get(key).is_some()))
    };
    repository.yaml_paths().filter(keeps).collect()
}

/// What `talosctl gen secrets` writes. SOPS encrypts values, and leaves the keys as they are.
const TALOS_SECRETS: [&str; 4] = ["cluster", "secrets", "trustdinfo", "certs"];

/// Each set of machines once: the first that describes it learns from the others.
fn merged(groups: Vec<MachineGroup>) -> Vec<MachineGroup> {
    let mut all: Vec<MachineGroup> = Vec::new();
    for group in groups {
        match all.iter_mut().find(|known| group.is_within(known)) {
            Some(known) => known.learn(group),
            None => all.push(group),
        }
    }
    all
}
