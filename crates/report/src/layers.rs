//! What each layer is made of, what it comes after, and the steps that bring it back.

use std::collections::BTreeMap;

use model::{Doing, ObjectRef, Role};
use read::machines::Machine;
use read::terraform::Purpose;
use run::{Action, Layer, Step};
use serde::Serialize;

use crate::facts::Facts;

/// Providers of machines that reset one from outside.
const HYPERVISORS: [&str; 2] = ["hcloud", "proxmox"];

#[derive(Clone, Debug)]
pub struct LayerPart<'a> {
    pub layer: Layer,
    pub members: Vec<Member>,
    /// The layers that its steps come after.
    pub after: Vec<Layer>,
    /// What is done here, and not by Flux.
    pub steps: Vec<&'a Step>,
    /// Resources of Terraform that do it where the plan has no command: directory and address. One without an address is all of it.
    pub resources: Vec<(String, String)>,
    pub uses_tofu: bool,
    /// How a single node of it is brought back.
    pub nodes: Vec<NodeRecovery>,
    /// Talos runs it, with what belongs to that.
    pub is_talos: bool,
}

/// How a machine is brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "by")]
pub enum NodeRecovery {
    /// By Talos itself.
    Reboot { addresses: Vec<String> },
    /// By what runs the virtual machines: the name of the provider.
    Reset { provider: String, machines: Vec<ResetMachine> },
}

/// A virtual machine, as what runs it knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResetMachine {
    pub name: String,
    pub id: Option<String>,
    /// The machine that runs it.
    pub host: Option<String>,
}

/// A component, or a machine by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Member {
    pub name: String,
    pub object: Option<ObjectRef>,
    pub known_as: Option<String>,
    /// The directory it is built from.
    pub path: Option<String>,
    pub address: Option<String>,
    /// A machine that is a control plane.
    pub is_control_plane: bool,
}

impl Member {
    pub(crate) fn machine(name: &str, address: Option<&str>, is_control_plane: bool) -> Self {
        let address = address.map(str::to_owned);
        Self { name: name.to_owned(), object: None, known_as: None, path: None, address, is_control_plane }
    }
}

pub(crate) fn layers<'a>(facts: &Facts<'a>) -> Vec<LayerPart<'a>> {
    let mut parts: BTreeMap<Layer, LayerPart<'a>> = BTreeMap::new();
    let empty = |layer: Layer| LayerPart {
        layer,
        members: Vec::new(),
        after: Vec::new(),
        steps: Vec::new(),
        resources: Vec::new(),
        uses_tofu: facts.plan.into_iter().flat_map(|plan| &plan.steps).any(|step| step.by_hand.uses_tofu),
        nodes: Vec::new(),
        is_talos: facts.has_talos() && matches!(layer, Layer::Talos | Layer::Api),
    };
    for step in facts.plan.into_iter().flat_map(|plan| &plan.steps) {
        let part = parts.entry(step.layer).or_insert_with(|| empty(step.layer));
        if let Action::PowerOn { machine } | Action::Configure { machine } = &step.action {
            let address = step.by_hand.address.clone();
            part.members.push(Member::machine(machine, address.as_deref(), false));
        }
        if step.action != Action::Watch || step.layer != Layer::GitOps {
            part.steps.push(step);
        }
        if let Some(plan) = facts.plan {
            let after = step.needs.iter().map(|need| plan.step(need.step).layer).filter(|layer| *layer != step.layer);
            part.after.extend(after);
        }
    }
    of_boot(facts, &mut parts, &empty);
    for (id, layer) in facts.layers() {
        let component = facts.cluster.component(id);
        let is_part = component.role == Role::HelmRelease && component.parent.is_some();
        // A release is told with the Kustomization that applies it, unless the catalogue knows it.
        if !is_part || component.known_as.is_some() {
            parts.entry(layer).or_insert_with(|| empty(layer)).members.push(Member {
                name: component.object.path(),
                object: Some(component.object.clone()),
                known_as: component.known_as.as_ref().map(ToString::to_string),
                path: component.path.clone(),
                address: None,
                is_control_plane: false,
            });
        }
    }
    for part in parts.values_mut() {
        part.nodes = recoveries(facts, part.layer);
        part.members.sort();
        part.members.dedup();
        part.after.sort();
        part.after.dedup();
    }
    parts.into_values().collect()
}

/// The layers that only the steps of the boot tell of, and what their steps come after.
fn of_boot<'a>(facts: &Facts<'a>, parts: &mut BTreeMap<Layer, LayerPart<'a>>, empty: &dyn Fn(Layer) -> LayerPart<'a>) {
    let boot = crate::stages::boot(facts);
    for (layer, step) in &boot {
        let part = parts.entry(*layer).or_insert_with(|| empty(*layer));
        let before = step.after_steps.iter().filter_map(|on| boot.get(on.index())).map(|(before, _)| *before);
        part.after.extend(before.filter(|before| before < layer));
        match &step.does {
            Doing::RunsLayer { directory } if *layer == Layer::Keys => {
                part.members.push(Member::machine(directory, None, false));
                part.resources.push((directory.to_string(), String::new()));
            }
            // Nothing of these is done a second time to bring something back.
            Doing::Waits | Doing::AsksOutside | Doing::BootstrapsEtcd | Doing::MakesMachines => {}
            _ if step.step.kind == "Terraform" => {
                part.resources.push((step.step.namespace.to_string(), step.step.name.to_string()));
            }
            _ => {}
        }
    }
    let machines = crate::stages::machines(facts);
    for layer in [Layer::Machines, Layer::Talos, Layer::Api] {
        let is_told = layer == Layer::Machines && !machines.is_empty();
        if is_told {
            parts.entry(layer).or_insert_with(|| empty(layer));
        }
        let Some(part) = parts.get_mut(&layer) else { continue };
        if part.members.is_empty() && (layer != Layer::Api || part.is_talos) {
            let is_here = |one: &&Member| layer != Layer::Api || one.is_control_plane;
            part.members.extend(machines.iter().filter(is_here).cloned());
        }
    }
}

fn recoveries(facts: &Facts<'_>, layer: Layer) -> Vec<NodeRecovery> {
    let mut found = Vec::new();
    if layer == Layer::Talos && facts.has_talos() {
        let machines = crate::stages::machines(facts).into_iter();
        found.push(NodeRecovery::Reboot { addresses: machines.filter_map(|machine| machine.address).collect() });
    }
    if layer == Layer::Machines {
        let made = facts.inventory.terraform.iter().filter(|one| one.purpose == Purpose::Machines);
        let providers: std::collections::BTreeSet<&str> =
            made.flat_map(|one| &one.providers).map(String::as_str).collect();
        let known = providers.into_iter().filter(|name| HYPERVISORS.contains(name));
        let machines = guests(facts);
        found.extend(known.map(|name| NodeRecovery::Reset { provider: name.to_owned(), machines: machines.clone() }));
    }
    found
}

/// The machines by name, with what their hypervisor knows them by as far as files tell.
fn guests(facts: &Facts<'_>) -> Vec<ResetMachine> {
    let group = facts.machines().into_iter();
    let machines = group.flat_map(|group| group.control_planes().chain(group.workers()));
    let one = |machine: &Machine| ResetMachine {
        name: machine.name.clone(),
        id: machine.guest.as_ref().map(|guest| guest.id.clone()),
        host: machine.guest.as_ref().and_then(|guest| guest.host.clone()),
    };
    machines.map(one).collect()
}
