//! What a person would have to know to do a step with the tools themselves: addresses, files, and what is in them.

use std::collections::BTreeMap;

use model::{BootstrapStep, Cluster, ComponentId, ObjectRef, Role};
use read::Repository;
use read::inventory::Inventory;
use read::machines::MachineGroup;
use read::terraform::{Directory, Purpose};
use settings::UpSettings;

/// How a step is done by hand, as far as files tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByHand {
    /// Of the machine, or of the API server.
    pub address: Option<String>,
    /// The release that it installs, or whose CRDs it applies.
    pub release: Option<ObjectRef>,
    /// The resource of Terraform that installs it: its directory and its address.
    pub resource: Option<(String, String)>,
    /// Files that the step is read from, or applied as they are.
    pub files: Vec<String>,
    /// The namespace that a command gives to the objects of a file that name none.
    pub namespaces: BTreeMap<String, String>,
    /// Directories that are built with kustomize and applied.
    pub directories: Vec<String>,
    /// Its run makes or configures machines, or starts Flux: other steps wait for that.
    pub does_boot: bool,
    /// A run of Terraform fetches the kubeconfig, or a person does that with the address of this machine.
    pub kubeconfig_of: Option<String>,
    /// Terraform is run as OpenTofu.
    pub uses_tofu: bool,
    /// What is in them.
    pub holds: Vec<ObjectRef>,
}

impl ByHand {
    /// Of a component of the bootstrap.
    pub(super) fn of(repository: &Repository, cluster: &Cluster, id: ComponentId) -> Self {
        let component = cluster.component(id);
        let Role::Bootstrap(step) = component.role else { return Self::default() };
        let at = repository.path(component.at.file).map(str::to_owned);
        match step {
            BootstrapStep::Release | BootstrapStep::Crds | BootstrapStep::TerraformRelease => {
                let release = Some(component.object.clone());
                let resource = resource(cluster, id).filter(|_| step == BootstrapStep::TerraformRelease);
                Self { files: at.into_iter().collect(), release, resource, ..Self::default() }
            }
            BootstrapStep::Resources => Self {
                files: cluster.facts.bootstrap.files.clone(),
                namespaces: cluster.facts.bootstrap.namespaces.clone(),
                directories: cluster.facts.bootstrap.directories.clone(),
                holds: holds(cluster, id),
                ..Self::default()
            },
            BootstrapStep::ResourcesAfter(_) | BootstrapStep::SealingKey | BootstrapStep::Foundation => {
                Self { files: at.into_iter().collect(), holds: holds(cluster, id), ..Self::default() }
            }
        }
    }
}

/// The resource of Terraform that installs a component: the step of the boot that is written in the same place.
fn resource(cluster: &Cluster, id: ComponentId) -> Option<(String, String)> {
    let at = cluster.component(id).at;
    let step = cluster.facts.boot.steps.iter().find(|step| step.at == at)?;
    Some((step.object.namespace.to_string(), step.object.name.to_string()))
}

/// The objects that it brings, each once.
fn holds(cluster: &Cluster, id: ComponentId) -> Vec<ObjectRef> {
    let own = cluster.offers.iter().filter(|offer| offer.by == id).map(|offer| offer.object.clone());
    let all: std::collections::BTreeSet<ObjectRef> = own.collect();
    all.into_iter().collect()
}

/// The machines of the settings where files describe them.
pub(super) fn described<'i>(inventory: &'i Inventory, settings: &UpSettings) -> Option<&'i MachineGroup> {
    let first = settings.control_planes.first()?;
    inventory.groups.iter().find(|group| group.machines.iter().any(|machine| machine.name == *first))
}

/// The directories of Terraform that make the machines of this cluster. Where files describe several clusters, and the settings do not
/// say which of them is meant, none.
pub(super) fn making<'i>(
    inventory: &'i Inventory,
    settings: &UpSettings,
    described: Option<&MachineGroup>,
) -> Vec<&'i Directory> {
    let all = inventory.terraform.iter().filter(|one| one.purpose == Purpose::Machines);
    let is_elsewhere = |path: &str| {
        settings.keys.iter().any(|it| it == path) || settings.configuration.iter().any(|it| it.directory == path)
    };
    let all: Vec<&Directory> = all.filter(|one| !is_elsewhere(&one.path)).collect();
    let own = match (described, &inventory.groups[..]) {
        (Some(group), _) | (None, [group]) => group,
        (None, []) => return all,
        (None, _) => return Vec::new(),
    };
    let is_terraform = all.iter().any(|one| one.path == own.from);
    // What describes machines that another directory makes is a leftover; beside a file of Talos it is what makes them.
    let is_other = |path: &String| {
        let names_it = |group: &MachineGroup| group.from == *path || group.also.contains(path);
        let is_own = own.from == *path || (!is_terraform && own.also.contains(path));
        inventory.groups.iter().any(names_it) && !is_own
    };
    all.into_iter().filter(|one| !is_other(&one.path)).collect()
}

/// The address of a machine: as it is described, or its name where that is one.
pub(super) fn address(machine: &str, described: Option<&MachineGroup>) -> Option<String> {
    let found = described.and_then(|group| group.machines.iter().find(|one| one.name == machine));
    let named = machine.parse::<std::net::IpAddr>().is_ok().then(|| machine.to_owned());
    found.and_then(|one| one.address.clone()).or(named)
}

/// The file that keeps the secrets of the machines. Of several, the one nearest to the file that describes these machines.
pub(super) fn kept_secrets(repository: &Repository, described: Option<&MachineGroup>) -> Option<String> {
    let from = described.map_or("", |group| group.from.as_str());
    let found = read::inventory::talos_secrets(repository).into_iter().filter(|path| !is_archived(path));
    let near = |path: &str| path.split('/').zip(from.split('/')).take_while(|(a, b)| a == b).count();
    found.max_by_key(|path| (near(path), std::cmp::Reverse(*path))).map(str::to_owned)
}

fn is_archived(path: &str) -> bool {
    path.split('/').any(|part| part.trim_start_matches(['.', '_']).starts_with("archive"))
}
