//! What each layer is made of, what it comes after, and the steps that bring it back.

use std::collections::BTreeMap;

use model::{ObjectRef, Role};
use run::{Action, Layer, Step};
use serde::Serialize;

use crate::facts::Facts;

#[derive(Clone, Debug)]
pub struct LayerPart<'a> {
    pub layer: Layer,
    pub members: Vec<Member>,
    /// The layers that its steps come after.
    pub after: Vec<Layer>,
    /// What is done here, and not by Flux.
    pub steps: Vec<&'a Step>,
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
}

pub(crate) fn layers<'a>(facts: &Facts<'a>) -> Vec<LayerPart<'a>> {
    let mut parts: BTreeMap<Layer, LayerPart<'a>> = BTreeMap::new();
    let empty = |layer: Layer| LayerPart { layer, members: Vec::new(), after: Vec::new(), steps: Vec::new() };
    for step in facts.plan.into_iter().flat_map(|plan| &plan.steps) {
        let part = parts.entry(step.layer).or_insert_with(|| empty(step.layer));
        if let Action::PowerOn { machine } | Action::Configure { machine } = &step.action {
            let address = step.by_hand.address.clone();
            let member = Member { name: machine.clone(), object: None, known_as: None, path: None, address };
            part.members.push(member);
        }
        if step.action != Action::Watch || step.layer != Layer::GitOps {
            part.steps.push(step);
        }
        if let Some(plan) = facts.plan {
            let after = step.needs.iter().map(|need| plan.step(need.step).layer).filter(|layer| *layer != step.layer);
            part.after.extend(after);
        }
    }
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
            });
        }
    }
    for part in parts.values_mut() {
        part.members.sort();
        part.members.dedup();
        part.after.sort();
        part.after.dedup();
    }
    parts.into_values().collect()
}
