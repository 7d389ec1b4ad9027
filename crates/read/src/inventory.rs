//! What a cold start must know, as far as files tell: machines, addresses, Terraform directories. A proposal for
//! `coldstart.yaml`, to be read and corrected by a person; nothing else builds on it.

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

/// Whether a directory of Terraform is applied with OpenTofu: by its name or files, or by what scripts and lists of tools name.
pub fn uses_tofu(repository: &Repository, directory: &str) -> bool {
    let names_tofu = |path: &str| {
        let is_list = TOOL_LISTS.contains(&path.rsplit('/').next().unwrap_or_default());
        let text = || repository.bytes(path).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
        let calls =
            |text: &str| ["tofu apply", "tofu init", "tofu -chdir", "opentofu"].iter().any(|it| text.contains(it));
        path.rsplit('.').next() == Some("tofu") || ((is_list || crate::scripts::is_script(path)) && calls(text()))
    };
    directory.contains("tofu") || repository.paths().any(names_tofu)
}

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
